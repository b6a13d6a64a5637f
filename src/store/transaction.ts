// Validation of transactions for all drivers, and the transactions that delete the keys of a lease.
import {
  LeaseNotFound,
  operationsMax,
  transactionBytesMax,
  TransactionInvalid,
  TransactionTooLarge,
  type LeaseId,
  type Operation,
  type Transaction,
} from './store.ts'

/** Throws when no driver would accept the transaction, whatever the state of the store. */
export function checkTransaction({ conditions, operations }: Transaction, leases: { get(id: LeaseId): unknown }): void {
  if (operations.length > operationsMax || conditions.length > operationsMax)
    throw new TransactionInvalid(
      `a transaction has at most ${operationsMax} conditions and operations, not ${conditions.length} and ${operations.length}`,
    )
  if (operations.length > 1) {
    const keys = new Set<string>()
    for (const { key } of operations) {
      if (keys.has(key)) throw new TransactionInvalid(`a transaction changes ${key} twice`)
      keys.add(key)
    }
  }
  checkSize(operations)
  for (const operation of operations)
    if (operation.kind === 'put' && operation.lease !== undefined && leases.get(operation.lease) === undefined)
      throw new LeaseNotFound(`put ${operation.key}: lease ${operation.lease} does not exist or has ended`)
}

/** Throws TransactionTooLarge. */
export function checkSize(operations: readonly Operation[]): void {
  let bytes = 0
  for (const operation of operations) {
    bytes += operation.key.length
    if (operation.kind === 'put') {
      const { value } = operation
      bytes += value instanceof Uint8Array ? value.length : value.bytesUpTo(transactionBytesMax - bytes)
    }
    if (bytes > transactionBytesMax) throw new TransactionTooLarge()
  }
}

/** Transactions that delete these keys, each with as many as allowed. */
export function deletionsOf(keys: readonly string[]): Transaction[] {
  const transactions: Transaction[] = []
  for (let start = 0; start < keys.length; start += operationsMax) {
    const some = keys.slice(start, start + operationsMax)
    transactions.push({ conditions: [], operations: some.map((key) => ({ kind: 'delete', key }) as const) })
  }
  return transactions
}

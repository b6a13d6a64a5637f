// Validation of transactions for all drivers, and how many operations are applied at once.
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
  checkLeases(operations, leases)
}

/** Throws LeaseNotFound. */
export function checkLeases(operations: readonly Operation[], leases: { get(id: LeaseId): unknown }): void {
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

export const deletionsOf = (keys: readonly string[]): Operation[] => keys.map((key) => ({ kind: 'delete', key }))

/** The operations, as many at a time as one transaction may have. */
export function inTransactions(operations: readonly Operation[]): (readonly Operation[])[] {
  const transactions: (readonly Operation[])[] = []
  for (let start = 0; start < operations.length; start += operationsMax)
    transactions.push(operations.slice(start, start + operationsMax))
  return transactions
}

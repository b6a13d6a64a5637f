// What makes a transaction acceptable to every driver, and the transactions that end a lease.
import { LeaseNotFound, operationsMax, TransactionInvalid, type LeaseId, type Transaction } from './store.ts'

/** Throws what is wrong with the transaction, whatever the state of the store. */
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
  for (const operation of operations)
    if (operation.kind === 'put' && operation.lease !== undefined && leases.get(operation.lease) === undefined)
      throw new LeaseNotFound(`put ${operation.key}: lease ${operation.lease} does not exist or has ended`)
}

/** Transactions that delete these keys, as many at a time as one may. */
export function deletionsOf(keys: readonly string[]): Transaction[] {
  const transactions: Transaction[] = []
  for (let start = 0; start < keys.length; start += operationsMax) {
    const some = keys.slice(start, start + operationsMax)
    transactions.push({ conditions: [], operations: some.map((key) => ({ kind: 'delete', key }) as const) })
  }
  return transactions
}

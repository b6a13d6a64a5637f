// What etcd rejects before it looks at any key: missing keys, options that exclude each other, too many operations, keys
// that would be changed twice.
import { operationsMax } from '../store.ts'
import type { DeleteRangeRequest, PutRequest, RangeRequest, RequestOp, TxnRequest } from './etcd-api.ts'
import { duplicateKey, emptyKey, keyNotFound, leaseProvided, tooManyOperations, valueProvided } from './etcd-errors.ts'
import { contains, keyRange, type KeyRange } from './key-range.ts'

export function checkRange({ key }: RangeRequest): void {
  if (key === '') throw emptyKey()
}

export function checkPut({ key, value, lease, ignoreValue, ignoreLease }: PutRequest): void {
  if (key === '') throw emptyKey()
  if (ignoreValue && value.length > 0) throw valueProvided()
  if (ignoreLease && lease !== 0) throw leaseProvided()
}

export function checkDeleteRange({ key }: DeleteRangeRequest): void {
  if (key === '') throw emptyKey()
}

export function checkTransaction(request: TxnRequest): void {
  checkOperations(request, operationsMax)
  changesOf(request.success)
  changesOf(request.failure)
}

/** A transaction within another may have as many operations as that one leaves. */
function checkOperations({ compare, success, failure }: TxnRequest, max: number): void {
  const count = Math.max(compare.length, success.length, failure.length)
  if (count > max) throw tooManyOperations()
  for (const { key } of compare) if (key === '') throw emptyKey()
  for (const operation of [...success, ...failure]) checkOperation(operation, max - count)
}

function checkOperation(operation: RequestOp, max: number): void {
  const { requestRange, requestPut, requestDeleteRange, requestTxn } = operation
  if (requestRange !== undefined) checkRange(requestRange)
  else if (requestPut !== undefined) checkPut(requestPut)
  else if (requestDeleteRange !== undefined) checkDeleteRange(requestDeleteRange)
  else if (requestTxn !== undefined) checkOperations(requestTxn, max)
  else throw keyNotFound()
}

interface Changes {
  readonly puts: ReadonlySet<string>
  readonly deletions: readonly KeyRange[]
}

/** What the operations may change. Throws if a key may be put twice, or put and deleted. */
function changesOf(operations: readonly RequestOp[]): Changes {
  const puts = new Set<string>()
  const deletions: KeyRange[] = []
  const addPut = (key: string, isAllowedTwice = false): void => {
    if (puts.has(key) && !isAllowedTwice) throw duplicateKey()
    if (deletions.some((range) => contains(range, key))) throw duplicateKey()
    puts.add(key)
  }
  for (const { requestDeleteRange } of operations)
    if (requestDeleteRange !== undefined) deletions.push(keyRange(requestDeleteRange.key, requestDeleteRange.rangeEnd))
  for (const { requestTxn } of operations) {
    if (requestTxn === undefined) continue
    const success = changesOf(requestTxn.success)
    const failure = changesOf(requestTxn.failure)
    deletions.push(...success.deletions)
    for (const key of success.puts) addPut(key)
    deletions.push(...failure.deletions)
    // Only one of the two branches is executed.
    for (const key of failure.puts) addPut(key, success.puts.has(key))
  }
  for (const { requestPut } of operations) if (requestPut !== undefined) addPut(requestPut.key)
  return { puts, deletions }
}

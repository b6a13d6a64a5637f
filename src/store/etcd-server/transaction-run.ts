// TransactionRun: executes the operations of one transaction on the newest state. Each operation sees the ones before it.
// The result is data: the operations for the store and the responses.
import { latin1Bytes } from '../../platform/http1/latin1.ts'
import type { StoreState } from '../local-store.ts'
import type { KeyValue, Operation } from '../store.ts'
import { successor } from '../store-version.ts'
import type {
  Compare,
  DeleteRangeRequest,
  DeleteRangeResponse,
  PutRequest,
  PutResponse,
  RangeRequest,
  RangeResponse,
  RequestOp,
  ResponseOp,
  TxnRequest,
  TxnResponse,
} from './etcd-api.ts'
import { keyNotFound } from './etcd-errors.ts'
import { isEmptyRange, keyRange } from './key-range.ts'
import { compareBytes, readRange, toWire } from './read-range.ts'

export class TransactionRun {
  readonly operations: Operation[] = []
  readonly #before: StoreState
  readonly #stateAt: (revision: number) => StoreState
  #state: StoreState['state']

  /** `stateAt` reads an old revision; it throws for revisions that do not exist or are compacted. */
  constructor(newest: StoreState, stateAt: (revision: number) => StoreState) {
    this.#before = newest
    this.#state = newest.state
    this.#stateAt = stateAt
  }

  /** The revision after the operations that were executed so far. */
  get revision(): number {
    return this.#before.revision + (this.operations.length > 0 ? 1 : 0)
  }

  range(request: RangeRequest): RangeResponse {
    const { revision } = request
    const { revision: newest } = this.#before
    // The state of the newest revision may not be durable yet, so it is not among the old ones.
    const state =
      revision > 0 && revision !== newest ? this.#stateAt(revision) : { revision: newest, state: this.#state }
    return { header: { revision: this.revision }, ...readRange(state, request) }
  }

  put({ key, value, lease, prevKv, ignoreValue, ignoreLease }: PutRequest): PutResponse {
    const previous = this.#state.get(key)
    if (previous === undefined && (ignoreValue || ignoreLease)) throw keyNotFound()
    const kept = ignoreLease ? previous?.lease : lease || undefined
    // A copy: the value is part of the bytes of the whole request.
    const operation: Operation = {
      kind: 'put',
      key,
      value: ignoreValue && previous !== undefined ? previous.value : value.slice(),
      ...(kept === undefined ? {} : { lease: kept }),
    }
    this.#apply([operation])
    const shown = prevKv && previous !== undefined ? { prevKv: toWire(previous) } : {}
    return { header: { revision: this.revision }, ...shown }
  }

  deleteRange({ key, rangeEnd, prevKv }: DeleteRangeRequest): DeleteRangeResponse {
    const range = keyRange(key, rangeEnd)
    const items = isEmptyRange(range) ? [] : Array.from(this.#state.range(range.start, range.end), ([, item]) => item)
    this.#apply(items.map((item) => ({ kind: 'delete', key: item.key })))
    return {
      header: { revision: this.revision },
      deleted: items.length,
      ...(prevKv ? { prevKvs: items.map((item) => toWire(item)) } : {}),
    }
  }

  /** The header of the response has no revision; the outermost gets it from the caller, as in etcd. */
  transaction({ compare, success, failure }: TxnRequest): TxnResponse {
    const succeeded = compare.every((comparison) => this.#holds(comparison))
    const responses = (succeeded ? success : failure).map((operation) => this.#execute(operation))
    return { header: {}, succeeded, responses }
  }

  #execute({ requestRange, requestPut, requestDeleteRange, requestTxn }: RequestOp): ResponseOp {
    if (requestRange !== undefined) return { responseRange: this.range(requestRange) }
    if (requestPut !== undefined) return { responsePut: this.put(requestPut) }
    if (requestDeleteRange !== undefined) return { responseDeleteRange: this.deleteRange(requestDeleteRange) }
    if (requestTxn !== undefined) return { responseTxn: this.transaction(requestTxn) }
    throw keyNotFound()
  }

  #apply(operations: readonly Operation[]): void {
    if (operations.length === 0) return
    const { revision } = this.#before
    this.#state = successor({ revision, state: this.#state, events: [], atMs: 0 }, operations, 0).state
    this.operations.push(...operations)
  }

  /** All comparisons are of the state before the transaction. That of a range holds if it holds for each of its keys; without keys, for a key that does not exist. */
  #holds(comparison: Compare): boolean {
    const range = keyRange(comparison.key, comparison.rangeEnd)
    const items = isEmptyRange(range)
      ? []
      : Array.from(this.#before.state.range(range.start, range.end), ([, item]) => item)
    if (items.length > 0) return items.every((item) => compares(comparison, item))
    return comparison.target !== 'VALUE' && compares(comparison, undefined)
  }
}

function compares(comparison: Compare, item: KeyValue | undefined): boolean {
  const difference = differenceOf(comparison, item)
  const { result } = comparison
  switch (result) {
    case 'EQUAL':
      return difference === 0
    case 'NOT_EQUAL':
      return difference !== 0
    case 'GREATER':
      return difference > 0
    case 'LESS':
      return difference < 0
    default:
      return result satisfies never
  }
}

function differenceOf({ target, ...than }: Compare, item: KeyValue | undefined): number {
  switch (target) {
    case 'VERSION':
      return (item?.version ?? 0) - than.version
    case 'CREATE':
      return (item?.createRevision ?? 0) - than.createRevision
    case 'MOD':
      return (item?.modRevision ?? 0) - than.modRevision
    case 'LEASE':
      return (item?.lease ?? 0) - than.lease
    case 'VALUE':
      return compareBytes(item?.value ?? new Uint8Array(), latin1Bytes(than.value ?? ''))
    default:
      return target satisfies never
  }
}

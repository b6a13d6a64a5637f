// etcd's service KV on a local store.
import { unaryRoute, type GrpcRoute } from '../../wire/grpc/grpc-server.ts'
import type { LocalStore } from '../local-store.ts'
import { transactionBytesMax } from '../store.ts'
import {
  compactMethod,
  deleteRangeMethod,
  putMethod,
  rangeMethod,
  txnMethod,
  type RangeRequest,
  type ResponseHeader,
  type TxnRequest,
} from './etcd-api.ts'
import { compacted, requestTooLarge, translated } from './etcd-errors.ts'
import { readRange } from './read-range.ts'
import { checkDeleteRange, checkPut, checkRange, checkTransaction } from './transaction-checks.ts'
import { TransactionRun } from './transaction-run.ts'

export type HeaderAt = (revision: number) => ResponseHeader

export function kvRoutes(store: LocalStore, headerAt: HeaderAt): GrpcRoute[] {
  const stateAt = (revision: number) => store.stateAt(revision)

  const range = (request: RangeRequest) => {
    checkRange(request)
    const { revision } = store
    const state = store.stateAt(request.revision > 0 ? request.revision : revision)
    return { header: headerAt(revision), ...readRange(state, request) }
  }

  /** Runs on the newest state; the header of the response has the revision of the result. */
  async function write<T extends object>(
    execute: (run: TransactionRun) => T,
    { signal, bytes }: { readonly signal: AbortSignal; readonly bytes: number },
  ) {
    if (bytes > transactionBytesMax) throw requestTooLarge()
    const { revision, result } = await store.transact((newest) => {
      const run = new TransactionRun(newest, stateAt)
      const response = execute(run)
      return { operations: run.operations, result: response }
    }, signal)
    return { ...result, header: headerAt(revision) }
  }

  return [
    unaryRoute(rangeMethod, (request) => translated(() => range(request))),
    unaryRoute(putMethod, (request, call) =>
      translated(() => {
        checkPut(request)
        return write((run) => run.put(request), call)
      }),
    ),
    unaryRoute(deleteRangeMethod, (request, call) =>
      translated(() => {
        checkDeleteRange(request)
        return write((run) => run.deleteRange(request), call)
      }),
    ),
    unaryRoute(txnMethod, (message, call) =>
      translated(() => {
        const request = message as unknown as TxnRequest
        checkTransaction(request)
        return write((run) => run.transaction(request), call)
      }),
    ),
    unaryRoute(compactMethod, ({ revision }, { signal }) =>
      translated(async () => {
        if (revision <= store.compacted) throw compacted()
        await store.compact(revision, signal)
        return { header: headerAt(store.revision) }
      }),
    ),
  ]
}

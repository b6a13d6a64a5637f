// What etcd's errors mean for the one who asked: an answer, a reason to ask another member, or not to know.
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import { Compacted, FutureRevision, LeaseNotFound, StoreUnavailable, TransactionInvalid } from '../store.ts'

export type Failure =
  /** The cluster has spoken: every member would say the same. */
  | { readonly kind: 'answer' }
  /** This member did nothing and cannot: another one may. */
  | { readonly kind: 'elsewhere' }
  /** Nobody knows whether it was done. */
  | { readonly kind: 'unknown' }

/** etcd says so before it does anything. (That its server stopped, or timed out, it says after it may have.) */
const nothingDone = /^etcdserver: (no leader|not capable|rpc not supported for learner)/

export function classifyFailure(error: GrpcError): Failure {
  if (error.unprocessed) return { kind: 'elsewhere' }
  switch (error.code) {
    case 'UNAVAILABLE':
    case 'DEADLINE_EXCEEDED':
    case 'CANCELLED':
    case 'INTERNAL':
    case 'UNKNOWN':
      return { kind: nothingDone.test(error.details) ? 'elsewhere' : 'unknown' }
    default:
      return { kind: 'answer' }
  }
}

/** The answer as an error of the store's contract. `revision` is the one that was asked for. */
export function toStoreError(error: unknown, revision = 0): unknown {
  if (!(error instanceof GrpcError)) return error
  const { code, details } = error
  // etcd does not say how far; it is at least this far.
  if (/has been compacted/.test(details)) return new Compacted(revision, revision + 1)
  if (/future revision/.test(details))
    return new FutureRevision(`revision ${revision} is not there yet`, { cause: error })
  if (/lease not found/.test(details)) return new LeaseNotFound(error.message, { cause: error })
  if (code === 'INVALID_ARGUMENT') return new TransactionInvalid(error.message, { cause: error })
  return new StoreUnavailable(error.message, { cause: error })
}

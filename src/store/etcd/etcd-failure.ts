// What an error of etcd means for a call: a final result, a reason to try another member, or an unknown outcome.
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import {
  Compacted,
  FutureRevision,
  LeaseNotFound,
  StoreUnavailable,
  TransactionInvalid,
  TransactionTooLarge,
} from '../store.ts'

export type Failure =
  /** The result of the cluster: every member would return the same. */
  | { readonly kind: 'final' }
  /** This member did nothing; another one may succeed. */
  | { readonly kind: 'retryable' }
  /** The call may or may not have been applied. */
  | { readonly kind: 'ambiguous' }

/** Errors that etcd returns before it acts. (It reports a stopped server or a timeout after it may have acted.) */
const nothingDone = /^etcdserver: (no leader|not capable|rpc not supported for learner)/

export function classifyFailure(error: GrpcError): Failure {
  if (error.unprocessed) return { kind: 'retryable' }
  switch (error.code) {
    case 'UNAVAILABLE':
    case 'DEADLINE_EXCEEDED':
    case 'CANCELLED':
    case 'INTERNAL':
    case 'UNKNOWN':
      return { kind: nothingDone.test(error.details) ? 'retryable' : 'ambiguous' }
    default:
      return { kind: 'final' }
  }
}

/** Converts to an error of the store's contract. `revision` is the requested one. */
export function toStoreError(error: unknown, revision = 0): unknown {
  if (!(error instanceof GrpcError)) return error
  const { code, details } = error
  // etcd does not report the compacted revision; it is at least this one.
  if (/has been compacted/.test(details)) return new Compacted(revision, revision + 1)
  if (/future revision/.test(details))
    return new FutureRevision(`revision ${revision} is in the future`, { cause: error })
  if (/lease not found/.test(details)) return new LeaseNotFound(error.message, { cause: error })
  if (/request is too large/.test(details)) return new TransactionTooLarge({ cause: error })
  if (code === 'INVALID_ARGUMENT') return new TransactionInvalid(error.message, { cause: error })
  return new StoreUnavailable(error.message, { cause: error })
}

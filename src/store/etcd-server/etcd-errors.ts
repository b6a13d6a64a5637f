// The errors of etcd that its clients know by code and message.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { StoreFull } from '../sqlite/store-errors.ts'
import {
  Compacted,
  FutureRevision,
  LeaseExists,
  LeaseNotFound,
  StoreUnavailable,
  TransactionInvalid,
} from '../store.ts'
import { GrpcError, type GrpcCode } from '../../wire/grpc/grpc-status.ts'

const etcdError = (code: GrpcCode, details: string) => () => new GrpcError('etcd', code, `etcdserver: ${details}`)

export const emptyKey = etcdError('INVALID_ARGUMENT', 'key is not provided')
export const keyNotFound = etcdError('INVALID_ARGUMENT', 'key not found')
export const valueProvided = etcdError('INVALID_ARGUMENT', 'value is provided')
export const leaseProvided = etcdError('INVALID_ARGUMENT', 'lease is provided')
export const tooManyOperations = etcdError('INVALID_ARGUMENT', 'too many operations in txn request')
export const duplicateKey = etcdError('INVALID_ARGUMENT', 'duplicate key given in txn request')
export const requestTooLarge = etcdError('INVALID_ARGUMENT', 'request is too large')
export const compacted = etcdError('OUT_OF_RANGE', 'mvcc: required revision has been compacted')
export const futureRevision = etcdError('OUT_OF_RANGE', 'mvcc: required revision is a future revision')
export const noSpace = etcdError('RESOURCE_EXHAUSTED', 'mvcc: database space exceeded')
export const leaseNotFound = etcdError('NOT_FOUND', 'requested lease not found')
export const leaseExists = etcdError('FAILED_PRECONDITION', 'lease already exists')
export const leaseTtlTooLarge = etcdError('OUT_OF_RANGE', 'too large lease TTL')

/** What an error of the store is in etcd's API. */
function toEtcdError(error: unknown): unknown {
  if (error instanceof Compacted) return compacted()
  if (error instanceof FutureRevision) return futureRevision()
  if (error instanceof LeaseNotFound) return leaseNotFound()
  if (error instanceof LeaseExists) return leaseExists()
  if (error instanceof StoreFull) return noSpace()
  if (error instanceof TransactionInvalid) return new GrpcError('etcd', 'INVALID_ARGUMENT', error.message)
  // The outcome is unknown, which is what etcd's clients read from this code.
  if (error instanceof StoreUnavailable) return new GrpcError('etcd', 'UNAVAILABLE', error.message)
  return error
}

/** Runs a call of the API: errors of the store become those of etcd. */
export async function translated<T>(call: () => MaybePromise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw toEtcdError(error)
  }
}

// statusErrorOf: the Status that a client gets for an error.
import { errorText } from '../../base/observability/log.ts'
import { badRequest, StatusError } from '../../api/errors/status-error.ts'
import { BodyTooLarge, Overloaded } from '../../platform/http/listener.ts'
import { StoreUnavailable, TransactionTooLarge } from '../../store/store.ts'
import { bodyBytesMax } from './request-body.ts'
import { KmsError } from '../encryption/kms/kms-error.ts'
import { TooManyRequests } from '../request/too-many-requests.ts'

/** Whether the error is expected; any other is a bug. */
export const isExpectedError = (error: unknown): boolean =>
  error instanceof BodyTooLarge ||
  error instanceof Overloaded ||
  error instanceof URIError ||
  error instanceof KmsError ||
  error instanceof StoreUnavailable ||
  error instanceof TransactionTooLarge

export function statusErrorOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof BodyTooLarge)
    return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${bodyBytesMax}`)
  if (error instanceof Overloaded) return new TooManyRequests('memory')
  if (error instanceof URIError) return badRequest('the path is malformed')
  if (error instanceof StoreUnavailable)
    return new StatusError(503, 'ServiceUnavailable', error.message, { retryAfterSeconds: 1 }, { cause: error })
  // As upstream, which passes etcd's error on without a reason.
  if (error instanceof TransactionTooLarge) return new StatusError(500, '', error.message, undefined, { cause: error })
  return new StatusError(500, 'InternalError', `Internal error occurred: ${errorText(error)}`, {
    causes: [{ reason: 'UnexpectedServerResponse', message: errorText(error) }],
  })
}

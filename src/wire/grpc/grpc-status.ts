// How a gRPC call ends: status codes by name, the error that carries one, and what HTTP/2 failures mean in those terms.
import type { Http2Failure, Http2Headers } from '../../platform/http/http2-client.ts'

/** In the order of their numbers. */
export const grpcCodes = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const
export type GrpcCode = (typeof grpcCodes)[number]

/** As Go names it, and messages that people know: `NotFound`. */
export const goNameOf = (code: GrpcCode): string =>
  code
    .toLowerCase()
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

export class GrpcError extends Error {
  override name = 'GrpcError'
  readonly code: GrpcCode
  /** The server's own words, without ours. */
  readonly details: string
  /** The server cannot have acted on the call: it may be made again, elsewhere, whatever it does. */
  readonly unprocessed: boolean

  constructor(call: string, code: GrpcCode, details: string, unprocessed = false, cause?: unknown) {
    super(`${call}: ${code}: ${details}`, cause === undefined ? {} : { cause })
    this.code = code
    this.details = details
    this.unprocessed = unprocessed
  }
}

/** The status in trailers, or in headers when there was nothing else; undefined when none is there. */
export function grpcStatusIn(headers: Http2Headers): { code: GrpcCode; details: string } | undefined {
  const status = headers['grpc-status']
  if (status === undefined) return undefined
  return { code: grpcCodes[Number(status)] ?? 'UNKNOWN', details: percentDecoded(headers['grpc-message'] ?? '') }
}

/** Bad encoding is shown as it is: the message is for people. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** An answer that is not gRPC's, such as a proxy's. */
export function codeOfHttpStatus(status: string | undefined): GrpcCode {
  switch (status) {
    case '400':
      return 'INTERNAL'
    case '401':
      return 'UNAUTHENTICATED'
    case '403':
      return 'PERMISSION_DENIED'
    case '404':
      return 'UNIMPLEMENTED'
    case '429':
    case '502':
    case '503':
    case '504':
      return 'UNAVAILABLE'
    default:
      return 'UNKNOWN'
  }
}

const resetCodes: Readonly<Record<number, GrpcCode>> = {
  0x7: 'UNAVAILABLE', // refused stream
  0x8: 'CANCELLED',
  0xb: 'RESOURCE_EXHAUSTED', // enhance your calm
  0xc: 'PERMISSION_DENIED', // inadequate security
}

/** A connection that breaks is UNAVAILABLE; a reset of the one stream has its own meaning. */
export function codeOfFailure({ resetCode = 0, unprocessed }: Http2Failure): GrpcCode {
  if (unprocessed) return 'UNAVAILABLE'
  return resetCodes[resetCode] ?? (resetCode === 0 || resetCode === connectionLost ? 'UNAVAILABLE' : 'INTERNAL')
}

/** What the platform reports for the exchanges of a connection that ended under them: INTERNAL_ERROR. */
const connectionLost = 0x2

// The status of a gRPC call: codes by name, the error that carries one, and the codes of HTTP/2 failures.
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

/** The name in Go, which upstream's messages contain: `NotFound`. */
export const goNameOf = (code: GrpcCode): string =>
  code
    .toLowerCase()
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

export class GrpcError extends Error {
  override name = 'GrpcError'
  readonly code: GrpcCode
  /** The message of the server, without the prefix of `message`. */
  readonly details: string
  /** The server cannot have acted on the call, so it may be repeated. */
  readonly unprocessed: boolean

  constructor(call: string, code: GrpcCode, details: string, unprocessed = false, cause?: unknown) {
    super(`${call}: ${code}: ${details}`, cause === undefined ? {} : { cause })
    this.code = code
    this.details = details
    this.unprocessed = unprocessed
  }
}

/** The status in trailers, or in headers of a response without messages; undefined when there is none. */
export function grpcStatusIn(headers: Http2Headers): { code: GrpcCode; details: string } | undefined {
  const status = headers['grpc-status']
  if (status === undefined) return undefined
  return { code: grpcCodes[Number(status)] ?? 'UNKNOWN', details: percentDecoded(headers['grpc-message'] ?? '') }
}

/** Text with invalid encoding is returned unchanged, because it is only shown. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The code for a response that is not gRPC, such as that of a proxy. */
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

/** A broken connection is UNAVAILABLE; the reset of a single stream has its own code. */
export function codeOfFailure({ resetCode = 0, unprocessed }: Http2Failure): GrpcCode {
  if (unprocessed) return 'UNAVAILABLE'
  return resetCodes[resetCode] ?? (resetCode === 0 || resetCode === connectionLost ? 'UNAVAILABLE' : 'INTERNAL')
}

/** The platform reports this code (INTERNAL_ERROR) for the exchanges of a connection that ended. */
const connectionLost = 0x2

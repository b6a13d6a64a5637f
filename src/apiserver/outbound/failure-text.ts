// failureText: why a request to another server failed, in upstream's words.
import { Unreachable } from '../../platform/http/outbound.ts'
import { tlsFailure } from '../../platform/http/tls-failure.ts'

type NetworkError = Error & { readonly code?: string; readonly address?: string; readonly port?: number }

export function failureText(error: unknown): string {
  // The message of a request on its own connection has upstream's words already, except for certificates.
  const cause = error instanceof Unreachable && error.cause instanceof Error ? error.cause : error
  const { code = '', message, address, port } = cause as NetworkError
  if (code === 'ECONNREFUSED') return `dial tcp ${address}:${port}: connect: connection refused`
  const failedTls = tlsFailure(cause as NetworkError)
  if (failedTls !== undefined) return failedTls
  if (message.startsWith('no response within')) return 'context deadline exceeded'
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') return 'EOF'
  return error instanceof Unreachable ? error.message : message
}

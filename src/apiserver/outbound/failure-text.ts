// failureText: why a request to another server failed, in upstream's words.
import { Unreachable } from '../../platform/http/outbound.ts'

type NetworkError = Error & { readonly code?: string; readonly address?: string; readonly port?: number }

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

export function failureText(error: unknown): string {
  // The message of a request on its own connection has upstream's words already, except for certificates.
  const cause = error instanceof Unreachable && error.cause instanceof Error ? error.cause : error
  const { code = '', message, address, port } = cause as NetworkError
  if (code === 'ECONNREFUSED') return `dial tcp ${address}:${port}: connect: connection refused`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `tls: failed to verify certificate: x509: ${message}`
  if (untrusted.has(code) || code === 'CERT_SIGNATURE_FAILURE')
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  if (message.startsWith('no response within')) return 'context deadline exceeded'
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') return 'EOF'
  return error instanceof Unreachable ? error.message : message
}

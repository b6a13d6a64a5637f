// tlsFailure: why a TLS connection failed, in Go's words, which users search for, and not in OpenSSL's.

type TlsError = Error & { readonly code?: string }

const untrusted = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
const outdated = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])

/** By their numbers in RFC 8446. A kubelet without a serving certificate sends the internal error. */
const alerts: ReadonlyMap<number, string> = new Map([
  [10, 'unexpected message'],
  [20, 'bad record MAC'],
  [40, 'handshake failure'],
  [42, 'bad certificate'],
  [43, 'unsupported certificate'],
  [44, 'revoked certificate'],
  [45, 'expired certificate'],
  [46, 'unknown certificate'],
  [47, 'illegal parameter'],
  [48, 'unknown certificate authority'],
  [49, 'access denied'],
  [50, 'error decoding message'],
  [51, 'error decrypting message'],
  [70, 'protocol version not supported'],
  [71, 'insufficient security level'],
  [80, 'internal error'],
  [86, 'inappropriate fallback'],
  [109, 'missing extension'],
  [110, 'unsupported extension'],
  [112, 'unrecognized name'],
  [116, 'certificate required'],
  [120, 'no application protocol'],
])

const plainServer = /wrong version number|packet length too long/
const alertNumber = /SSL alert number (\d+)/

/** Undefined for an error that is not of TLS. */
export function tlsFailure({ code = '', message }: TlsError): string | undefined {
  if (untrusted.has(code)) return notVerified('certificate signed by unknown authority')
  if (outdated.has(code)) return notVerified('certificate has expired or is not yet valid')
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return notVerified(message)
  const [, alert] = alertNumber.exec(message) ?? []
  if (alert !== undefined) return `remote error: tls: ${alerts.get(Number(alert)) ?? `alert(${alert})`}`
  if (code !== 'EPROTO' && !code.startsWith('ERR_SSL_')) return undefined
  return plainServer.test(message) ? 'tls: first record does not look like a TLS handshake' : 'tls: handshake failed'
}

const notVerified = (reason: string): string => `tls: failed to verify certificate: x509: ${reason}`

// The headers of a request or a response that are forwarded.
import { setOwn } from '../../base/collections/lookup.ts'
import { withoutSessions } from '../request/session-cookies.ts'

/** Headers of one connection, and credentials for this server only. */
const hopByHopHeaders = new Set([
  'authorization',
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** Identity headers of the client. The next server must not trust them as set by the API server. */
const identityPrefixes = ['impersonate-', 'x-remote-']
const upgradeHeaders = new Set(['connection', 'upgrade'])

export function forwardedHeaders(
  headers: Readonly<Record<string, string | undefined>>,
  isUpgrade: boolean,
): Record<string, string> {
  const forwarded: Record<string, string> = {}
  const ofConnection = (headers['connection'] ?? '').split(',').map((name) => name.trim().toLowerCase())
  for (const [name, value] of Object.entries(headers)) {
    const isIdentity = identityPrefixes.some((prefix) => name.startsWith(prefix))
    const isOwn = hopByHopHeaders.has(name) || name.startsWith(':') || isIdentity || ofConnection.includes(name)
    const forwardable = name === 'cookie' && value !== undefined ? withoutSessions(value) : value
    if (forwardable !== undefined && (!isOwn || (isUpgrade && upgradeHeaders.has(name))))
      setOwn(forwarded, name, forwardable)
  }
  return forwarded
}

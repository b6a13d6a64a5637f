// Which headers of a request or an answer go on to the next server.
import { setOwn } from '../../base/collections/lookup.ts'

/** They are of one connection, or prove who the client is to this server only. */
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
/** Who a client says that it is or acts as. The next server must not take it as the word of the API server. */
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
    if (value !== undefined && (!isOwn || (isUpgrade && upgradeHeaders.has(name)))) setOwn(forwarded, name, value)
  }
  return forwarded
}

// The headers of a request or a response that are forwarded.
import { setOwn } from '../../base/collections/lookup.ts'
import { withoutSessions } from '../request/session-cookies.ts'

/** Headers of one connection, and credentials for this server only. */
const hopByHopHeaders = new Set([
  'authorization',
  'connection',
  'content-length',
  'expect',
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
const isIdentity = (name: string): boolean => name.startsWith('impersonate-') || name.startsWith('x-remote-')
const upgradeHeaders = new Set(['connection', 'upgrade'])

export function forwardedHeaders(
  headers: Readonly<Record<string, string | undefined>>,
  isUpgrade: boolean,
): Record<string, string> {
  const forwarded: Record<string, string> = {}
  const ofConnection = headersOfConnection(headers['connection'])
  for (const name in headers) {
    const value = headers[name] // safe name: a key of the record
    const isOwn = hopByHopHeaders.has(name) || name.startsWith(':') || isIdentity(name) || ofConnection.includes(name)
    if (value === undefined || (isOwn && !(isUpgrade && upgradeHeaders.has(name)))) continue
    const forwardable = name === 'cookie' ? withoutSessions(value) : value
    if (forwardable !== undefined) setOwn(forwarded, name, forwardable)
  }
  return forwarded
}

/** The headers that a Connection header names, in lower case. */
const headersOfConnection = (connection: string | undefined): readonly string[] =>
  connection === undefined || connection === 'keep-alive'
    ? []
    : connection.split(',').map((name) => name.trim().toLowerCase())

// Which headers of a request or an answer go on to the next server.

/** They are of one connection, or prove who the client is to this server only. */
const ownHeaders = new Set([
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
const upgradeHeaders = new Set(['connection', 'upgrade'])

export function forwardedHeaders(
  headers: Readonly<Record<string, string | undefined>>,
  isUpgrade: boolean,
): Record<string, string> {
  const forwarded: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const isOwn = ownHeaders.has(name) || name.startsWith(':')
    if (value !== undefined && (!isOwn || (isUpgrade && upgradeHeaders.has(name)))) forwarded[name] = value
  }
  return forwarded
}

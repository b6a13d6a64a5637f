// TLS on a byte stream, as a server.
import { once } from 'node:events'
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls'
import type { KeyPair } from '../../http/listener.ts'
import type { Sockets } from '../../sockets/sockets.ts'
import { duplexOn } from './byte-stream-duplex.ts'
import { byteStreamOn } from './socket-byte-stream.ts'

/** A context takes 30 KiB and a millisecond to make. */
const contexts = new WeakMap<KeyPair, SecureContext>()

function contextOf(pair: KeyPair): SecureContext {
  const known = contexts.get(pair)
  if (known !== undefined) return known
  const made = createSecureContext({ cert: pair.certificate, key: pair.key, minVersion: 'TLSv1.2' })
  contexts.set(pair, made)
  return made
}

/** A client that has ended its side may still read. Node.js' own iteration would close the socket then. */
async function* piecesOf(socket: TLSSocket): AsyncGenerator<Uint8Array> {
  let hasEnded = false
  try {
    for await (const piece of socket.iterator({ destroyOnReturn: false })) yield piece as Buffer
    hasEnded = true
  } finally {
    if (!hasEnded) socket.destroy()
  }
}

export const acceptTls: Sockets['acceptTls'] = async (stream, pair, signal) => {
  const gone = new AbortController()
  try {
    signal.throwIfAborted()
    const duplex = duplexOn(stream)
    const socket = new TLSSocket(duplex, { isServer: true, secureContext: contextOf(pair) })
    for (const each of [duplex.once.bind(duplex, 'end'), socket.once.bind(socket, 'close')])
      each(() => gone.abort(new Error('the client has disconnected')))
    await once(socket, 'secure', { signal: AbortSignal.any([signal, gone.signal]) })
    return { ...byteStreamOn(socket), pieces: piecesOf(socket) }
  } catch (error) {
    stream.destroy()
    throw error
  }
}

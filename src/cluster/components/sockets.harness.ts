// Sockets in memory: tests send datagrams to a bound address and get the responses.
import type { BindOptions, Peer, Sockets } from '../../platform/sockets/sockets.ts'

const freePort = 40_053
const sender: Peer = { address: '10.244.0.9', port: 50_000 }

export interface MemorySockets extends Sockets {
  /** Where datagrams are received, as `address:port`. */
  readonly bound: () => readonly string[]
  /** The peers to which datagrams were sent. */
  readonly peers: readonly string[]
  /** The response of the server at `address:port`. */
  exchange(at: string, query: Uint8Array): Promise<Uint8Array>
}

/** Ports in `taken` cannot be bound. */
export function memorySockets(taken: readonly number[] = []): MemorySockets {
  const receivers = new Map<string, BindOptions['onDatagram']>()
  const peers: string[] = []
  let respond: (bytes: Uint8Array) => void = () => {}
  return {
    peers,
    bound: () => [...receivers.keys()],
    exchange(at, query) {
      const response = Promise.withResolvers<Uint8Array>()
      respond = response.resolve
      receivers.get(at)?.(query, sender)
      return response.promise
    },
    bindDatagrams({ host, port, onDatagram }) {
      if (taken.includes(port)) return Promise.reject(new Error(`the port ${port} is in use`))
      const selected = port === 0 ? freePort : port
      const key = `${host}:${selected}`
      receivers.set(key, onDatagram)
      return Promise.resolve({
        host,
        port: selected,
        send: (bytes: Uint8Array) => respond(bytes),
        close: () => void receivers.delete(key),
      })
    },
    connectDatagrams({ address, port }, { onUnreachable }) {
      peers.push(`${address}:${port}`)
      return Promise.resolve({ send: () => onUnreachable(), close: () => {} })
    },
    listenStreams: ({ host, port }) => Promise.resolve({ host, port, close: () => Promise.resolve() }),
    connectStream: ({ address }) => Promise.reject(new Error(`no stream leads to ${address}`)),
    acceptTls: () => Promise.reject(new Error('no stream is decrypted')),
  }
}

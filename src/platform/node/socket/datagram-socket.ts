// UDP sockets of Node.js.
import { createSocket, type Socket, type SocketType } from 'node:dgram'
import { once } from 'node:events'
import type { BindOptions, ConnectedDatagrams, ConnectOptions, DatagramSocket, Peer } from '../../sockets/sockets.ts'

/** Bytes that wait for the system before further datagrams are dropped. */
const unsentBytesMax = 4 << 20
/** Requested from the system, which may grant less: bursts wait here while the event loop is busy. */
const receiveBytes = 4 << 20

const typeOf = (address: string): SocketType => (address.includes(':') ? 'udp6' : 'udp4')

// All addresses are numeric. The default lookup would delay each datagram to the next tick.
const lookup = (
  address: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
): void => callback(null, address, address.includes(':') ? 6 : 4)

export async function bindDatagrams({ host, port, onDatagram }: BindOptions): Promise<DatagramSocket> {
  const socket = createSocket({ type: typeOf(host), lookup, recvBufferSize: receiveBytes })
  socket.on('message', onDatagram)
  // The synchronous lookup makes `bind` and `connect` synchronous too, so their events are awaited beforehand.
  const listening = once(socket, 'listening')
  socket.bind(port, host)
  await listening
  // An error of one datagram, such as an unreachable client, concerns no other. Failed sends are reported here too.
  socket.on('error', () => {})
  const { address, port: boundPort } = socket.address()
  const state = closing(socket)
  return {
    host: address,
    port: boundPort,
    send(bytes, { address: to, port: toPort }) {
      if (state.isClosed || socket.getSendQueueSize() > unsentBytesMax) return
      socket.send(bytes, toPort, to)
    },
    close: () => state.close(),
  }
}

export async function connectDatagrams(
  { address, port }: Peer,
  { onDatagram, onUnreachable }: ConnectOptions,
): Promise<ConnectedDatagrams> {
  const socket = createSocket({ type: typeOf(address), lookup })
  const state = closing(socket)
  socket.on('message', onDatagram)
  const connected = once(socket, 'connect')
  socket.connect(port, address)
  try {
    await connected
  } catch (error) {
    state.close()
    throw error
  }
  socket.on('error', onUnreachable)
  return {
    send(bytes) {
      if (!state.isClosed) socket.send(bytes, (error) => void (error !== null && onUnreachable()))
    },
    close: () => state.close(),
  }
}

/** Whether it was closed, and how to close it; closing again has no effect. */
function closing(socket: Socket): { isClosed: boolean; close(): void } {
  const state = {
    isClosed: false,
    close() {
      if (state.isClosed) return
      state.isClosed = true
      socket.close()
    },
  }
  return state
}

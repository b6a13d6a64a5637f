// Serves HTTP/1.1 on sockets of Node.js.
import type { Socket } from 'node:net'
import { Http1Connection } from '../../http1/http1-connection.ts'
import type { Http1Socket } from '../../http1/http1-socket.ts'
import { byteStreamOn } from '../socket/socket-byte-stream.ts'
import { SocketWriter } from '../socket/socket-writer.ts'
import type { ServeOptions } from './acceptor.ts'

export function serveHttp1(socket: Socket, options: ServeOptions): Http1Connection {
  const receive = (piece: Buffer) => connection.receive(piece)
  const ended = () => connection.ended()
  const writer = new SocketWriter(socket, () => connection.drained())
  const driver: Http1Socket = {
    write: (chunks) => writer.write(chunks),
    get unsentBytes() {
      return writer.unsentBytes
    },
    get sentBytes() {
      return writer.sentBytes
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => writer.end(),
    destroy: () => void socket.destroy(),
    detach(rest) {
      writer.detach()
      socket.pause()
      socket.off('data', receive)
      socket.off('end', ended)
      socket.allowHalfOpen = false
      if (rest.length > 0) socket.unshift(rest)
      return byteStreamOn(socket)
    },
  }
  const connection = new Http1Connection(driver, { ...options, textOf: latin1Of })
  socket.setNoDelay(true)
  socket.allowHalfOpen = true
  socket.on('data', receive)
  socket.on('end', ended)
  socket.on('error', () => {}) // `close` follows
  socket.on('close', () => connection.closed())
  return connection
}

/** Decodes bytes as latin1. */
export const latin1Of = (bytes: Uint8Array, from: number, to: number): string =>
  (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)).toString(
    'latin1',
    from,
    to,
  )

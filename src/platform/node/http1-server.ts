// HTTP/1.1 on sockets of Node.js.
import type { Socket } from 'node:net'
import { Http1Connection, type Http1Options, type Http1Socket } from '../http1/connection.ts'
import { byteStreamOn } from './byte-stream.ts'

/** Parts that are longer together are written one by one instead of being copied. */
const joinedBytesMax = 64 << 10

export function serveHttp1(socket: Socket, options: Omit<Http1Options, 'textOf'>): Http1Connection {
  const receive = (piece: Buffer) => connection.receive(piece)
  const drained = () => connection.drained()
  const driver: Http1Socket = {
    write: (parts) => writeParts(socket, parts),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    handOver(rest) {
      socket.pause()
      socket.off('data', receive)
      socket.off('drain', drained)
      if (rest.length > 0) socket.unshift(rest)
      return byteStreamOn(socket)
    },
  }
  const connection = new Http1Connection(driver, { ...options, textOf })
  socket.setNoDelay(true)
  socket.on('data', receive)
  socket.on('drain', drained)
  socket.on('error', () => {}) // `close` follows
  socket.on('close', () => connection.closed())
  return connection
}

const textOf = (bytes: Uint8Array, from: number, to: number): string =>
  (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)).toString(
    'latin1',
    from,
    to,
  )

function writeParts(socket: Socket, parts: readonly (string | Uint8Array)[]): boolean {
  let size = 0
  for (const part of parts) size += part.length
  if (size <= joinedBytesMax) return socket.write(joined(parts, size))
  socket.cork()
  for (const part of parts) socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
  socket.uncork()
  return !socket.writableNeedDrain
}

function joined(parts: readonly (string | Uint8Array)[], size: number): Buffer {
  const whole = Buffer.allocUnsafe(size)
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') whole.write(part, at, 'latin1')
    else whole.set(part, at)
    at += part.length
  }
  return whole
}

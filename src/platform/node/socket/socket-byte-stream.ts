// A socket of Node.js as a ByteStream.
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { realClock } from '../../../base/time/clock.ts'
import type { ByteStream } from '../../http/byte-stream.ts'

/** How long the peer may take to end its side after we have ended ours. */
export const lingerMs = 5_000

export function byteStreamOn(socket: Duplex): ByteStream {
  const gone = new AbortController()
  socket.once('close', () => gone.abort(new DOMException('the peer has disconnected', 'AbortError')))
  socket.on('error', () => {}) // the reader and the writer get the error
  let ended = false
  return {
    pieces: socket as AsyncIterable<Buffer>,
    async write(piece) {
      if (ended || gone.signal.aborted) throw new Error('the stream is over')
      if (!socket.write(piece)) await once(socket, 'drain', { signal: gone.signal })
    },
    end() {
      if (ended || socket.destroyed) return
      ended = true
      socket.end()
      const timer = realClock.after(lingerMs, () => socket.destroy())
      socket.once('close', () => timer.cancel())
    },
    destroy: () => void socket.destroy(),
  }
}

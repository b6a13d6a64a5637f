// A linked socket as Node.js knows streams, for what is not HTTP/1.1.
import { Duplex } from 'node:stream'
import type { LinkedSocket } from './linked-socket.ts'

export function streamOn(socket: LinkedSocket): Duplex {
  let onWritten: (() => void) | undefined
  let onFinished: (() => void) | undefined
  let hasEnded = false
  const write = (pieces: readonly Buffer[], written: () => void) => {
    if (socket.write(pieces)) written()
    else onWritten = written
  }
  const drained = () => {
    const written = onWritten
    onWritten = undefined
    written?.()
  }
  const finished = () => {
    onFinished?.()
    onFinished = undefined
  }
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => socket.resume(),
    write: (piece: Buffer, _encoding, written) => write([piece], written),
    writev: (pieces: { chunk: Buffer }[], written) =>
      write(
        pieces.map(({ chunk }) => chunk),
        written,
      ),
    final(done) {
      if (socket.isOver) return done()
      onFinished = done
      socket.end()
    },
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  socket.use({
    receive(bytes) {
      if (!stream.push(bytes)) socket.pause()
    },
    drained,
    ended() {
      hasEnded = true
      stream.push(null)
    },
    finished,
    closed() {
      drained()
      finished()
      // What the client said before it ended is still to be read.
      if (!hasEnded) stream.destroy()
    },
  })
  return stream
}

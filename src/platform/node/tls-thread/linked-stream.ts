// A linked socket as Node.js knows streams, for what is not HTTP/1.1.
import { Duplex } from 'node:stream'
import { realClock } from '../../../base/time/clock.ts'
import { lingerMs } from '../socket/socket-byte-stream.ts'

/** Whoever serves the client of a socket. */
export interface SocketHandlers {
  receive(bytes: Buffer): void
  drained(): void
  /** The client says no more. */
  ended?(): void
  /** All that it was told has left, the end too. */
  finished?(): void
  closed(): void
}

export interface StreamSocket {
  /** Nothing that is written arrives any more. */
  readonly isClosed: boolean
  handleWith(user: SocketHandlers): void
  /** False when the client is behind: `drained` is called once it is not. */
  write(pieces: readonly Buffer[]): boolean
  pause(): void
  resume(): void
  end(): void
  destroy(): void
}

export function duplexOn(socket: StreamSocket): Duplex {
  let onWritten: (() => void) | undefined
  let onFinished: (() => void) | undefined
  let [hasEnded, isEnding, isFinished] = [false, false, false]
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
    isFinished = true
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
    // Done at once: a session of HTTP/2 that writes between the beginning of an end and its end fails in Node.js itself.
    final(done) {
      isEnding = true
      if (!socket.isClosed) socket.end()
      done()
    },
    destroy(error, done) {
      // What was written before the end is still on its way, for a while.
      if (isEnding && !isFinished && error === null) {
        const timer = realClock.after(lingerMs, () => socket.destroy())
        onFinished = () => {
          timer.cancel()
          socket.destroy()
        }
      } else socket.destroy()
      done(error)
    },
  })
  socket.handleWith({
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

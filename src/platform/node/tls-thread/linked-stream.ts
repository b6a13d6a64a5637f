// A linked socket as a stream of Node.js, for HTTP/2 and upgraded connections.
import { Duplex } from 'node:stream'
import { realClock } from '../../../base/time/clock.ts'
import type { FairTurns } from '../../../base/work/fair-turns.ts'
import { lingerMs } from '../socket/socket-byte-stream.ts'

/** Callbacks for the events of a socket. */
export interface SocketHandlers {
  /** Returns true if the bytes are no longer needed. */
  receive(bytes: Buffer): boolean
  drained(): void
  /** The client has ended its side. */
  ended?(): void
  /** Everything has been sent, including the end. */
  finished?(): void
  closed(): void
}

export interface StreamSocket {
  /** Writes have no effect any more. */
  readonly isClosed: boolean
  handleWith(handlers: SocketHandlers): void
  /** Returns false when the client is behind; `drained` is called when it is not. */
  write(pieces: readonly Buffer[]): boolean
  pause(): void
  resume(): void
  end(): void
  destroy(): void
}

/**
 * So much of what the client sends is passed on in a turn of the client. A kilobyte of HTTP/2 can open and reset forty streams,
 * which takes milliseconds.
 */
const sliceBytes = 1 << 10
/** So much waits for its turn before the socket is paused. */
const waitingBytesMax = 64 << 10

/** With `turns`, what clients send is passed on in turns while the event loop is busy. */
export function duplexOn(socket: StreamSocket, turns?: FairTurns<StreamSocket>): Duplex {
  let onWritten: (() => void) | undefined
  let onFinished: (() => void) | undefined
  let hasEnded = false
  let isEnding = false
  let isFinished = false
  let isReading = true
  let waitingBytes = 0
  const updateReading = () => {
    if (isReading && waitingBytes <= waitingBytesMax) socket.resume()
    else socket.pause()
  }
  const inTurn = (work: () => void) => {
    if (turns === undefined) work()
    else turns.start(socket, () => void (stream.destroyed || work()))
  }
  const receive = (bytes: Buffer) => {
    waitingBytes += bytes.length
    inTurn(() => {
      waitingBytes -= bytes.length
      isReading = stream.push(bytes)
      updateReading()
    })
  }
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
    read() {
      isReading = true
      updateReading()
    },
    write: (piece: Buffer, _encoding, written) => write([piece], written),
    writev: (pieces: { chunk: Buffer }[], written) =>
      write(
        pieces.map(({ chunk }) => chunk),
        written,
      ),
    // Completes at once: an HTTP/2 session of Node.js that writes while its stream is ending fails.
    final(done) {
      isEnding = true
      if (!socket.isClosed) socket.end()
      done()
    },
    destroy(error, done) {
      // Bytes that were written before the end may still be sent for a while.
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
      if (turns === undefined) receive(bytes)
      else for (let at = 0; at < bytes.length; at += sliceBytes) receive(bytes.subarray(at, at + sliceBytes))
      if (waitingBytes > 0) updateReading()
      return false
    },
    drained,
    ended() {
      hasEnded = true
      inTurn(() => stream.push(null))
    },
    finished,
    closed() {
      drained()
      finished()
      // Bytes that the client sent before it ended can still be read.
      if (!hasEnded) stream.destroy()
    },
  })
  return stream
}

// SocketWriter: what is written to a socket in one turn of the event loop is sent at its end, in one system call. Waking a
// sleeping peer is most of the cost of a write, so one wake-up for many responses is cheap.
import type { Duplex } from 'node:stream'
import { onNextTurn } from '../../../base/async/event-loop-turn.ts'
import type { SendProgress } from '../../limits/held-bytes.ts'

/** Larger writes are not joined into one buffer, because copying them would cost more than it saves. */
const joinedBytesMax = 64 << 10
/** A long response is handed to the socket in portions of this size, so that `unsentBytes` shows the client's progress. */
const portionBytesMax = 256 << 10

/** A string has one byte for each character. */
type Chunk = string | Uint8Array

export class SocketWriter implements SendProgress {
  readonly #socket: Duplex
  readonly #onDrained: () => void
  /** Written in this turn. */
  #chunks: Chunk[] = []
  #size = 0
  #isPlanned = false
  /** Bytes of all writes. */
  #written = 0
  /** What the socket has no room for. */
  #queue: Uint8Array[] = []
  #queuedBytes = 0
  #isEnding = false

  /** `onDrained` is called when the client has caught up after `write` returned false, or has taken everything. */
  constructor(socket: Duplex, onDrained: () => void) {
    this.#socket = socket
    this.#onDrained = onDrained
    socket.on('drain', this.#drain)
    socket.on('finish', onDrained)
  }

  get unsentBytes(): number {
    return this.#size + this.#queuedBytes + this.#socket.writableLength
  }

  get sentBytes(): number {
    return this.#written - this.unsentBytes
  }

  /** False when the client is behind. */
  write(chunks: readonly Chunk[]): boolean {
    for (const chunk of chunks) {
      this.#chunks.push(chunk)
      this.#size += chunk.length
      this.#written += chunk.length
    }
    if (this.#size > joinedBytesMax) this.flush()
    else if (!this.#isPlanned) {
      this.#isPlanned = true
      if (planned.push(this) === 1) onNextTurn(flushAll)
    }
    return !this.#isBehind
  }

  flush(): void {
    const chunks = this.#chunks
    const size = this.#size
    if (size === 0) return
    this.#chunks = []
    this.#size = 0
    if (this.#socket.destroyed) return
    if (size <= joinedBytesMax && this.#queuedBytes === 0) return void this.#socket.write(joined(chunks, size))
    for (const chunk of chunks) this.#queue.push(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk)
    this.#queuedBytes += size
    this.#send(portionBytesMax)
  }

  /** Called at the end of the turn. */
  onTurnEnd(): void {
    this.#isPlanned = false
    this.flush()
  }

  /** Ends the socket behind everything that was written. */
  end(): void {
    this.flush()
    if (this.#queuedBytes === 0) this.#socket.end()
    else this.#isEnding = true
  }

  /** Hands everything to the socket, which is another protocol's from now on. */
  detach(): void {
    this.flush()
    this.#send(Infinity)
    this.#socket.off('drain', this.#drain)
    this.#socket.off('finish', this.#onDrained)
  }

  get #isBehind(): boolean {
    return this.#queuedBytes > 0 || this.#socket.writableNeedDrain
  }

  readonly #drain = (): void => {
    if (this.#queuedBytes > 0) this.#send(portionBytesMax)
    if (!this.#isBehind) this.#onDrained()
  }

  #send(bytesMax: number): void {
    if (this.#socket.writableNeedDrain && bytesMax < Infinity) return
    this.#socket.cork()
    for (let left = bytesMax; left > 0 && this.#queuedBytes > 0;) {
      const [first = nothing] = this.#queue
      const portion = first.subarray(0, left)
      if (portion.length === first.length) this.#queue.shift()
      else this.#queue[0] = first.subarray(portion.length)
      this.#queuedBytes -= portion.length
      left -= portion.length
      this.#socket.write(portion)
    }
    this.#socket.uncork()
    if (this.#isEnding && this.#queuedBytes === 0) this.#socket.end()
  }
}

const nothing = new Uint8Array(0)

let planned: SocketWriter[] = []

function flushAll(): void {
  const all = planned
  planned = []
  for (const writer of all) writer.onTurnEnd()
}

function joined(chunks: readonly Chunk[], size: number): Buffer {
  const whole = Buffer.allocUnsafe(size)
  let at = 0
  for (const chunk of chunks) {
    if (typeof chunk === 'string') whole.write(chunk, at, 'latin1')
    else whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

// Outgoing: what is written to sockets in one turn of the event loop leaves at its end, each socket's in one piece. A
// write wakes whoever waits for it, and to wake a sleeping processor once for all of them is most of what writes cost.
import type { Socket } from 'node:net'
import { onNextTurn } from '../../../base/async/event-loop-turn.ts'

/** Parts that are longer together are written at once, one by one, instead of being copied. */
const joinedBytesMax = 64 << 10

type Chunk = string | Uint8Array

export class SocketWriter {
  readonly #socket: Socket
  #parts: Chunk[] = []
  #size = 0
  #isWaiting = false

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Written, and not yet handed to the socket. */
  get bytes(): number {
    return this.#size
  }

  /** Texts have a byte for each character. False when the client is behind. */
  write(parts: readonly Chunk[]): boolean {
    for (const part of parts) {
      this.#parts.push(part)
      this.#size += part.length
    }
    if (this.#size > joinedBytesMax) this.flush()
    else if (!this.#isWaiting) {
      this.#isWaiting = true
      if (waiting.push(this) === 1) onNextTurn(flushAll)
    }
    return !this.#socket.writableNeedDrain
  }

  /** What is there leaves now. */
  flush(): void {
    const [parts, size] = [this.#parts, this.#size]
    if (size === 0) return
    this.#parts = []
    this.#size = 0
    if (this.#socket.destroyed) return
    if (size <= joinedBytesMax) return void this.#socket.write(joined(parts, size))
    this.#socket.cork()
    for (const part of parts) this.#socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
    this.#socket.uncork()
  }

  /** Called at the end of the turn. */
  onTurnEnd(): void {
    this.#isWaiting = false
    this.flush()
  }
}

let waiting: SocketWriter[] = []

function flushAll(): void {
  const all = waiting
  waiting = []
  for (const each of all) each.onTurnEnd()
}

function joined(parts: readonly Chunk[], size: number): Buffer {
  const whole = Buffer.allocUnsafe(size)
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') whole.write(part, at, 'latin1')
    else whole.set(part, at)
    at += part.length
  }
  return whole
}

// PacketPipe: one direction of a connection. Pieces arrive in order, after the delay of their link; lost ones are sent
// again with the timers of TCP. The writer waits while too many bytes are on the way or unread.
import type { Clock, Timer } from '../../base/time/clock.ts'

export interface PacketPipeDeps {
  readonly clock: Clock
  /** The delay of a packet that is sent now; undefined when it is lost. */
  readonly delayMs: () => number | undefined
  /** Called when a packet was lost too often. */
  readonly onTimeout: () => void
  /** Called when the last packet has arrived or cannot arrive any more. */
  readonly onDone: () => void
  /** The error of writes after the reader has left. */
  readonly resetError: () => Error
}

/** Bytes that are on the way or unread before the writer waits. */
export const pipeBytesMax = 64 * 1024
/** As Linux: the first retransmission after 200 ms, then after twice as long each time; 15 retransmissions. */
const retransmitMs = { first: 200, max: 120_000 }
const retransmissionsMax = 15

interface Packet {
  /** Undefined for the end of the stream. */
  readonly piece: Uint8Array | undefined
  hasArrived: boolean
}

export class PacketPipe {
  readonly #deps: PacketPipeDeps
  /** Packets that were sent and not yet delivered in order. */
  readonly #onTheWay: Packet[] = []
  readonly #timers = new Set<Timer>()
  readonly #arrived: Uint8Array[] = []
  #bytes = 0
  #state: 'open' | 'ended' | 'done' = 'open'
  #hasLeft = false
  #failure: Error | undefined
  #readerWaits: (() => void) | undefined
  #writersWait: (() => void)[] = []

  constructor(deps: PacketPipeDeps) {
    this.#deps = deps
  }

  /** Whether nothing will arrive any more. */
  get isDone(): boolean {
    return this.#state === 'done'
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#throwIfBroken()
    if (this.#state !== 'open') throw new Error('write after end')
    if (piece.length === 0) return
    this.#bytes += piece.length
    // Copied, because the writer may reuse its buffer, as with a socket.
    this.#send(new Uint8Array(piece))
    while (this.#bytes > pipeBytesMax && this.#failure === undefined && !this.#hasLeft)
      await new Promise<void>((resolve) => this.#writersWait.push(resolve))
    this.#throwIfBroken()
  }

  #throwIfBroken(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#hasLeft) throw this.#deps.resetError()
  }

  end(): void {
    if (this.#state !== 'open') return
    this.#state = 'ended'
    this.#send(undefined)
  }

  /** The reader does not read any more; further writes fail. */
  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#stop()
  }

  /** Reads and writes fail from now on. Bytes that have arrived are dropped, as after a reset. */
  fail(error: Error): void {
    if (this.isDone) return
    this.#failure = error
    this.#stop()
  }

  /** Packets do not arrive any more, and the writer does not notice it. */
  cut(): void {
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
    this.#onTheWay.length = 0
    this.#onTheWay.push({ piece: undefined, hasArrived: false })
  }

  async *read(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure
        const piece = this.#arrived.shift()
        if (piece !== undefined) {
          this.#bytes -= piece.length
          if (this.#bytes <= pipeBytesMax) this.#wakeWriters()
          yield piece
        } else if (this.isDone || this.#hasLeft) return
        else await new Promise<void>((resolve) => (this.#readerWaits = resolve))
      }
    } finally {
      this.leave()
    }
  }

  #send(piece: Uint8Array | undefined): void {
    const packet: Packet = { piece, hasArrived: false }
    this.#onTheWay.push(packet)
    this.#transmit(packet, 0)
  }

  #transmit(packet: Packet, attempt: number): void {
    if (attempt > retransmissionsMax) return this.#deps.onTimeout()
    const delayMs = this.#deps.delayMs()
    if (delayMs === 0) return this.#arrive(packet)
    if (delayMs !== undefined) return this.#after(delayMs, () => this.#arrive(packet))
    const waitMs = Math.min(retransmitMs.first * 2 ** attempt, retransmitMs.max)
    this.#after(waitMs, () => this.#transmit(packet, attempt + 1))
  }

  #after(ms: number, callback: () => void): void {
    const timer = this.#deps.clock.after(ms, () => {
      this.#timers.delete(timer)
      callback()
    })
    this.#timers.add(timer)
  }

  /** Delivers the packets at the head of the queue that have arrived. */
  #arrive(packet: Packet): void {
    packet.hasArrived = true
    while (this.#onTheWay[0]?.hasArrived === true) {
      const piece = this.#onTheWay.shift()?.piece
      if (piece === undefined) this.#finish()
      else this.#arrived.push(piece)
    }
    this.#wakeReader()
  }

  /** Nothing arrives any more. */
  #stop(): void {
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
    this.#onTheWay.length = this.#arrived.length = this.#bytes = 0
    this.#wakeReader()
    this.#wakeWriters()
    this.#finish()
  }

  #finish(): void {
    if (this.isDone) return
    this.#state = 'done'
    this.#deps.onDone()
  }

  #wakeReader(): void {
    this.#readerWaits?.()
    this.#readerWaits = undefined
  }

  #wakeWriters(): void {
    for (const resume of this.#writersWait.splice(0)) resume()
  }
}

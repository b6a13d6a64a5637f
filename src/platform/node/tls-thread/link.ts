// Link: frames in both directions between two threads, in order. Frames that are sent in one callback of the event loop are
// published after it, with at most one wake-up; a thread that is still reading is not woken. The end of the turn would be too
// late: a busy turn takes tens of milliseconds.
import { onNextTurn } from '../../../base/async/event-loop-turn.ts'
import { sliceChunk, newRing, RingReader, RingWriter, type Chunk } from './byte-ring.ts'

const ringBytes = 1 << 20
/** Small compared with the ring. */
export const frameBytesMax = 64 << 10
/** Then other events of the event loop are handled. */
const framesPerTurn = 64

/** The rings of the two directions, as one side sees them. */
export interface LinkMemory {
  readonly out: SharedArrayBuffer
  readonly in: SharedArrayBuffer
}

export const newLinkMemory = (bytes = ringBytes): LinkMemory => ({ out: newRing(bytes), in: newRing(bytes) })
export const otherSide = (memory: LinkMemory): LinkMemory => ({ out: memory.in, in: memory.out })

export interface LinkHandlers {
  /** Has the other side call `woken`. */
  wakePeer(): void
  onFrame(tag: number, bytes: Buffer): void
  /** The frames that waited for room have been written. */
  onRoom(): void
}

/** Sends its frames after the callback. */
export interface Sender {
  flush(): void
}

export class Link {
  readonly #end: LinkHandlers
  readonly #out: RingWriter
  readonly #in: RingReader
  #senders: Sender[] = []
  #isFlushing = false
  #isTaking = false

  constructor(memory: LinkMemory, end: LinkHandlers) {
    this.#end = end
    this.#out = new RingWriter(memory.out, () => end.wakePeer())
    this.#in = new RingReader(memory.in, () => end.wakePeer())
  }

  /** Frames wait for room. */
  get isFull(): boolean {
    return this.#out.isFull
  }

  /** Called once at the start, and for each wake-up by the peer. */
  onWake(): void {
    if (this.isFull) this.#publish()
    if (!this.#isTaking) this.#take()
  }

  /** Long data is split into several frames. */
  send(tag: number, chunks: readonly Chunk[] = [], size = 0): void {
    if (size <= frameBytesMax) this.#out.write(tag, chunks, size)
    else
      for (const chunk of chunks)
        for (let at = 0; at < chunk.length; at += frameBytesMax) {
          const piece = sliceChunk(chunk, at, at + frameBytesMax)
          this.#out.write(tag, [piece], piece.length)
        }
    this.#planFlush()
  }

  flushAfterCallback(sender: Sender): void {
    this.#senders.push(sender)
    this.#planFlush()
  }

  #planFlush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    process.nextTick(this.#flush)
  }

  readonly #flush = (): void => {
    const senders = this.#senders
    this.#senders = []
    for (const sender of senders) sender.flush()
    this.#isFlushing = false
    this.#publish()
  }

  /** Frames that waited may find room before the peer is requested to report it. */
  #publish(): void {
    const wasFull = this.isFull
    this.#out.publish()
    if (wasFull && !this.isFull) this.#end.onRoom()
  }

  readonly #take = (): void => {
    this.#in.take(framesPerTurn, this.#onFrame)
    this.#isTaking = !this.#in.sleep()
    if (this.#isTaking) onNextTurn(this.#take)
  }

  readonly #onFrame = (tag: number, bytes: Buffer): void => this.#end.onFrame(tag, bytes)
}

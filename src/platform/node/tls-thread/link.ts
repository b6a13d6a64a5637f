// Link: frames both ways between two threads, in order. What is sent in one turn of the event loop is seen at its end, and
// the other side is woken once for all of it, or not at all while it is busy with what came before.
import { onNextTurn } from '../../../base/async/event-loop-turn.ts'
import { sliceChunk, newRing, RingReader, RingWriter, type Chunk } from './byte-ring.ts'

const ringBytes = 1 << 20
/** Frames are short beside the ring. */
export const frameBytesMax = 64 << 10
/** Then others have their turn. */
const framesPerTurn = 64

/** Each side's own way out, and the other's. */
export interface LinkMemory {
  readonly out: SharedArrayBuffer
  readonly in: SharedArrayBuffer
}

export const newLinkMemory = (): LinkMemory => ({ out: newRing(ringBytes), in: newRing(ringBytes) })
export const otherSide = (memory: LinkMemory): LinkMemory => ({ out: memory.in, in: memory.out })

export interface LinkHandlers {
  /** Has the other side call `woken`. */
  wakePeer(): void
  onFrame(tag: number, bytes: Buffer): void
  /** There was no room for what was sent, and now there is. */
  onRoom(): void
}

/** Has something to send at the end of the turn. */
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

  /** What is sent waits for room. */
  get isFull(): boolean {
    return this.#out.isFull
  }

  /** Called once to begin with, and then when the other side wakes us. */
  onWake(): void {
    if (this.isFull) this.#publish()
    if (!this.#isTaking) this.#take()
  }

  /** What is too long for a frame goes in several. */
  send(tag: number, parts: readonly Chunk[] = [], size = 0): void {
    if (size <= frameBytesMax) this.#out.write(tag, parts, size)
    else
      for (const part of parts)
        for (let at = 0; at < part.length; at += frameBytesMax) {
          const piece = sliceChunk(part, at, at + frameBytesMax)
          this.#out.write(tag, [piece], piece.length)
        }
    this.#planFlush()
  }

  flushAtTurnEnd(sender: Sender): void {
    this.#senders.push(sender)
    this.#planFlush()
  }

  #planFlush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    onNextTurn(this.#flush)
  }

  readonly #flush = (): void => {
    const senders = this.#senders
    this.#senders = []
    for (const sender of senders) sender.flush()
    this.#isFlushing = false
    this.#publish()
  }

  /** What found no room may find it before the other side has been asked to tell of it. */
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

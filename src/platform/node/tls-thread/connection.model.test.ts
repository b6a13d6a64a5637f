// The protocol of the TLS thread against its model, two streams of bytes: both sides send, pause, resume, end and break off in
// any order, frames wait in the link for as long as the event loop is busy, and long writes become several frames.
//
// Nothing is lost, repeated or reordered; what is buffered is bounded; no side waits forever; a connection closes once.
import { deepEqual, ok } from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import { fuzz, pick } from '../../../base/random/fuzz.harness.ts'
import type { Random } from '../../../base/random/random.ts'
import { connected } from './connection.harness.ts'
import { frameBytesMax } from './link.ts'
import type { LinkedSocket } from './linked-socket.ts'
import { untakenBytesMax, windowBytes } from './protocol.ts'

/** A byte, a small write, several frames, more than a window. */
const sizes = [1, 700, frameBytesMax, 3 * frameBytesMax + 5, windowBytes + 1]
const sizeMax = Math.max(...sizes)
/** The last piece that is read may exceed the limit. */
const bufferedMax = untakenBytesMax + sizeMax

/** Room for one of the longest frames, so that one connection fills the link. */
const smallRingBytes = 2 * frameBytesMax

type Step =
  | { readonly side: 'client' | 'server'; readonly does: 'write'; readonly bytes: number }
  | { readonly side: 'client' | 'server'; readonly does: 'pause' | 'resume' | 'end' | 'destroy' }
  /** The event loop of the server is busy, and has time again. */
  | { readonly side: 'loop'; readonly does: 'hold' | 'release' }
  | { readonly side: 'both'; readonly does: 'turn'; readonly turns: number }

const stepOf = (random: Random): Step => {
  const side = pick(random, ['client', 'server'] as const)
  const chance = random.below(100)
  if (chance < 40) return { side, does: 'write', bytes: pick(random, sizes) }
  if (chance < 60) return { side: 'both', does: 'turn', turns: random.below(8) + 1 }
  if (chance < 72) return { side: 'loop', does: pick(random, ['hold', 'release'] as const) }
  if (chance < 96) return { side, does: pick(random, ['pause', 'resume'] as const) }
  return { side, does: pick(random, ['end', 'destroy'] as const) }
}

/** Bytes of a stream at a position: a byte that is out of place is noticed. */
function bytesAt(position: number, count: number): Buffer {
  const bytes = Buffer.allocUnsafe(count)
  for (let at = 0; at < count; at++) bytes[at] = ((position + at) * 2_654_435_761) >>> 24
  return bytes
}

/** One direction, as the model sees it. */
class Direction {
  sent = 0
  received = 0

  next(count: number): Buffer {
    const bytes = bytesAt(this.sent, count)
    this.sent += count
    return bytes
  }

  take(bytes: Buffer): void {
    ok(this.received + bytes.length <= this.sent, 'more bytes arrive than were sent')
    ok(bytes.equals(bytesAt(this.received, bytes.length)), `the bytes from ${this.received} on are others`)
    this.received += bytes.length
  }

  get isComplete(): boolean {
    return this.received === this.sent
  }
}

interface Frame {
  readonly tag: number
  readonly bytes: Buffer
}

/** Both ends of a connection, and what is known of them. */
class Session {
  readonly toServer = new Direction()
  readonly toClient = new Direction()
  readonly #client: Duplex
  readonly #linked: LinkedSocket
  readonly #waiting: Frame[]
  /** What the server had received when it paused. */
  #pausedAt = Infinity
  isHeld = false
  isBehind = false
  hasClientEnded = false
  hasServerEnded = false
  isBroken = false
  closes = 0

  private constructor(client: Duplex, linked: LinkedSocket, waiting: Frame[]) {
    this.#client = client
    this.#linked = linked
    this.#waiting = waiting
    client.on('data', (bytes: Buffer) => this.toClient.take(bytes))
    client.on('error', () => {})
    linked.handleWith({
      receive: (bytes) => {
        this.toServer.take(bytes)
        return true
      },
      drained: () => (this.isBehind = false),
      closed: () => this.closes++,
    })
  }

  static async open(): Promise<Session> {
    const waiting: Frame[] = []
    let session: Session | undefined
    const { client, linked } = await connected((tag, bytes) => {
      if (session?.isHeld === false) linked.onFrame(tag, bytes)
      else waiting.push({ tag, bytes })
    }, smallRingBytes)
    return (session = new Session(client, linked, waiting))
  }

  async run(step: Step): Promise<void> {
    if (step.side === 'both') for (let turn = 0; turn < step.turns; turn++) await eventLoopTurn()
    else if (step.side === 'loop') this.#hold(step.does === 'hold')
    else if (step.side === 'client') this.#runClient(step)
    else this.#runServer(step)
  }

  #hold(isHeld: boolean): void {
    this.isHeld = isHeld
    if (isHeld) return
    for (const { tag, bytes } of this.#waiting.splice(0)) this.#linked.onFrame(tag, bytes)
  }

  #runClient(step: Step): void {
    if (step.does === 'pause') this.#client.pause()
    if (step.does === 'resume') this.#client.resume()
    if (this.hasClientEnded || this.isBroken) return
    if (step.does === 'write') this.#client.write(this.toServer.next(step.bytes))
    if (step.does === 'end') {
      this.hasClientEnded = true
      this.#client.end()
    }
    if (step.does === 'destroy') {
      this.isBroken = true
      this.#client.destroy(new Error('reset'))
    }
  }

  #runServer(step: Step): void {
    if (step.does === 'pause' || step.does === 'resume') {
      if (step.does === 'resume') this.#pausedAt = Infinity
      else if (this.#pausedAt === Infinity) this.#pausedAt = this.toServer.received
      this.#linked[step.does]()
    }
    if (this.isBroken || this.hasServerEnded) return
    // A server honours that its client is behind.
    if (step.does === 'write' && !this.isBehind) this.isBehind = !this.#linked.write([this.toClient.next(step.bytes)])
    if (step.does === 'end') {
      this.hasServerEnded = true
      this.#linked.end()
    }
    if (step.does === 'destroy') {
      this.isBroken = true
      this.#linked.destroy()
    }
  }

  /** What was read ahead, and not yet taken by the server. */
  get heldBytes(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  get bytesSincePause(): number {
    return Math.max(this.toServer.received - this.#pausedAt, 0)
  }

  get unsentBytes(): number {
    return this.#linked.unsentBytes
  }
}

/** Each turn moves at least one frame, and there are fewer frames. */
const turnsMax = 5_000

async function settled(isDone: () => boolean, what: string): Promise<void> {
  for (let turn = 0; !isDone(); turn++) {
    ok(turn < turnsMax, what)
    await eventLoopTurn()
  }
}

fuzz('the protocol of the TLS thread', {
  runs: 400,
  make: (random): readonly Step[] => Array.from({ length: random.below(40) + 5 }, () => stepOf(random)),
  async check(steps) {
    const session = await Session.open()
    for (const step of steps) {
      await session.run(step)
      ok(session.heldBytes <= bufferedMax, `${session.heldBytes} bytes are held`)
      ok(session.bytesSincePause <= bufferedMax, `${session.bytesSincePause} bytes arrive during a pause`)
      ok(session.unsentBytes <= windowBytes + sizeMax, `${session.unsentBytes} bytes are not sent`)
    }
    // No side waits any more.
    for (const side of ['client', 'server'] as const) await session.run({ side, does: 'resume' })
    await session.run({ side: 'loop', does: 'release' })
    const { toServer, toClient } = session
    if (session.isBroken) return settled(() => session.closes > 0, 'it is not closed')
    await settled(() => toServer.isComplete, 'bytes of the client do not arrive')
    await settled(() => toClient.isComplete, 'bytes of the server do not arrive')
    if (!session.hasServerEnded)
      await settled(() => !session.isBehind, 'the server is not notified that the client has caught up')
    // The end of both sides closes the connection.
    if (!session.hasServerEnded) await session.run({ side: 'server', does: 'end' })
    if (!session.hasClientEnded) await session.run({ side: 'client', does: 'end' })
    await settled(() => session.closes > 0, 'it is not closed')
    for (let turn = 0; turn < 5; turn++) await eventLoopTurn()
    deepEqual(session.closes, 1)
  },
})

// A connection without a socket, and a peer at its other end that a test controls.
import { realClock } from '../../base/time/clock.ts'
import { FairTurns } from '../../base/work/fair-turns.ts'
import { TimeSlicedWork } from '../../base/work/time-sliced-work.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { listenLimitsDefault, type ListenLimits } from '../limits/listen-limits.ts'
import { MemoryBudget } from '../limits/memory-budget.ts'
import { startInTurns } from '../http/start-in-turns.ts'
import { Http1Connection, type Http1Options } from './http1-connection.ts'
import type { Http1Socket } from './http1-socket.ts'

/** `slice` is the clock of turns. By default no request waits for its turn. */
export function connect(
  handle: Http1Options['handle'],
  limits: Partial<ListenLimits> = {},
  slice: () => number = () => 0,
) {
  let seconds = 0
  const peer = new Peer(() => connection)
  const connection: Http1Connection = new Http1Connection(peer, {
    handle: startInTurns(handle, new FairTurns({ ...realClock, monotonicMs: slice }), peer),
    remoteAddress: '192.0.2.1',
    certificate: undefined,
    client: '192.0.2.1',
    budget: new MemoryBudget({ ...listenLimitsDefault, ...limits }, () => {}),
    onShed: () => {},
    textOf: (bytes, from, to) => Buffer.from(bytes).toString('latin1', from, to),
    date: () => 'D',
    second: () => seconds,
    turns: new TimeSlicedWork(realClock),
  })
  peer.tick = () => {
    seconds++
    connection.tick()
  }
  return { connection, peer }
}

class Peer implements Http1Socket {
  readonly #connection: () => Http1Connection
  #written = ''
  #isReading = true
  unsentBytes = 0
  sentBytes = 0
  isPaused = false
  hasEnded = false
  isDestroyed = false
  tick = () => {}

  constructor(connection: () => Http1Connection) {
    this.#connection = connection
  }

  /** Everything that the connection has written, as text. */
  written(): string {
    return this.#written
  }

  async send(text: string): Promise<void> {
    if (text !== '') this.#connection().receive(Buffer.from(text, 'latin1'))
    await this.settle()
  }

  async settle(): Promise<void> {
    await eventLoopTurn()
  }

  async wait(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) {
      this.tick()
      await this.settle()
    }
  }

  stopReading(): void {
    this.#isReading = false
  }

  async resumeReading(): Promise<void> {
    this.#isReading = true
    this.sentBytes += this.unsentBytes
    this.unsentBytes = 0
    this.#connection().drained()
    await this.settle()
  }

  close(): void {
    this.#connection().closed()
  }

  /** Sends nothing more, and continues to read. */
  async endSending(): Promise<void> {
    this.#connection().ended()
    await this.settle()
  }

  write(parts: readonly (string | Uint8Array)[]): boolean {
    for (const { length } of parts)
      if (this.#isReading) this.sentBytes += length
      else this.unsentBytes += length
    for (const part of parts) this.#written += typeof part === 'string' ? part : Buffer.from(part).toString('latin1')
    return this.#isReading
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  end(): void {
    this.hasEnded = true
  }

  destroy(): void {
    this.hasEnded = true
    this.isDestroyed = true
    this.#connection().closed()
  }

  detach(rest: Uint8Array) {
    this.#written += `[${Buffer.from(rest).toString('latin1')}]`
    return {
      pieces: nothing(),
      write: (piece: Uint8Array) => Promise.resolve(void this.write([piece])),
      end: () => this.end(),
      destroy: () => this.destroy(),
    }
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

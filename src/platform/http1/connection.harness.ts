// A connection without a socket, and a peer at its other end.
import { realClock } from '../../base/clock.ts'
import { SharedTurns } from '../../base/shared-turns.ts'
import { turn } from '../../base/turn.ts'
import { listenLimitsDefault, type ListenLimits } from '../listen-limits.ts'
import { MemoryBudget } from '../memory-budget.ts'
import { Http1Connection, type Http1Options, type Http1Socket } from './connection.ts'

export function connect(handle: Http1Options['handle'], limits: Partial<ListenLimits> = {}) {
  let seconds = 0
  const peer = new Peer(() => connection)
  const connection: Http1Connection = new Http1Connection(peer, {
    handle,
    remoteAddress: '192.0.2.1',
    certificate: undefined,
    client: '192.0.2.1',
    budget: new MemoryBudget({ ...listenLimitsDefault, ...limits }, () => {}),
    onShed: () => {},
    textOf: (bytes, from, to) => Buffer.from(bytes).toString('latin1', from, to),
    date: () => 'D',
    second: () => seconds,
    turns: new SharedTurns(realClock),
  })
  peer.tick = () => {
    seconds++
    connection.look()
  }
  return { connection, peer }
}

class Peer implements Http1Socket {
  readonly #connection: () => Http1Connection
  #heard = ''
  #takes = true
  unsentBytes = 0
  isPaused = false
  hasEnded = false
  isDestroyed = false
  tick = () => {}

  constructor(connection: () => Http1Connection) {
    this.#connection = connection
  }

  /** All that was written, as text. */
  heard(): string {
    return this.#heard
  }

  async send(text: string): Promise<void> {
    if (text !== '') this.#connection().receive(Buffer.from(text, 'latin1'))
    await this.settle()
  }

  async settle(): Promise<void> {
    await turn()
  }

  async wait(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) {
      this.tick()
      await this.settle()
    }
  }

  takesNothing(): void {
    this.#takes = false
  }

  async takesAgain(): Promise<void> {
    this.#takes = true
    this.unsentBytes = 0
    this.#connection().drained()
    await this.settle()
  }

  close(): void {
    this.#connection().closed()
  }

  write(parts: readonly (string | Uint8Array)[]): boolean {
    if (!this.#takes) for (const { length } of parts) this.unsentBytes += length
    for (const part of parts) this.#heard += typeof part === 'string' ? part : Buffer.from(part).toString('latin1')
    return this.#takes
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

  handOver(rest: Uint8Array) {
    this.#heard += `[${Buffer.from(rest).toString('latin1')}]`
    return {
      pieces: nothing(),
      write: (piece: Uint8Array) => Promise.resolve(void this.write([piece])),
      end: () => this.end(),
      destroy: () => this.destroy(),
    }
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

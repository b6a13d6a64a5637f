// FairTurns: starts the work of many clients in time slices, with a turn of the event loop in between. While work waits, each
// client has one start in a round, so a client with much work does not delay the others.
import type { Clock } from '../time/clock.ts'
import { onNextTurn } from '../async/event-loop-turn.ts'

const sliceMs = 5

export class FairTurns<Client extends object> {
  readonly #clock: Clock
  /** Clients whose work waits and has not been started since it waits; they come first. */
  readonly #fresh = new Map<Client, (() => void)[]>()
  readonly #others = new Map<Client, (() => void)[]>()
  /** When the current slice ends. */
  #untilMs = 0
  #isPlanned = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Starts the work at once if there is time and nothing waits. It must not throw. */
  start(client: Client, work: () => void): void {
    if (!this.#isPlanned) {
      this.#isPlanned = true
      this.#untilMs = this.#clock.monotonicMs() + sliceMs
      onNextTurn(this.#slice)
    }
    if (!this.#isWaiting && this.#clock.monotonicMs() < this.#untilMs) return work()
    const waiting = this.#fresh.get(client) ?? this.#others.get(client)
    if (waiting === undefined) this.#fresh.set(client, [work])
    else waiting.push(work)
  }

  get #isWaiting(): boolean {
    return this.#fresh.size + this.#others.size > 0
  }

  readonly #slice = (): void => {
    const untilMs = this.#clock.monotonicMs() + sliceMs
    while (this.#isWaiting) {
      this.#startNext(this.#fresh.size > 0 ? this.#fresh : this.#others)
      if (this.#clock.monotonicMs() >= untilMs) break
    }
    this.#isPlanned = this.#isWaiting
    if (this.#isPlanned) onNextTurn(this.#slice)
  }

  #startNext(clients: Map<Client, (() => void)[]>): void {
    for (const [client, works] of clients) {
      const work = works.shift()
      clients.delete(client)
      if (works.length > 0) this.#others.set(client, works)
      return work?.()
    }
  }
}

// WatchHub: notifies the watch streams of the revisions that they may deliver. There is one watch of the store; the streams read
// the changes from its history, each as fast as its client takes them.
import { every, type Clock } from '../../base/time/clock.ts'
import type { LocalStore } from '../local-store.ts'

export interface WatchListener {
  /** There are new revisions. */
  advanced(): void
  /** It is time for the progress notifications that watches have asked for. */
  progressDue(): void
}

export interface WatchHubOptions {
  readonly store: LocalStore
  readonly clock: Clock
  /** How often watches that have asked for it are notified of their progress. */
  readonly progressMs: number
}

export class WatchHub {
  readonly store: LocalStore
  readonly #clock: Clock
  readonly #progressMs: number
  readonly #listeners = new Set<WatchListener>()
  /** The writers of this revision and earlier ones have their responses, so watchers may receive it. */
  #revision: number

  constructor({ store, clock, progressMs }: WatchHubOptions) {
    this.store = store
    this.#clock = clock
    this.#progressMs = progressMs
    this.#revision = store.revision
  }

  get revision(): number {
    return this.#revision
  }

  add(listener: WatchListener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const timer = every(this.#clock, this.#progressMs, () => this.#forEach((listener) => listener.progressDue()))
    try {
      for await (const batches of this.store.watch({ prefix: '', from: this.#revision + 1 }, signal).batches()) {
        this.#revision = batches.at(-1)?.revision ?? this.#revision
        this.#forEach((listener) => listener.advanced())
      }
    } finally {
      timer.cancel()
    }
  }

  #forEach(notify: (listener: WatchListener) => void): void {
    for (const listener of [...this.#listeners]) notify(listener)
  }
}

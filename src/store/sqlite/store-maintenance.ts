// StoreMaintenance: compacts the history beyond its window or bounds, in steps that alternate with writes, and frees
// disk space when the store is idle.
import type { Clock, Timer } from '../../base/time/clock.ts'
import type { History } from '../history.ts'
import type { WriteQueue } from './write-queue.ts'

/** Versions compacted per step: at least as many as a batch adds, so that the bounds hold under load. */
const versionsPerStep = 2_000
/**
 * The factor by which the history may exceed its bounds before it is compacted, so that not every batch waits for it.
 */
const boundsSlack = 1.25
/** The history is compacted this many times per window. */
const windowFraction = 10
const idleMs = 5_000

export class StoreMaintenance {
  readonly #clock: Clock
  readonly #history: History
  readonly #queue: WriteQueue
  readonly #historyMs: number
  /** Compactions run one at a time: each step starts where the previous one ended. */
  #compacting: Promise<void> = Promise.resolve()
  #trimming = false
  #windowTimer: Timer | undefined
  #idleTimer: Timer | undefined
  #lastActivityMs = 0
  readonly #closed = new AbortController()

  constructor(clock: Clock, history: History, queue: WriteQueue, historyMs: number) {
    this.#clock = clock
    this.#history = history
    this.#queue = queue
    this.#historyMs = historyMs
    this.#armWindow()
  }

  /** Called after every batch. */
  afterBatch(): void {
    this.#noteActivity()
    this.#armWindow()
    if (this.#history.isOverBounds(boundsSlack)) this.#trim()
  }

  compact(revision: number, signal: AbortSignal = this.#closed.signal): Promise<void> {
    const compacted = this.#compacting.then(() => this.#compactInSteps(revision, signal))
    this.#compacting = compacted.catch(() => {})
    return compacted
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#windowTimer?.cancel()
    this.#idleTimer?.cancel()
    await this.#compacting
  }

  async #compactInSteps(revision: number, signal: AbortSignal): Promise<void> {
    while (this.#history.oldest.revision < revision) {
      signal.throwIfAborted()
      const step = Math.min(revision, this.#history.oldest.revision + versionsPerStep)
      const superseded = this.#history.superseded(step)
      const revisions = Float64Array.from(superseded, (item) => item.revision)
      await this.#queue.runMaintenance({
        kind: 'compact',
        revision: step,
        revisions,
        keys: superseded.map(({ key }) => key),
      })
      this.#history.compact(step)
      this.#noteActivity()
    }
  }

  #noteActivity(): void {
    this.#lastActivityMs = this.#clock.monotonicMs()
    this.#armIdle(idleMs)
  }

  #trim(): void {
    if (this.#trimming || this.#closed.signal.aborted) return
    this.#trimming = true
    const endTrimming = () => {
      this.#trimming = false
    }
    // A failure leaves history and file unchanged; the next batch or the window timer tries again.
    this.compact(this.#history.revisionInBounds()).then(endTrimming, endTrimming)
  }

  // Without history there is no timer, so that an idle store does not use the clock.
  #armWindow(): void {
    if (this.#windowTimer !== undefined || this.#history.length === 1 || this.#closed.signal.aborted) return
    if (this.#historyMs === Infinity) return
    this.#windowTimer = this.#clock.after(this.#historyMs / windowFraction, () => {
      this.#windowTimer = undefined
      const rearm = () => this.#armWindow()
      this.compact(this.#history.revisionBefore(this.#clock.nowMs() - this.#historyMs)).then(rearm, rearm)
    })
  }

  #armIdle(ms: number): void {
    if (this.#idleTimer !== undefined || this.#closed.signal.aborted) return
    this.#idleTimer = this.#clock.after(ms, () => {
      this.#idleTimer = undefined
      const leftMs = this.#lastActivityMs + idleMs - this.#clock.monotonicMs()
      if (leftMs > 0) this.#armIdle(leftMs)
      else this.#shrinkFile()
    })
  }

  #shrinkFile(): void {
    this.#queue.runMaintenance({ kind: 'shrink' }).then(
      (more) => more && this.#armIdle(0),
      () => this.#armIdle(idleMs),
    )
  }
}

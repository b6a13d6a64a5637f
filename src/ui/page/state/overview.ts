// The data of the overview. Computing it takes the server longer in a large cluster, so it is read for a small part of the time only, and
// while nothing happens in the cluster it is read rarely.
import { isBackground } from '../../../base/observability/background-events.ts'
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import type { ClusterOverview, ClusterProblems, OverviewSource, Timed } from '../source/overview.ts'

export interface OverviewDeps {
  readonly source: { readonly summaries: OverviewSource | undefined }
  /** Resolves when the page is drawn again: never while it is hidden. */
  readonly whenDrawn: () => Promise<void>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly changed: () => void
}

/** After a read, this many times the server's time for it passes until the next one, so that both take little more than one percent of it. */
const restFactor = 150
const restMsMin = 2_000
const restMsMax = 60_000
/** What is wrong also depends on the time, so it is read although nothing has happened. */
const idleMs = 60_000

export class Overview {
  health: ClusterOverview | undefined
  problems: ClusterProblems | undefined
  healthFailure: unknown
  problemsFailure: unknown
  readonly #deps: OverviewDeps
  #following = new AbortController()
  #changed: PromiseWithResolvers<void> = Promise.withResolvers()

  constructor(deps: OverviewDeps) {
    this.#deps = deps
  }

  follow(namespace: string): void {
    const { summaries } = this.#deps.source
    this.stop()
    Object.assign(this, {
      health: undefined,
      problems: undefined,
      healthFailure: undefined,
      problemsFailure: undefined,
    })
    if (summaries === undefined) return
    this.#following = new AbortController()
    const { signal } = this.#following
    void this.#keep(
      async () => {
        const health = await summaries.overview(namespace, signal)
        this.health = health
        return health
      },
      (error) => (this.healthFailure = error),
      signal,
    )
    void this.#keep(
      async () => {
        const problems = await summaries.problems(namespace, signal)
        this.problems = problems
        return problems
      },
      (error) => (this.problemsFailure = error),
      signal,
    )
  }

  stop(): void {
    this.#following.abort()
  }

  observe(events: readonly FlowEvent[]): void {
    if (events.every(({ what, object }) => isBackground(what, object))) return
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  async #keep(read: () => Promise<Timed>, fail: (error: unknown) => void, signal: AbortSignal): Promise<void> {
    const { whenDrawn, sleep, changed } = this.#deps
    while (!signal.aborted) {
      let restMs = restMsMin
      // What happens while it is read may not be part of the result.
      const hasChanged = this.#changed.promise
      try {
        const { tookMs } = await read()
        restMs = Math.min(restMsMax, Math.max(restMsMin, tookMs * restFactor))
        fail(undefined)
      } catch (error) {
        if (signal.aborted) return
        fail(error)
      }
      changed()
      await sleep(restMs, signal).catch(() => undefined)
      const idle = new AbortController()
      await Promise.race([hasChanged, sleep(idleMs, AbortSignal.any([signal, idle.signal])).catch(() => undefined)])
      idle.abort()
      await whenDrawn()
    }
  }
}

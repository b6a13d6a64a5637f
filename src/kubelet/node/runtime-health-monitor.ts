// NodeHealth: whether the node's runtime answers and has a network for pods, and why not, in upstream's words.
import type { Clock } from '../../base/time/clock.ts'
import { durationTextOfMs } from '../../schema/scalar/duration.ts'
import type { ContainerRuntime, RuntimeCondition, RuntimeHealth } from '../../machine/runtime/container-runtime.ts'

export interface RuntimeHealthMonitorDeps {
  readonly clock: Clock
  readonly runtime: Pick<ContainerRuntime, 'watchHealth'>
  /** Something else stands against the node, or nothing any more. */
  readonly onChange: () => void
}

/** As upstream: how long a runtime may be silent before it is down, and before nobody knows what its pods do. */
const silenceMsMax = 30_000
const relistMsMax = 180_000

export class RuntimeHealthMonitor {
  readonly #deps: RuntimeHealthMonitorDeps
  readonly #known = Promise.withResolvers<void>()
  #isKnown = false
  #wellMs: number | undefined
  #answeredMs: number | undefined
  #last: RuntimeHealth | undefined
  #problems: readonly string[] = ['container runtime status check may not have completed yet']

  constructor(deps: RuntimeHealthMonitorDeps) {
    this.#deps = deps
  }

  /** Resolves when the runtime was first asked, whatever it said. */
  get firstCheck(): Promise<void> {
    return this.#known.promise
  }

  /** What stands against the node; empty: it is ready. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** Why pods get no network now. */
  get networkProblem(): string | undefined {
    const { network } = this.#last ?? {}
    if (network === undefined || network.isReady) return undefined
    return `container runtime network not ready: ${conditionText('NetworkReady', network)}`
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#deps.runtime.watchHealth((health) => this.#take(health), signal)
  }

  #take(health: RuntimeHealth | undefined): void {
    const nowMs = this.#deps.clock.monotonicMs()
    if (health !== undefined) {
      this.#last = health
      this.#answeredMs = nowMs
      if (health.runtime.isReady) this.#wellMs = nowMs
    }
    const before = this.#problems
    this.#problems = [...this.#runtimeProblems(nowMs), this.networkProblem ?? []].flat()
    const isFirst = !this.#isKnown
    this.#isKnown = true
    this.#known.resolve()
    // How long it has been silent grows with every look: that alone is no news.
    const kinds = (problems: readonly string[]) => problems.map((problem) => problem.split(':')[0]).join()
    // The first answer is part of the node's registration.
    if (!isFirst && kinds(before) !== kinds(this.#problems)) this.#deps.onChange()
  }

  #runtimeProblems(nowMs: number): readonly string[] {
    const { runtime } = this.#last ?? {}
    const [wellMs, answeredMs] = [this.#wellMs, this.#answeredMs]
    const silentMs = nowMs - (answeredMs ?? nowMs)
    return [
      wellMs === undefined
        ? 'container runtime status check may not have completed yet'
        : nowMs - wellMs >= silenceMsMax
          ? 'container runtime is down'
          : [],
      silentMs < relistMsMax
        ? []
        : `PLEG is not healthy: pleg was last seen active ${durationTextOfMs(silentMs)} ago; threshold is ${durationTextOfMs(relistMsMax)}`,
      runtime === undefined || runtime.isReady
        ? []
        : `container runtime not ready: ${conditionText('RuntimeReady', runtime)}`,
    ].flat()
  }
}

/** As upstream writes a condition of the runtime. */
const conditionText = (type: string, { isReady, reason, message }: RuntimeCondition): string =>
  `${type}=${isReady} reason:${reason} message:${message}`

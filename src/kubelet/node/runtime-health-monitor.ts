// RuntimeHealthMonitor: whether the container runtime responds and its network is ready. Messages equal upstream's.
import type { Clock } from '../../base/time/clock.ts'
import { durationTextOfMs } from '../../schema/scalar/duration.ts'
import type { ContainerRuntime, RuntimeCondition, RuntimeHealth } from '../../machine/runtime/container-runtime.ts'

export interface RuntimeHealthMonitorDeps {
  readonly clock: Clock
  readonly runtime: Pick<ContainerRuntime, 'watchHealth'>
}

/**
 * As upstream: how long the runtime may fail its health check before it is reported as down, and before the PLEG is.
 */
const downMs = 30_000
const plegMs = 180_000

export class RuntimeHealthMonitor {
  readonly #deps: RuntimeHealthMonitorDeps
  readonly #known = Promise.withResolvers<void>()
  #isKnown = false
  #readyMs: number | undefined
  #respondedMs: number | undefined
  #lastHealth: RuntimeHealth | undefined
  #problems: readonly string[] = ['container runtime status check may not have completed yet']

  constructor(deps: RuntimeHealthMonitorDeps) {
    this.#deps = deps
  }

  /** Resolves after the first health check, whatever its result. */
  get firstCheck(): Promise<void> {
    return this.#known.promise
  }

  /** Why the node is not ready; empty when it is. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** Why the pod network is not ready; undefined when it is. */
  get networkProblem(): string | undefined {
    const { network } = this.#lastHealth ?? {}
    if (network === undefined || network.isReady) return undefined
    return `container runtime network not ready: ${conditionText('NetworkReady', network)}`
  }

  /** `onChange` is called when the kind of problems has changed. */
  run(onChange: () => void, signal: AbortSignal): Promise<void> {
    return this.#deps.runtime.watchHealth((health) => {
      if (this.#update(health)) onChange()
    }, signal)
  }

  /** Returns whether the kind of problems has changed. */
  #update(health: RuntimeHealth | undefined): boolean {
    const nowMs = this.#deps.clock.monotonicMs()
    if (health !== undefined) {
      this.#lastHealth = health
      this.#respondedMs = nowMs
      if (health.runtime.isReady) this.#readyMs = nowMs
    }
    const before = this.#problems
    this.#problems = [...this.#runtimeProblems(nowMs), this.networkProblem ?? []].flat()
    const isFirst = !this.#isKnown
    this.#isKnown = true
    this.#known.resolve()
    // The message contains a duration that grows with every check; only a different kind of problem is a change.
    const kinds = (problems: readonly string[]) => problems.map((problem) => problem.split(':')[0]).join()
    // The first result is part of the node's registration.
    return !isFirst && kinds(before) !== kinds(this.#problems)
  }

  #runtimeProblems(nowMs: number): readonly string[] {
    const { runtime } = this.#lastHealth ?? {}
    const readyMs = this.#readyMs
    const respondedMs = this.#respondedMs
    const silentMs = nowMs - (respondedMs ?? nowMs)
    return [
      readyMs === undefined
        ? 'container runtime status check may not have completed yet'
        : nowMs - readyMs >= downMs
          ? 'container runtime is down'
          : [],
      silentMs < plegMs
        ? []
        : `PLEG is not healthy: pleg was last seen active ${durationTextOfMs(silentMs)} ago; threshold is ${durationTextOfMs(plegMs)}`,
      runtime === undefined || runtime.isReady
        ? []
        : `container runtime not ready: ${conditionText('RuntimeReady', runtime)}`,
    ].flat()
  }
}

/** A runtime condition in upstream's format. */
const conditionText = (type: string, { isReady, reason, message }: RuntimeCondition): string =>
  `${type}=${isReady} reason:${reason} message:${message}`

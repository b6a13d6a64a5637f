// ShutdownManager: graceful node shutdown. When the machine shuts down, the node rejects new pods, reports itself as
// not ready, and terminates its pods by priority while the shutdown is delayed.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { CannotDelayShutdown, type HostShutdown } from '../../machine/shutdown/host-shutdown.ts'
import type { PodTermination } from '../pod/pod-sync-state.ts'
import { shutdownGroups, type ShutdownGroup, type ShutdownPeriod } from './shutdown-order.ts'

export interface ShutdownManagerDeps {
  readonly shutdown: HostShutdown
  readonly periods: readonly ShutdownPeriod[]
  /** Pods that have not finished. */
  readonly running: () => readonly Pod[]
  readonly terminatePod: (podUid: string, verdict: PodTermination) => void
  /** Updates the node's status and records an event. */
  readonly onChange: (message: string, signal: AbortSignal) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

/** How often terminating pods are checked. */
const lookMs = 500

export class ShutdownManager {
  readonly #deps: ShutdownManagerDeps
  #isUnderWay = false

  constructor(deps: ShutdownManagerDeps) {
    this.#deps = deps
  }

  get isShuttingDown(): boolean {
    return this.#isUnderWay
  }

  /** Why pods are rejected now; undefined when they are not. */
  get rejection(): PodTermination | undefined {
    return this.#isUnderWay
      ? { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' }
      : undefined
  }

  async run(signal: AbortSignal): Promise<void> {
    const { shutdown, periods, log } = this.#deps
    if (periods.length === 0) return
    const delayMs = periods.reduce((sum, { seconds }) => sum + seconds * 1000, 0)
    const listener = {
      onShutdown: () => this.#begin(signal),
      onCancelled: () => this.#callOff(signal),
    }
    try {
      await shutdown.listen(delayMs, listener, () => log.info('a shutdown of the node waits for its pods'), signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof CannotDelayShutdown)) throw error
      // Without a delay the node works normally until its machine goes down.
      log.warn('a shutdown of the node will not wait for its pods', { error: errorText(error) })
    }
  }

  async #begin(signal: AbortSignal): Promise<void> {
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    const { running, periods } = this.#deps
    // The pods are terminated without waiting for the status update, because the API server may be going down, too.
    const told = this.#tell('Shutdown manager detected shutdown event', signal)
    for (const group of shutdownGroups(running(), periods)) await this.#end(group, signal)
    await told
  }

  async #callOff(signal: AbortSignal): Promise<void> {
    if (!this.#isUnderWay) return
    this.#isUnderWay = false
    await this.#tell('Shutdown manager detected shutdown cancellation', signal)
  }

  #tell(message: string, signal: AbortSignal): Promise<void> {
    const { onChange, log } = this.#deps
    return onChange(message, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      log.debug('nobody heard of the shutdown', { error: errorText(error) })
    })
  }

  async #end({ pods, seconds }: ShutdownGroup, signal: AbortSignal): Promise<void> {
    const { terminatePod: condemn, running, clock, log } = this.#deps
    log.info('pods end with their node', { pods: pods.length, seconds })
    const message = 'Pod was terminated in response to imminent node shutdown.'
    for (const { metadata, spec } of pods) {
      const graceSeconds = Math.min(spec.terminationGracePeriodSeconds, seconds)
      condemn(metadata.uid, { reason: 'Terminated', message, graceSeconds, isDisruption: true })
    }
    const untilMs = clock.monotonicMs() + seconds * 1000
    const isThere = () => {
      const left = new Set(running().map(({ metadata }) => metadata.uid))
      return pods.some(({ metadata }) => left.has(metadata.uid))
    }
    while (isThere() && clock.monotonicMs() < untilMs) await clock.sleep(lookMs, signal)
  }
}

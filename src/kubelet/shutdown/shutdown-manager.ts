// ShutdownManager: graceful node shutdown. When the machine shuts down, the node rejects new pods, reports itself as
// not ready, and terminates its pods by priority while the shutdown is delayed.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { CannotDelayShutdown, type HostShutdown } from '../../machine/shutdown/host-shutdown.ts'
import type { PodTermination } from '../pod/pod-sync-state.ts'
import { shutdownGroups, type ShutdownGroup, type ShutdownPeriod } from './shutdown-order.ts'

/** Reports the start or the cancellation of a shutdown in the node's status and as an event. */
export type ReportShutdown = (message: string, signal: AbortSignal) => Promise<void>

export interface ShutdownManagerDeps {
  readonly shutdown: HostShutdown
  readonly periods: readonly ShutdownPeriod[]
  /** Pods that have not finished. */
  readonly activePods: () => readonly Pod[]
  readonly terminatePod: (podUid: string, termination: PodTermination) => void
  readonly clock: Clock
  readonly log: Log
}

/** How often terminating pods are checked. */
const pollMs = 500

export class ShutdownManager {
  readonly #deps: ShutdownManagerDeps
  #isShuttingDown = false

  constructor(deps: ShutdownManagerDeps) {
    this.#deps = deps
  }

  get isShuttingDown(): boolean {
    return this.#isShuttingDown
  }

  /** Why pods are rejected now; undefined when they are not. */
  get rejection(): PodTermination | undefined {
    return this.#isShuttingDown
      ? { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' }
      : undefined
  }

  async run(report: ReportShutdown, signal: AbortSignal): Promise<void> {
    const { shutdown, periods, log } = this.#deps
    if (periods.length === 0) return
    const delayMs = periods.reduce((sum, { seconds }) => sum + seconds * 1000, 0)
    const listener = {
      onShutdown: () => this.#start(report, signal),
      onCancelled: () => this.#cancel(report, signal),
    }
    try {
      await shutdown.listen(
        delayMs,
        listener,
        () => log.info('a shutdown of the machine will be delayed until the pods have terminated'),
        signal,
      )
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof CannotDelayShutdown)) throw error
      // Without a delay the node works normally until its machine goes down.
      log.warn('a shutdown of the machine cannot be delayed', { error: errorText(error) })
    }
  }

  async #start(report: ReportShutdown, signal: AbortSignal): Promise<void> {
    if (this.#isShuttingDown) return
    this.#isShuttingDown = true
    const { activePods, periods } = this.#deps
    // The pods are terminated without waiting for the status update, because the API server may be going down, too.
    const reported = this.#report(report, 'Shutdown manager detected shutdown event', signal)
    for (const group of shutdownGroups(activePods(), periods)) await this.#terminateGroup(group, signal)
    await reported
  }

  async #cancel(report: ReportShutdown, signal: AbortSignal): Promise<void> {
    if (!this.#isShuttingDown) return
    this.#isShuttingDown = false
    await this.#report(report, 'Shutdown manager detected shutdown cancellation', signal)
  }

  #report(report: ReportShutdown, message: string, signal: AbortSignal): Promise<void> {
    return report(message, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      this.#deps.log.debug('the shutdown could not be reported', { error: errorText(error) })
    })
  }

  async #terminateGroup({ pods, seconds }: ShutdownGroup, signal: AbortSignal): Promise<void> {
    const { terminatePod, activePods, clock, log } = this.#deps
    log.info('pods are terminated because of a node shutdown', { pods: pods.length, seconds })
    const message = 'Pod was terminated in response to imminent node shutdown.'
    for (const { metadata, spec } of pods) {
      const graceSeconds = Math.min(Number(spec.terminationGracePeriodSeconds), seconds)
      terminatePod(metadata.uid, { reason: 'Terminated', message, graceSeconds, isDisruption: true })
    }
    const untilMs = clock.monotonicMs() + seconds * 1000
    const isRunning = () => {
      const left = new Set(activePods().map(({ metadata }) => metadata.uid))
      return pods.some(({ metadata }) => left.has(metadata.uid))
    }
    while (isRunning() && clock.monotonicMs() < untilMs) await clock.sleep(pollMs, signal)
  }
}

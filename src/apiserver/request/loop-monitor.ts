// LoopMonitor: finds requests that block the event loop. All work of the process waits for such a request, so it is
// logged and counted, and it fails once its blocks add up to too long. A synchronous computation cannot be interrupted:
// requests are measured and ended at the points where they are suspended anyway.
import type { Clock } from '../../base/time/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { RequestMetrics } from './request-metrics.ts'
import type { ApiRequest } from './request.ts'
import { requestTimeout } from './request-termination.ts'

/** A step that takes longer is reported. */
export const loopBlockMsMax = 100

/** The total of all reported steps of one request. A garbage collection during a step counts as part of it. */
export const requestBlockMsMax = 5_000

/** The log is limited under attack: blocks between two reports are counted in the next one. */
export const reportIntervalMs = 1_000

/**
 * After this many slow steps, all requests of the user are paced, whatever their size. Single slow steps are more often
 * a garbage collection than the request's own work.
 */
export const slowStepMs = 50
export const slowStepsMin = 4
/** How long a slow step counts. */
export const slowForMs = 10_000
const slowUsersMax = 1_000

export interface LoopMonitorDeps {
  readonly clock: Clock
  readonly log: Log
  readonly requestMetrics: RequestMetrics
}

export class LoopMonitor {
  readonly #deps: LoopMonitorDeps
  readonly #blockedMs = new WeakMap<AbortSignal, number>()
  /** By user name: the number of slow steps, and the time of the last one. */
  readonly #slowUsers = new RecentMap<string, { readonly steps: number; readonly lastMs: number }>(slowUsersMax)
  #slowUntilMs = -Infinity
  #lastReportMs = -Infinity
  #unreported = 0

  constructor(deps: LoopMonitorDeps) {
    this.#deps = deps
  }

  /**
   * A synchronous step of a request has ended. The caller passes times that it has read anyway, because reading the
   * clock is expensive compared with a short request. Throws when the request must not continue.
   */
  stepDone(request: ApiRequest, startMs: number, endMs: number): void {
    if (endMs - startMs < slowStepMs) return
    this.#recordSlowStep(request, endMs)
    if (endMs - startMs >= loopBlockMsMax) this.#blocked(request, endMs - startMs, endMs)
    // A short request is completed even if its client has gone, because an aborted one would be retried from the start.
    request.context.signal.throwIfAborted()
  }

  /** Whether the user's requests have blocked the event loop recently. */
  isSlow(user: string): boolean {
    // Usually there are no slow users, and the lookup is skipped.
    if (this.#slowUntilMs === -Infinity) return false
    const nowMs = this.#deps.clock.monotonicMs()
    if (nowMs >= this.#slowUntilMs) {
      this.#slowUntilMs = -Infinity
      return false
    }
    const slow = this.#slowUsers.get(user)
    return slow !== undefined && slow.steps >= slowStepsMin && nowMs < slow.lastMs + slowForMs
  }

  #recordSlowStep({ user }: ApiRequest, nowMs: number): void {
    const name = user?.name ?? ''
    const before = this.#slowUsers.get(name)
    const steps = before !== undefined && nowMs < before.lastMs + slowForMs ? before.steps + 1 : 1
    this.#slowUsers.set(name, { steps, lastMs: nowMs })
    this.#slowUntilMs = nowMs + slowForMs
  }

  /** A request that has been answered is only reported. */
  responseDone(request: ApiRequest, startMs: number, endMs: number): void {
    if (endMs - startMs >= slowStepMs) this.#recordSlowStep(request, endMs)
    if (endMs - startMs >= loopBlockMsMax) this.#report(request, endMs - startMs, endMs)
  }

  #blocked(request: ApiRequest, blockMs: number, nowMs: number): void {
    this.#report(request, blockMs, nowMs)
    const { signal } = request.context
    const totalMs = (this.#blockedMs.get(signal) ?? 0) + blockMs
    this.#blockedMs.set(signal, totalMs)
    if (totalMs > requestBlockMsMax) throw requestTimeout()
  }

  #report({ target, user, sender }: ApiRequest, blockMs: number, nowMs: number): void {
    const { log, requestMetrics } = this.#deps
    const resource = target.kind === 'resource' ? target.resource.plural : ''
    requestMetrics.blocked(target.verb, resource, blockMs / 1_000)
    if (nowMs - this.#lastReportMs < reportIntervalMs) {
      this.#unreported++
      return
    }
    log.warn('a request blocked the event loop', {
      verb: target.verb,
      ...(target.kind === 'resource'
        ? { resource, subresource: target.subresource, namespace: target.namespace, name: target.name }
        : { path: target.path }),
      user: user?.name ?? '',
      sender,
      blockMs: Math.round(blockMs),
      ...(this.#unreported === 0 ? {} : { unreported: this.#unreported }),
    })
    this.#lastReportMs = nowMs
    this.#unreported = 0
  }
}

// LoopWatch: finds requests that hold the event loop. Everybody in the process waits for such a request, so it is logged
// and counted, and ended once it has held the loop for too long in all. A synchronous computation cannot be interrupted:
// what is measured, and where a request can end, are the steps between which it is suspended anyway.
import type { Clock } from '../../base/time/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { RequestMetrics } from './request-metrics.ts'
import type { ApiRequest } from './request.ts'

/** A step that takes longer is reported. */
export const loopBlockMsMax = 100

/** What all reported steps of one request may take together. A garbage collection during a step counts as part of it. */
export const requestBlockMsMax = 5_000

/** Under attack the log would grow with the requests: blocks in between are counted in the next report. */
export const reportIntervalMs = 1_000

/**
 * After several steps that took longer, a user's requests are paced, whatever their size. Single ones are more often a
 * garbage collection than the request's own work.
 */
export const slowStepMs = 50
export const slowStepsMin = 4
/** So long a slow step counts. */
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
  /** By name: the slow steps of a user's requests, and when the last was. */
  readonly #slowUsers = new RecentMap<string, { readonly steps: number; readonly lastMs: number }>(slowUsersMax)
  #slowUntilMs = -Infinity
  #lastReportMs = -Infinity
  #unreported = 0

  constructor(deps: LoopMonitorDeps) {
    this.#deps = deps
  }

  /**
   * One synchronous step of a request is over. The caller passes times that it has read anyway: reading the clock costs as
   * much as a part of a short request. Throws when the request must not go on.
   */
  stepDone(request: ApiRequest, startMs: number, endMs: number): void {
    if (endMs - startMs < slowStepMs) return
    this.#recordSlowStep(request, endMs)
    if (endMs - startMs >= loopBlockMsMax) this.#blocked(request, endMs - startMs, endMs)
    // A short request is finished even if nobody waits for it any longer: half of it would have to be done again.
    request.context.signal.throwIfAborted()
  }

  /** Whether the user's requests have held the event loop lately. */
  isSlow(user: string): boolean {
    // Most of the time nobody is slow, and nobody is looked for.
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

  /** A request that is answered already is reported only. */
  responseDone(request: ApiRequest, startMs: number, endMs: number): void {
    if (endMs - startMs >= slowStepMs) this.#recordSlowStep(request, endMs)
    if (endMs - startMs >= loopBlockMsMax) this.#report(request, endMs - startMs, endMs)
  }

  #blocked(request: ApiRequest, blockMs: number, nowMs: number): void {
    this.#report(request, blockMs, nowMs)
    const { signal } = request.context
    const totalMs = (this.#blockedMs.get(signal) ?? 0) + blockMs
    this.#blockedMs.set(signal, totalMs)
    if (totalMs > requestBlockMsMax)
      throw new StatusError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {})
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

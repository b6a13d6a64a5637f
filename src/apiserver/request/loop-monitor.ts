// LoopMonitor: finds requests that block the event loop. All work of the process waits for such a request, so it is
// logged and counted, and it fails once its blocks add up to too long. A synchronous computation cannot be interrupted:
// requests are measured and ended at the points where they are suspended anyway. What counts is CPU time: on a busy machine,
// every step may take long.
import type { Clock } from '../../base/time/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { isForwardedKind } from './extension.ts'
import type { RequestMetrics } from './request-metrics.ts'
import type { ApiRequest } from './request.ts'
import { requestTimeout } from './request-termination.ts'
import { slowStepMs } from './slow-users.ts'

/** A step that takes more CPU time is reported. */
export const loopBlockMsMax = 100

/** The total of all reported steps of one request. A garbage collection during a step counts as part of it. */
export const requestBlockMsMax = 5_000

/** The log is limited under attack: blocks between two reports are counted in the next one. */
export const reportIntervalMs = 1_000

/** A step that takes less time is not examined. */
const examinedStepMs = slowStepMs
/** The CPU time is read so often, because that takes longer than many steps. */
const cpuReadingMs = 5

export interface LoopMonitorDeps {
  readonly clock: Clock
  readonly log: Log
  readonly requestMetrics: RequestMetrics
}

export class LoopMonitor {
  readonly #deps: LoopMonitorDeps
  readonly #blockedMs = new WeakMap<AbortSignal, number>()
  /** The last reading of the CPU time, and when it was read. */
  #cpuMs = 0
  #cpuReadMs = -Infinity
  #lastReportMs = -Infinity
  #unreported = 0

  constructor(deps: LoopMonitorDeps) {
    this.#deps = deps
  }

  /**
   * The result of one step of a request, of which only the synchronous part is measured. Fails when the request must not
   * continue.
   */
  step<T>(request: ApiRequest, work: () => MaybePromise<T>): MaybePromise<T> {
    const startMs = this.#begin()
    let cpuMs = 0
    let result: MaybePromise<T>
    try {
      result = work()
    } finally {
      cpuMs = this.#end(request, startMs)
    }
    return cpuMs === 0 ? result : this.#checked(request, result, cpuMs)
  }

  /** The result of the last step of a request, which is completed whatever it took. */
  lastStep<T>(request: ApiRequest, work: (request: ApiRequest) => MaybePromise<T>): MaybePromise<T> {
    const startMs = this.#begin()
    try {
      return work(request)
    } finally {
      this.#end(request, startMs)
    }
  }

  #checked<T>(request: ApiRequest, result: MaybePromise<T>, cpuMs: number): MaybePromise<T> {
    return thenMaybe(result, (known) => {
      this.#checkTotal(request, cpuMs)
      return known
    })
  }

  /** Returns the CPU time of the step, or 0 for a short one. */
  #end(request: ApiRequest, startMs: number): number {
    const { clock } = this.#deps
    if (clock.monotonicMs() - startMs < examinedStepMs) return 0
    const cpuMs = clock.cpuMs() - this.#cpuMs
    this.#report(request, cpuMs)
    return cpuMs
  }

  /** The CPU time of a step contains at most `cpuReadingMs` of what was before it. */
  #begin(): number {
    const { clock } = this.#deps
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#cpuReadMs >= cpuReadingMs) {
      this.#cpuMs = clock.cpuMs()
      this.#cpuReadMs = nowMs
    }
    return nowMs
  }

  #checkTotal({ context: { signal } }: ApiRequest, cpuMs: number): void {
    if (cpuMs >= loopBlockMsMax) {
      const totalMs = (this.#blockedMs.get(signal) ?? 0) + cpuMs
      this.#blockedMs.set(signal, totalMs)
      if (totalMs > requestBlockMsMax) throw requestTimeout()
    }
    // A short request is completed even if its client has gone, because an aborted one would be retried from the start.
    signal.throwIfAborted()
  }

  #report({ target, user, sender, slot }: ApiRequest, blockMs: number): void {
    slot?.stepDone(blockMs)
    if (blockMs < loopBlockMsMax) return
    const { clock, log, requestMetrics } = this.#deps
    const nowMs = clock.monotonicMs()
    const resource = target.kind === 'resource' ? target.resource.plural : ''
    // Names of resources of other servers are no labels of metrics.
    const isOwn = target.kind === 'resource' && !isForwardedKind(target.resource)
    requestMetrics.blocked(target.verb, isOwn ? resource : '', blockMs / 1_000)
    if (nowMs - this.#lastReportMs < reportIntervalMs) {
      this.#unreported++
      return
    }
    // Metrics have it at every level; most users of a terminal cannot act on it.
    log.debug('a request blocked the event loop', {
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

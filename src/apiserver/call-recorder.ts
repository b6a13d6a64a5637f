// CallRecorder: what is recorded of a call to the API server: its flow event with its stages, and the metrics of requests
// and responses.
import { settleMaybe, type MaybePromise } from '../base/async/maybe-promise.ts'
import { withCause } from '../base/observability/context.ts'
import { causeOf, type FlowRecorder } from '../base/observability/flow-recorder.ts'
import type { Clock } from '../base/time/clock.ts'
import { StatusError } from '../api/errors/status-error.ts'
import { Overloaded } from '../platform/http/listener.ts'
import { AccessDenied } from './authorization/forbidden-access.ts'
import type { Filter, Handler } from './filters/filter.ts'
import { statusErrorOf } from './http/error-status.ts'
import type { WatchForm } from './http/watch-pieces.ts'
import type { ServerMetrics } from './metrics/server-metrics.ts'
import {
  callNameOf,
  identifiedBy,
  isApplyRequest,
  presentedSubjectOf,
  resumedAt,
  subjectOf,
  unnamedSubjectOf,
} from './request/call-record.ts'
import type { RequestMetrics } from './request/request-metrics.ts'
import { RequestTermination } from './request/request-termination.ts'
import type { ApiRequest, Body, ResourceTarget, Target } from './request/request.ts'
import type { ApiResponse } from './request/response.ts'
import { TooManyRequests } from './request/too-many-requests.ts'
import { anonymousUser } from './request/user-names.ts'

export interface CallRecorderDeps {
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly requestMetrics: RequestMetrics
  readonly serverMetrics: Pick<ServerMetrics, 'caches' | 'filters'>
}

const noValues: readonly string[] = []

export class CallRecorder {
  readonly #deps: CallRecorderDeps

  /** Counts the events that watches send. */
  readonly eventsSent: WatchForm['onSent']

  constructor(deps: CallRecorderDeps) {
    this.#deps = deps
    this.eventsSent = (kind, events, bytes) => deps.serverMetrics.caches.sent(kind, events, bytes)
  }

  /** Records the call while `handle` handles it. Calls of paths that are no resources have no flow event. */
  record(request: ApiRequest, handle: Handler): MaybePromise<ApiResponse> {
    const { flow, clock, requestMetrics } = this.#deps
    const { target, sender, context, extension } = request
    const startMs = clock.monotonicMs()
    const filterTimes = { passedMs: startMs }
    if (target.kind === 'path' || target.isUnserved) return handle({ ...request, filterTimes })
    const subject = identifiedBy(request) === undefined ? subjectOf(target, request.body) : unnamedSubjectOf(target)
    const call = flow.record(
      'call',
      sender,
      'API Server',
      callNameOf(target, extension),
      subject,
      resumedAt(request),
      context.cause,
    )
    flow.startStages(call, startMs)
    requestMetrics.begin(target)
    const end = (code: number, result: string) => {
      flow.finish(call, result)
      this.#measure(request, target, code, startMs)
    }
    return settleMaybe(
      () => handle({ ...request, context: withCause(context, causeOf(call)), filterTimes }),
      (response) => {
        const code = 'status' in response ? response.status : 200
        end(code, String(code))
        return response
      },
      (error) => {
        this.#countRejection(request, target, error)
        if (error instanceof AccessDenied && error.user !== anonymousUser) flow.deny(call, error.user)
        if (context.signal.aborted && !(error instanceof StatusError)) end(500, 'given up')
        else {
          const { code, reason } = statusErrorOf(error)
          end(code, `${code} ${reason}`.trimEnd())
        }
        throw error
      },
    )
  }

  #measure(request: ApiRequest, target: ResourceTarget, code: number, startMs: number): void {
    const { clock, requestMetrics } = this.#deps
    const { query } = request
    const seconds = (clock.monotonicMs() - startMs) / 1000
    const dryRun = query.size === 0 ? noValues : query.getAll('dryRun')
    const fieldValidation = query.size === 0 ? '' : (query.get('fieldValidation') ?? '')
    const { span } = request.context.cause
    const isApply = target.verb === 'patch' && isApplyRequest(request)
    requestMetrics.end({ target, isApply, code, seconds, dryRun, fieldValidation, span, nowMs: clock.nowMs() })
  }

  #countRejection({ context }: ApiRequest, target: ResourceTarget, error: unknown): void {
    const { requestMetrics } = this.#deps
    const { reason } = context.signal as { readonly reason: unknown }
    const ended = [error, reason].find((each) => each instanceof RequestTermination)
    if (ended !== undefined) requestMetrics.terminated(target, ended.code)
    if (error instanceof TooManyRequests) requestMetrics.rejected(error.limit)
    else if (error instanceof Overloaded) requestMetrics.rejected('memory')
  }

  /** A filter has passed the request on. */
  passed(request: ApiRequest, { name, records }: Filter): void {
    const { flow, clock, serverMetrics } = this.#deps
    const { context, sender, claimedSender, filterTimes } = request
    if (records === 'authentication' && sender === claimedSender) flow.attribute(context.cause.event, sender)
    if (records !== undefined && records === identifiedBy(request)) this.#identify(request, request.body)
    const nowMs = records === undefined ? clock.monotonicMs() : flow.passStage(context.cause.event, records)
    if (filterTimes !== undefined) serverMetrics.filters.passed(name, filterTimes, nowMs)
  }

  /** Completes the records of the request with its body. */
  received(request: ApiRequest, body: Body): void {
    request.record?.setBody(body)
    if (request.target.kind === 'resource' && request.target.name === '') this.#identify(request, body)
  }

  #identify({ target, context }: ApiRequest, body: Body): void {
    if (target.kind === 'resource') this.#deps.flow.identify(context.cause.event, presentedSubjectOf(target, body))
  }

  /** Records the size of an encoded response. */
  responded(target: Target, bytes: number): void {
    if (target.kind === 'resource' && !target.isUnserved) this.#deps.requestMetrics.responded(target, bytes)
  }

  /** Measures the time until the initial events of a watch are sent; undefined if it has none. */
  watchListTimer({ target, query }: ApiRequest): (() => void) | undefined {
    if (target.kind === 'path' || target.verb !== 'watch' || query.get('sendInitialEvents') !== 'true') return undefined
    const { clock, requestMetrics } = this.#deps
    const startMs = clock.monotonicMs()
    return () => requestMetrics.watchListed(target, (clock.monotonicMs() - startMs) / 1000)
  }
}

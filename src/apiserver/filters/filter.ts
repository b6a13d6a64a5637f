// Filter: one step of the handler chain. It responds, throws a StatusError, or passes the request to the next handler.
import type { RequestStage } from '../../base/observability/stage-passages.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { ApiResponse } from '../request/response.ts'
import type { FilterName } from '../metrics/filter-metrics.ts'
import type { FilterDeps } from './policies.ts'
import type { ApiRequest } from '../request/request.ts'

export interface Filter {
  readonly name: FilterName
  /** The stage that the flow recorder records when a request has passed the filter. */
  readonly records?: RequestStage
  handle(request: ApiRequest, next: Handler, deps: FilterDeps): MaybePromise<ApiResponse>
}

export type Handler = (request: ApiRequest) => MaybePromise<ApiResponse>

export const defineFilter = (filter: Filter): Filter => filter

/** The filters in order, then the last handler. `onPassed` is called when a filter passes a request on. */
export function handlerChain(
  filters: readonly Filter[],
  deps: FilterDeps,
  end: Handler,
  onPassed: (request: ApiRequest, filter: Filter) => void = () => {},
): Handler {
  return filters.reduceRight<Handler>((next, filter) => {
    const nextHandler: Handler = (request) => {
      onPassed(request, filter)
      return next(request)
    }
    return (request) => filter.handle(request, nextHandler, deps)
  }, end)
}

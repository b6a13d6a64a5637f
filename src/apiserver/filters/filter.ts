// A station: one stop on the road of a request. It answers, throws a StatusError, or hands the request to the next.
import type { RequestStage } from '../../base/observability/flow-recorder.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { ApiResponse } from '../request/response.ts'
import type { Policies } from './policies.ts'
import type { ApiRequest } from '../request/request.ts'

export interface Filter {
  readonly name: string
  /** Under which name the flow recorder notes that a request has passed it. */
  readonly records?: RequestStage
  handle(request: ApiRequest, next: Handler, policies: Policies): MaybePromise<ApiResponse>
}

export type Handler = (request: ApiRequest) => MaybePromise<ApiResponse>

export const defineFilter = (station: Filter): Filter => station

/** The road: the stations in order, then the end of it. `passed` hears of each station that hands the request on. */
export function handlerChain(
  stations: readonly Filter[],
  policies: Policies,
  end: Handler,
  onPassed: (request: ApiRequest, station: RequestStage) => void = () => {},
): Handler {
  return stations.reduceRight<Handler>((next, station) => {
    const { records } = station
    const nextHandler: Handler =
      records === undefined
        ? next
        : (request) => {
            onPassed(request, records)
            return next(request)
          }
    return (request) => station.handle(request, nextHandler, policies)
  }, end)
}

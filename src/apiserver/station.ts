// A station: one stop on the road of a request. It answers, throws a StatusError, or hands the request to the next.
import type { StationName } from '../base/flow.ts'
import type { Soon } from '../base/when-known.ts'
import type { Answer } from './answer.ts'
import type { Policies } from './policies.ts'
import type { ApiRequest } from './request.ts'

export interface Station {
  readonly name: string
  /** Under which name the flow recorder notes that a request has passed it. */
  readonly records?: StationName
  handle(request: ApiRequest, next: Next, policies: Policies): Soon<Answer>
}

export type Next = (request: ApiRequest) => Soon<Answer>

export const defineStation = (station: Station): Station => station

/** The road: the stations in order, then the end of it. `passed` hears of each station that hands the request on. */
export function road(
  stations: readonly Station[],
  policies: Policies,
  end: Next,
  passed: (request: ApiRequest, station: StationName) => void = () => {},
): Next {
  return stations.reduceRight<Next>((next, station) => {
    const { records } = station
    const onward: Next =
      records === undefined
        ? next
        : (request) => {
            passed(request, records)
            return next(request)
          }
    return (request) => station.handle(request, onward, policies)
  }, end)
}

// A station: one stop on the road of a request. It answers, throws a StatusError, or hands the request to the next.
import type { Soon } from '../base/when-known.ts'
import type { Answer } from './answer.ts'
import type { Policies } from './policies.ts'
import type { ApiRequest } from './request.ts'

export interface Station {
  readonly name: string
  handle(request: ApiRequest, next: Next, policies: Policies): Soon<Answer>
}

export type Next = (request: ApiRequest) => Soon<Answer>

export const defineStation = (station: Station): Station => station

/** The road: the stations in order, then the end of it. */
export function road(stations: readonly Station[], policies: Policies, end: Next): Next {
  return stations.reduceRight<Next>((next, station) => (request) => station.handle(request, next, policies), end)
}

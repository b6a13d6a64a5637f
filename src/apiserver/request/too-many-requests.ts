// TooManyRequests: the error of a server that has no capacity left for a request. Clients retry after the time that it names.
import { RequestTermination } from './request-termination.ts'

/** Why a request was rejected, as a metric counts it. */
export type RequestLimit = 'fairness' | 'long-requests' | 'memory' | 'watch-selectors' | 'yaml'

const retryAfterSeconds = 1

export class TooManyRequests extends RequestTermination {
  readonly limit: RequestLimit

  constructor(limit: RequestLimit, message = 'Too many requests, please try again later.') {
    super(429, 'TooManyRequests', message, { retryAfterSeconds })
    this.limit = limit
  }
}

// The error of a server that has no capacity left for a request. Clients retry after the time that it names.
import { RequestTermination } from './request-termination.ts'

const retryAfterSeconds = 1

export const tooManyRequests = (message = 'Too many requests, please try again later.'): RequestTermination =>
  new RequestTermination(429, 'TooManyRequests', message, { retryAfterSeconds })

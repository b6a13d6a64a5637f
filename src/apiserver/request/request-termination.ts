// RequestTermination: the server ends a request to protect itself, because it has no capacity left or the time is up.
// Other errors with the same code, such as that of an eviction that a PodDisruptionBudget delays, are not terminations.
import { StatusError } from '../../api/errors/status-error.ts'

export class RequestTermination extends StatusError {}

export const requestTimeout = (): RequestTermination =>
  new RequestTermination(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {})

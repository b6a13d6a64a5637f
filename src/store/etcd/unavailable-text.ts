// unavailableText: why no member of etcd has executed a call, in one line for people.
import { errorText } from '../../base/observability/log.ts'
import type { GrpcError } from '../../wire/grpc/grpc-status.ts'

export interface EndpointFailure {
  /** `192.0.2.1:2379`. */
  readonly host: string
  readonly error: GrpcError
}

const reasonCharsMax = 120
const listed = new Intl.ListFormat('en', { type: 'conjunction' })

/** A member that responds with an error of its own runs, and misses the others. */
export function unavailableText(failures: readonly EndpointFailure[]): string {
  const running = failures.filter(({ error }) => isOwnError(error)).map(({ host }) => host)
  const missing = failures.filter(({ host }) => !running.includes(host))
  if (running.length > 0 && missing.length === 0)
    return `etcd has no leader: ${listed.format(running)} cannot elect one`
  if (running.length > 0)
    return `etcd has no quorum: of ${failures.length} known members, only ${listed.format(running)} ${running.length === 1 ? 'responds' : 'respond'}`
  return `no member of etcd responds: ${missing.map(({ host, error }) => `${host} (${reasonOf(error)})`).join(', ')}`
}

/** The second one is what a member returns that has waited for the others. */
const isOwnError = ({ details }: GrpcError): boolean =>
  details.startsWith('etcdserver: ') || details === 'context deadline exceeded'

function reasonOf(error: GrpcError): string {
  const text = errorText(error)
  if (text.includes('ECONNREFUSED')) return 'connection refused'
  return error.details.length > reasonCharsMax ? `${error.details.slice(0, reasonCharsMax - 1)}…` : error.details
}

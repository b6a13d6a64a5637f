// Reports what a listener sheds, in metrics and in the log. An episode is logged once, however many connections are
// shed.
import type { Clock } from '../../base/time/clock.ts'
import type { Log, LogLevel } from '../../base/observability/log.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import { shedReasons, type OnShed, type ShedReason } from './listen-limits.ts'

/** Reasons that an administrator can act on. */
const messages: Readonly<Partial<Record<ShedReason, readonly [LogLevel, string]>>> = {
  connections: ['warn', 'connections are rejected: too many are open'],
  'connections-per-client': ['warn', 'connections of a client are rejected: it has too many'],
  descriptors: ['error', 'connections cannot be accepted: no file descriptor is free'],
  memory: ['warn', 'requests are rejected: they hold too much memory'],
}

/** An episode ends when nothing has been shed for the same reason for this long. */
const quietMs = 60_000

export function shedReport({ log, metrics, clock }: { log: Log; metrics?: Metrics; clock: Clock }): OnShed {
  const total = metrics?.counter(
    'coxswain_listener_shed_total',
    'Connections and requests that were rejected or ended to enforce the limits of the listener.',
    ['reason'],
  )
  const bytesTotal = metrics?.counter(
    'coxswain_listener_shed_bytes_total',
    'Bytes of requests and responses that were held by rejected or ended connections and requests.',
    ['reason'],
  )
  // Initialized to 0, so that rates can be computed.
  for (const reason of shedReasons) total?.add({ reason }, 0)
  const lastMs = new Map<ShedReason, number>()
  return (reason, count, bytes) => {
    total?.add({ reason }, count)
    if (bytes > 0) bytesTotal?.add({ reason }, bytes)
    const nowMs = clock.monotonicMs()
    const isNew = nowMs - (lastMs.get(reason) ?? -Infinity) >= quietMs
    lastMs.set(reason, nowMs)
    const message = messages[reason]
    if (isNew && message !== undefined) log[message[0]](message[1])
  }
}

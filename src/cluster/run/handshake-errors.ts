// Counts failed TLS handshakes of the API server, under upstream's name.
import type { Metrics } from '../../base/observability/metrics.ts'
import type { OnShed } from '../../platform/limits/listen-limits.ts'

export function countHandshakeErrors(metrics: Metrics, report: OnShed): OnShed {
  const errors = metrics.counter(
    'apiserver_tls_handshake_errors_total',
    "[ALPHA] Number of requests dropped with 'TLS handshake error from' error",
  )
  errors.add({}, 0)
  return (reason, count, bytes) => {
    if (reason === 'handshake-failed') errors.add({}, count)
    report(reason, count, bytes)
  }
}

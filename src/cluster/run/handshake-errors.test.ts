import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { countHandshakeErrors } from './handshake-errors.ts'

test('failed handshakes are counted, and everything is reported', () => {
  const metrics = new Metrics()
  const reported: string[] = []
  const onShed = countHandshakeErrors(metrics, (reason, count) => void reported.push(`${reason} ${count}`))
  match(metrics.text(), /^apiserver_tls_handshake_errors_total 0$/m)
  onShed('handshake-failed', 2, 0)
  onShed('memory', 1, 7)
  match(metrics.text(), /^apiserver_tls_handshake_errors_total 2$/m)
  deepEqual(reported, ['handshake-failed 2', 'memory 1'])
})

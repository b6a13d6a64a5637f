import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { shedReport } from './shed-report.ts'

test('an episode is logged once and counted whole', async () => {
  const clock = new VirtualClock()
  const metrics = new Metrics()
  const lines: string[] = []
  const log = createLog({ clock, write: (line) => lines.push(line.replace(/^\S+ /, '').trim()), format: 'text' })
  const report = shedReport({ log, metrics, clock })
  for (let times = 0; times < 100; times++) {
    report('descriptors', 2, 0)
    report('idle', 1, 0) // is not logged
    await clock.advance('1s')
  }
  report('memory', 1, 5_000)
  const first = [
    'ERROR connections cannot be accepted: no file descriptor is free',
    'WARN requests are rejected: they hold too much memory',
  ]
  deepEqual(lines, first)
  await clock.advance('60s')
  report('descriptors', 1, 0)
  deepEqual(lines, [...first, first[0]])
  match(metrics.text(), /^coxswain_listener_shed_total\{reason="descriptors"\} 201$/m)
  match(metrics.text(), /^coxswain_listener_shed_total\{reason="handshakes"\} 0$/m)
  match(metrics.text(), /^coxswain_listener_shed_bytes_total\{reason="memory"\} 5000$/m)
})

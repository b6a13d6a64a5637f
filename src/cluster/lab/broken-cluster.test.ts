import { ok } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { startBroken } from './broken-cluster.ts'
import { readinessProbe } from './situations/containers.ts'

test('what happened in a lab is in the past of the machine, where kubectl computes ages', async () => {
  await using cluster = await startBroken(readinessProbe, { time: 'flowing' })
  ok(cluster.clock.nowMs() <= realClock.nowMs())
})

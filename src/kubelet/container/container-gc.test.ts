import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog, type Log } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { collectLostContainers } from './container-gc.ts'

test('lost containers are removed at the start and every minute, also after a failure', async () => {
  const clock = new VirtualClock()
  const controller = new AbortController()
  const calls: number[] = []
  const warnings: unknown[] = []
  const startMs = clock.nowMs()
  const runtime = {
    removeLostContainers: () => {
      calls.push(clock.nowMs() - startMs)
      return calls.length === 1 ? Promise.reject(new Error('the runtime is busy')) : Promise.resolve()
    },
  }
  const log: Log = { ...silentLog, warn: (_, fields) => void warnings.push(fields) }
  const running = collectLostContainers({ runtime, clock, log }, controller.signal)
  await clock.advance('2m')
  deepEqual(calls, [0, 60_000, 120_000])
  equal(warnings.length, 1)
  match(JSON.stringify(warnings), /the runtime is busy/)
  controller.abort(new Error('stopped'))
  await rejects(running, /stopped/)
})

test('a runtime that leaves no containers is not asked', async () => {
  const clock = new VirtualClock()
  await collectLostContainers({ runtime: {}, clock, log: silentLog }, new AbortController().signal)
  equal(clock.pendingTimers, 0)
})

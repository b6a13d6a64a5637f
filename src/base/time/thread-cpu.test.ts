import { ok } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from './clock.ts'
import { threadCpuMs } from './thread-cpu.ts'

test('it grows with the work of the thread, and not with the time that it waits', async () => {
  const waitMs = 200
  const startMs = threadCpuMs()
  await realClock.sleep(waitMs, new AbortController().signal)
  const waitedMs = threadCpuMs() - startMs
  ok(waitedMs < waitMs / 2, `${waitedMs} ms`)
  let sum = 0
  for (const before = threadCpuMs(); threadCpuMs() < before + 10;) sum++
  ok(sum > 0 && threadCpuMs() - startMs >= 10)
})

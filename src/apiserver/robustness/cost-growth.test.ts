// The cost of every computation on an object is at most proportional to its length, for every list and map of every
// kind, alone and combined, and for every type of patch. Costs are counted as visits of items, not measured as times.
import { deepEqual, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { CostOptions } from './cost-growth-thread.harness.ts'

const isLong = process.env['COXSWAIN_LONG'] === '1'

const options: CostOptions = {
  count: isLong ? 64 : 16,
  growthMax: 2.8,
  typeKinds: isLong ? undefined : ['LimitRange', 'Node', 'Service', 'ServiceAccount'],
}

interface Result {
  readonly found: readonly string[]
  readonly measured: number
}

test('the cost of every step grows at most linearly with its input', async () => {
  const thread = new Worker(new URL('cost-growth-thread.harness.ts', import.meta.url), { workerData: options })
  const [{ found, measured }] = (await once(thread, 'message')) as [Result]
  await thread.terminate()
  deepEqual(found, [])
  ok(measured > 1_000, `only ${measured} were measured`)
})

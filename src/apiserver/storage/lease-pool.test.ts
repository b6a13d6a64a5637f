import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { LeasePool } from './lease-pool.ts'

test('objects share a lease for a minute, after which their number is reported', async () => {
  const clock = new VirtualClock()
  const filled: number[] = []
  const pool = new LeasePool(new MemoryStore(clock), clock, (objects) => void filled.push(objects))
  const first = await Promise.all([pool.leaseFor(1_000), pool.leaseFor(1_000), pool.leaseFor(1_000)])
  const other = await pool.leaseFor(2_000)
  deepEqual([new Set(first).size, first.includes(other), filled], [1, false, []])
  await clock.advance('61s')
  await pool.leaseFor(1_000)
  deepEqual(filled, [3])
  await pool.leaseFor(2_000)
  deepEqual(filled, [3, 1])
})

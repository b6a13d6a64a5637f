import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../base/observability/metrics.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { MeasuredStore } from './measured-store.ts'
import { MemoryStore } from './memory-store.ts'
import type { Store } from './store.ts'

const { signal } = new AbortController()
const pods = { group: '', resource: 'pods' }
const value = new Uint8Array([1])
const key = '/registry/pods/default/a'

function measured(store?: Partial<Store>) {
  const clock = new VirtualClock()
  const metrics = new Metrics()
  const inner = Object.assign(new MemoryStore(clock), store)
  return { clock, metrics, inner, store: new MeasuredStore({ store: inner, clock, metrics, resourceOf: () => pods }) }
}

const countsIn = (metrics: Metrics): string[] =>
  [...metrics.text().matchAll(/_count\{operation="(\w+)",group="",resource="pods"\} (\d+)/g)].map(
    ([, operation, count]) => `${operation} ${count}`,
  )

test('reads and commits are counted by operation', async () => {
  const { store, metrics } = measured()
  const put = { kind: 'put', key, value } as const
  const made = await store.commit({ conditions: [{ key, modRevision: 0 }], operations: [put] }, signal)
  equal(made.kind, 'committed')
  await store.commit({ conditions: [{ key, modRevision: made.revision }], operations: [put] }, signal)
  await store.get(key, signal)
  await store.range({ start: '/registry/pods/', end: '' }, signal)
  await store.commit({ conditions: [], operations: [{ kind: 'delete', key }] }, signal)
  deepEqual(countsIn(metrics), ['create 1', 'update 1', 'get 1', 'list 1', 'delete 1'])
})

test('the duration of the store is measured, also of failures', async () => {
  const { clock, store, metrics } = measured({
    get: async () => {
      await clock.sleep(300, signal)
      throw new Error('gone')
    },
  })
  const failed = rejects(store.get(key, signal), /gone/)
  await clock.advance(300)
  await failed
  equal(/_sum\{operation="get",group="",resource="pods"\} 0.3$/m.test(metrics.text()), true)
})

test('a value under an old encryption key is reported by the measured store too', () => {
  equal(measured({ isStale: () => true }).store.isStale(key, value), true)
  equal(measured().store.isStale(key, value), false)
})

test('the size of the database is measured with each scrape, as long as the store reports it', async () => {
  let bytes: number | undefined = 4_096
  let isStuck = false
  const sizeBytes = () => (isStuck ? new Promise<never>(() => {}) : Promise.resolve(bytes))
  const { clock, metrics } = measured({ sizeBytes })
  const shown = async () => /storage_size_bytes\{.*\} .*/.exec(await metrics.scrape())?.[0]
  equal(await shown(), 'storage_size_bytes{storage_cluster_id="etcd-0"} 4096')
  bytes = 8_192
  equal(await shown(), 'storage_size_bytes{storage_cluster_id="etcd-0"} 8192')
  isStuck = true
  const late = shown()
  await clock.advance('2s')
  equal(await late, undefined)
  isStuck = false
  bytes = undefined
  equal(await shown(), undefined)
})

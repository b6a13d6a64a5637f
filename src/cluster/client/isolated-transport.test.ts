// A test shares no mutable object with its cluster: responses are frozen, requests are copied.
import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { configMap, type ConfigMap } from '../../api/core/v1/config-map.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import type { Mutable } from '../../client/mutable.ts'
import { startCluster } from '../testing/start-cluster.ts'
import type { TestCluster } from '../testing/test-cluster.ts'

const ctx = context(new AbortController().signal)
const isDeeplyFrozen = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen))

const metadata = { name: 'a' }

const received: [how: string, of: (cluster: TestCluster) => Promise<unknown>][] = [
  ['get', ({ client }) => client.of(configMap).get('a', 'default', ctx)],
  ['find', ({ client }) => client.of(configMap).find('a', 'default', ctx)],
  [
    'create',
    ({ client }) => client.of(configMap).create({ metadata: { name: 'b' }, data: { x: '1' } }, 'default', ctx),
  ],
  ['list', ({ client }) => client.of(configMap).list({ namespace: 'default' }, ctx)],
  ['patch', ({ client }) => client.of(configMap).patch('a', 'default', { data: { y: '2' } }, 'merge', ctx)],
  ['another user', (cluster) => cluster.as('root', ['system:masters']).of(configMap).get('a', 'default', ctx)],
  ['a document', ({ client }) => client.read('/api/v1', 'application/json', ctx)],
  [
    'a watch',
    async ({ client }) => {
      for await (const event of client.of(configMap).watch({ namespace: 'default', resourceVersion: '0' }, ctx))
        if (event.type === 'ADDED') return event
      return undefined
    },
  ],
]

test('objects that a test client receives are deeply frozen on every path', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  await cluster.client.of(configMap).create({ metadata, data: { x: '1' } }, 'default', ctx)
  for (const [how, of] of received) {
    const value = await of(cluster)
    ok(typeof value === 'object' && isDeeplyFrozen(value), how)
  }
})

test('a received object cannot be changed, and the object in the server stays unchanged', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  await maps.create({ metadata, data: { x: '1' } }, 'default', ctx)
  const live = (await maps.get('a', 'default', ctx)) as Mutable<ConfigMap>
  throws(() => ((live.data ??= {})['x'] = 'changed'), TypeError)
  throws(() => Reflect.set(live, 'data', {}) || Object.assign(live, { data: {} }), TypeError)
  deepEqual((await maps.get('a', 'default', ctx)).data, { x: '1' })
  const changed = structuredClone(live)
  changed.data = { x: 'changed' }
  await maps.update(changed, ctx)
  deepEqual((await maps.get('a', 'default', ctx)).data, { x: 'changed' })
})

test('an object that was sent is neither frozen nor retained by the server', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const data: Record<string, string> = { x: '1' }
  const labels: Record<string, string> = { a: 'b' }
  await maps.create({ metadata: { ...metadata, labels }, data }, 'default', ctx)
  data['x'] = labels['a'] = 'changed'
  const stored = await maps.get('a', 'default', ctx)
  deepEqual([stored.data, stored.metadata.labels], [{ x: '1' }, { a: 'b' }])
  const patch = { data: { nested: 'yes' } }
  await maps.patch('a', 'default', patch, 'merge', ctx)
  patch.data.nested = 'changed'
  equal((await maps.get('a', 'default', ctx)).data?.['nested'], 'yes')
  const update = structuredClone(stored) as Mutable<ConfigMap>
  update.data = data
  update.metadata.resourceVersion = undefined as never
  await maps.update(update, ctx)
  data['x'] = 'changed again'
  equal((await maps.get('a', 'default', ctx)).data?.['x'], 'changed')
})

test('an object is transferred as its JSON would be', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const spec = { containers: [{ name: 'c', image: 'i', args: undefined as never }] }
  const annotations = { at: new Date(0) as unknown as string }
  const made = await cluster.client.of(pod).create({ metadata: { ...metadata, annotations }, spec }, 'default', ctx)
  equal(made.metadata.annotations?.['at'], '1970-01-01T00:00:00.000Z')
  equal('args' in (made.spec.containers[0] ?? {}), false)
})

test('virtual time passes while a call waits for a slow store; a write that takes too long explains why', async () => {
  await using cluster = await startCluster()
  const maps = cluster.client.of(configMap)
  cluster.faults.slowStore(200)
  const before = cluster.clock.nowMs()
  await maps.create({ metadata }, 'default', ctx)
  ok(cluster.clock.nowMs() - before >= 200)
  const afterCreate = cluster.clock.nowMs()
  await maps.get('a', 'default', ctx)
  equal(cluster.clock.nowMs(), afterCreate, 'a read takes no time')
  await Promise.all(['b', 'c'].map((name) => maps.create({ metadata: { name } }, 'default', ctx)))
  await maps.delete('a', 'default', {}, ctx)
  await rejects(maps.create({ metadata: { name: 'b' } }, 'default', ctx), /already exists/)
  cluster.faults.slowStore(7_200_000)
  await rejects(maps.create({ metadata: { name: 'd' } }, 'default', ctx), ({ message }: Error) => {
    match(message, /^create configmaps did not end within 1h of the cluster's time: faults\.slowStore\(7200000\) /)
    match(message, /faults\.heal\(\) ends that$/)
    return true
  })
})

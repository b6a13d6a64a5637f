// The garbage collector in a cluster.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { configMap } from '../api/core/v1/config-map.ts'
import { event } from '../api/core/v1/event.ts'
import { node } from '../api/core/v1/node/node.ts'
import type { ApiObject } from '../api/meta/object.ts'
import type { Kind } from '../api/kind/kind.ts'
import { RecentMap } from '../base/collections/recent-map.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import { garbageCollector } from './garbage-collector.ts'
import type { ReconcileController, ReconcileTools } from './runtime/controller.ts'

const ctx = context(new AbortController().signal)
const owner = (object: ApiObject, extra: object = {}) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  uid: object.metadata.uid,
  ...extra,
})

test('the garbage collector: background, orphan, foreground, several owners, owners that never existed', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const make = (name: string, ...owners: object[]) =>
    maps.create({ metadata: { name, ownerReferences: owners as never } }, 'default', ctx)
  const names = async () =>
    (await maps.list({ namespace: 'default' }, ctx)).items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name !== 'kube-root-ca.crt')
  const settle = () => cluster.clock.advance('10s')

  const a = await make('a')
  const b = await make('b')
  await make('of-a', owner(a))
  const both = await make('of-both', owner(a), owner(b))
  await make('of-of-both', owner(both))
  await make('of-missing', owner({ ...a, metadata: { ...a.metadata, uid: 'never-was' } }))
  await settle()
  deepEqual(await names(), ['a', 'b', 'of-a', 'of-both', 'of-of-both'], 'an owner that never existed counts as deleted')
  await maps.delete('a', 'default', {}, ctx)
  await settle()
  deepEqual(await names(), ['b', 'of-both', 'of-of-both'])
  await maps.delete('b', 'default', { propagationPolicy: 'Orphan' }, ctx)
  await settle()
  deepEqual(await names(), ['of-both', 'of-of-both'], 'orphans stay')
  equal(
    (await maps.get('of-both', 'default', ctx)).metadata.ownerReferences?.some(({ uid }) => uid === b.metadata.uid) ??
      false,
    false,
  )

  const parent = await make('parent')
  const child = await make('child', owner(parent, { blockOwnerDeletion: true }))
  await maps.update({ ...child, metadata: { ...child.metadata, finalizers: ['test/hold'] } }, ctx)
  await maps.delete('parent', 'default', { propagationPolicy: 'Foreground' }, ctx)
  await settle()
  const held = await maps.get('parent', 'default', ctx)
  deepEqual(
    [held.metadata.finalizers, (await maps.get('child', 'default', ctx)).metadata.deletionTimestamp !== undefined],
    [['foregroundDeletion'], true],
    'the parent waits for its child',
  )
  await maps.patch('child', 'default', { metadata: { finalizers: null } }, 'merge', ctx)
  await settle()
  deepEqual(
    (await names()).filter((name) => name === 'parent' || name === 'child'),
    [],
  )
})

test('foreground deletion of owners in a cycle completes', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const first = await maps.create({ metadata: { name: 'first' } }, 'default', ctx)
  const blocking = { blockOwnerDeletion: true }
  const second = await maps.create(
    { metadata: { name: 'second', ownerReferences: [owner(first, blocking)] as never } },
    'default',
    ctx,
  )
  await maps.patch('first', 'default', { metadata: { ownerReferences: [owner(second, blocking)] } }, 'merge', ctx)
  await maps.delete('first', 'default', { propagationPolicy: 'Foreground' }, ctx)
  await cluster.clock.advance('1m')
  deepEqual(
    [await maps.find('first', 'default', ctx), await maps.find('second', 'default', ctx)],
    [undefined, undefined],
  )
})

test('an owner in another namespace is ignored; a cluster-scoped object with a namespaced owner is kept', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const there = await maps.create({ metadata: { name: 'there' } }, 'kube-system', ctx)
  await maps.create({ metadata: { name: 'here', ownerReferences: [owner(there)] as never } }, 'default', ctx)
  const nodes = cluster.client.of(node)
  await nodes.create({ metadata: { name: 'n', ownerReferences: [owner(there)] as never } }, '', ctx)
  await cluster.clock.advance('10s')
  equal(await maps.find('here', 'default', ctx), undefined)
  equal((await nodes.get('n', '', ctx)).metadata.name, 'n')
  const recorded = (await cluster.client.of(event).list({ namespace: 'default' }, ctx)).items.filter(
    ({ reason }) => reason === 'OwnerRefInvalidNamespace',
  )
  const message = (namespace: string) =>
    `ownerRef [v1/ConfigMap, namespace: ${namespace}, name: there, uid: ${there.metadata.uid}] does not exist in namespace "${namespace}"`
  deepEqual(
    recorded.map(({ type, involvedObject, source, message: text }) => [
      type,
      involvedObject.name,
      source?.component,
      text,
    ]),
    [
      ['Warning', 'here', 'garbage-collector-controller', message('default')],
      ['Warning', 'n', 'garbage-collector-controller', message('')],
    ],
  )
})

test('the owners of an object are looked up a few at a time, with pauses', async () => {
  const owners = 20_000
  const ownerReferences = Array.from({ length: owners }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: `owner-${index}`,
    uid: `uid-${index}`,
  }))
  const metadata = { name: 'child', namespace: 'default', uid: 'child', resourceVersion: '1', ownerReferences }
  const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata } as unknown as ApiObject
  const counts = { now: 0, most: 0, finds: 0, reads: 0, pauses: 0, deletes: 0 }
  const client = {
    metadataOf: () => ({
      async find() {
        counts.finds++
        counts.most = Math.max(counts.most, ++counts.now)
        await Promise.resolve()
        counts.now--
      },
    }),
    of: () => ({ delete: () => Promise.resolve(void counts.deletes++) }),
  }
  const tools = {
    client,
    state: new RecentMap<string, 'gone' | 'elsewhere'>(16),
    discovered: { kindFor: () => configMap, resource: () => configMap },
    cached: (_kind: Kind, key: string) => (key === 'default/child' ? child : undefined),
    all: () => (counts.reads++, [child]),
    dependents: () => [],
    pause: () => void counts.pauses++,
  }
  const { reconcile } = garbageCollector as ReconcileController
  await reconcile('configmaps:default/child', tools as unknown as ReconcileTools, ctx)
  deepEqual(counts, { now: 0, most: 64, finds: owners, reads: 1, pauses: Math.ceil(owners / 64), deletes: 1 })
})

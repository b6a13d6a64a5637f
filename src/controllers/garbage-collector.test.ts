// The garbage collector on a cluster of its own.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/context.ts'
import { configMap } from '../api/core/v1/config-map.ts'
import type { ApiObject } from '../api/object.ts'
import { startCluster } from '../cluster/start-cluster.ts'

const ctx = context(new AbortController().signal)
const owner = (object: ApiObject, extra: object = {}) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  uid: object.metadata.uid,
  ...extra,
})

test('the garbage collector: background, orphan, foreground, several owners, owners that never were', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const make = (name: string, ...owners: object[]) =>
    maps.create({ metadata: { name, ownerReferences: owners as never } }, 'default', ctx)
  const names = async () => (await maps.list({ namespace: 'default' }, ctx)).items.map(({ metadata }) => metadata.name)
  const settle = () => cluster.clock.advance('10s')

  const a = await make('a')
  const b = await make('b')
  await make('of-a', owner(a))
  const both = await make('of-both', owner(a), owner(b))
  await make('of-of-both', owner(both))
  await make('of-nobody', owner({ ...a, metadata: { ...a.metadata, uid: 'never-was' } }))
  await settle()
  deepEqual(await names(), ['a', 'b', 'of-a', 'of-both', 'of-of-both'], 'an owner that never was counts as gone')
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

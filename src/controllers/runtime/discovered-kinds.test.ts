// Controllers that take their kinds from discovery: unknown kinds, kinds that are added and removed, and discovery
// failures.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { namespace, type Namespace } from '../../api/core/v1/namespace.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { Client } from '../../client/client.ts'
import { garbageCollector } from '../garbage-collector.ts'
import { namespaceController } from '../namespace.ts'
import { kindNamed, start, FakeApi } from './fake-api.harness.ts'

const ctx = context(new AbortController().signal)
const configMaps = configMap as unknown as Kind
const definitions = customResourceDefinition as unknown as Kind
const widget = kindNamed('example.com', 'v1', 'Widget')
const widgetBeta = kindNamed('example.com', 'v1beta1', 'Widget')
const gadget = kindNamed('example.org', 'v1', 'Gadget')

const ownedBy = (object: ApiObject, extra: object = {}) => ({
  ownerReferences: [
    {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name: object.metadata.name,
      uid: object.metadata.uid,
      ...extra,
    },
  ],
})

function apiOf(...kinds: readonly Kind[]): FakeApi {
  const api = new FakeApi()
  api.served.push(...kinds.map((kind) => ({ kind })))
  return api
}

test('dependents of a kind that only discovery knows are deleted with their owner', async () => {
  const api = apiOf(configMaps, widget)
  const owner = api.add(widget, { name: 'owner' })
  api.add(configMaps, { name: 'child', ...ownedBy(owner) })
  api.add(widget, { name: 'small', ...ownedBy(owner) })
  await using running = start(garbageCollector, api)
  await running.settle()
  deepEqual([api.names(configMaps), api.names(widget)], ['child', 'owner small'])
  await new Client(api).of(widget).delete('owner', 'default', {}, ctx)
  await running.settle()
  deepEqual([api.names(configMaps), api.names(widget)], ['', ''])
})

test('an owner reference may name any served version', async () => {
  const api = apiOf(configMaps, widget, widgetBeta)
  const owner = api.add(widget, { name: 'owner' })
  const reference = ownedBy({ ...owner, apiVersion: widgetBeta.apiVersion })
  api.add(configMaps, { name: 'child', ...reference })
  api.add(configMaps, { name: 'stray', ...ownedBy({ ...owner, metadata: { ...owner.metadata, uid: 'another' } }) })
  await using running = start(garbageCollector, api)
  await running.settle()
  equal(api.names(configMaps), 'child')
})

test('a kind that is added later is collected from then on; before that, its dependents are kept', async () => {
  const api = apiOf(configMaps)
  const [gone, there] = ['gone', 'there'].map((name) => api.add(gadget, { name, uid: `uid-${name}` }))
  for (const owner of [gone, there] as ApiObject[])
    api.add(configMaps, { name: `of-${owner.metadata.name}`, ...ownedBy(owner) })
  await using running = start(garbageCollector, api)
  await new Client(api).of(gadget).delete('gone', 'default', {}, ctx)
  await running.settle('5m')
  equal(api.names(configMaps), 'of-gone of-there', 'owners of a kind that is not served cannot be checked')
  api.served.push({ kind: gadget })
  api.add(definitions, { name: 'gadgets.example.org' })
  await running.settle('1m')
  equal(api.names(configMaps), 'of-there')
  await new Client(api).of(gadget).delete('there', 'default', {}, ctx)
  await running.settle()
  equal(api.names(configMaps), '')
})

test('while discovery fails, wholly or for a group, the known kinds are still collected', async () => {
  for (const [fail, isFailure] of [
    [(api: FakeApi) => (api.isDown = true), true],
    [(api: FakeApi) => api.stale.add('example.com/v1'), false],
  ] as const) {
    const api = apiOf(configMaps, widget)
    const owner = api.add(widget, { name: 'owner' })
    api.add(configMaps, { name: 'child', ...ownedBy(owner) })
    await using running = start(garbageCollector, api)
    await running.settle()
    const failures = () => /resources_sync_error_total (\d+)/.exec(running.metrics.text())?.[1]
    equal(failures(), '0')
    fail(api)
    api.add(definitions, { name: 'another' })
    await running.settle()
    await new Client(api).of(widget).delete('owner', 'default', {}, ctx)
    await running.settle()
    equal(api.names(configMaps), '')
    equal(Number(failures()) > 0, isFailure, 'as upstream, a failure for one group is not counted')
  }
})

test('objects of a removed kind, and their dependents, are kept', async () => {
  const api = apiOf(configMaps, widget)
  const owner = api.add(widget, { name: 'owner' })
  api.add(configMaps, { name: 'child', ...ownedBy(owner) })
  await using running = start(garbageCollector, api)
  await running.settle()
  api.served.pop()
  api.add(definitions, { name: 'widgets.example.com' })
  await running.settle('1m')
  equal(api.names(configMaps), 'child')
})

test('an absent owner is read once, however many dependents it has', async () => {
  const api = apiOf(configMaps, widget)
  const never = { apiVersion: widget.apiVersion, kind: 'Widget', name: 'never', uid: 'never' }
  for (const name of ['a', 'b', 'c', 'd']) api.add(configMaps, { name, ownerReferences: [never] })
  await using running = start(garbageCollector, api)
  // Concurrent workers may read it more than once.
  await running.settle()
  api.requests.length = 0
  for (const name of ['e', 'f']) api.add(configMaps, { name, ownerReferences: [never] })
  await running.settle()
  equal(api.names(configMaps), '')
  deepEqual(api.requests, ['delete ConfigMap e', 'delete ConfigMap f'])
})

test('a foreground deletion continues after a restart of the collector', async () => {
  const api = apiOf(configMaps, widget)
  const owner = api.add(widget, {
    name: 'owner',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['foregroundDeletion'],
  })
  api.add(configMaps, { name: 'child', finalizers: ['test/hold'], ...ownedBy(owner, { blockOwnerDeletion: true }) })
  {
    await using running = start(garbageCollector, api)
    await running.settle()
    deepEqual([api.names(widget), api.names(configMaps)], ['owner*', 'child*'])
  }
  const child = api.find(configMaps, 'child')
  const { uid, resourceVersion } = child?.metadata ?? {}
  const patch = { metadata: { uid, resourceVersion, finalizers: null } }
  await new Client(api).of(configMaps).patch('child', 'default', patch, 'merge', ctx)
  deepEqual([api.names(widget), api.names(configMaps)], ['owner*', ''])
  await using again = start(garbageCollector, api)
  await again.settle()
  equal(api.names(widget), '')
})

const namespaces = namespace as unknown as Kind
const pods = pod as unknown as Kind
const oneByOne = kindNamed('example.net', 'v1', 'Bolt')

/** Adds the terminating namespace `team`. */
function ending(api: FakeApi): () => Namespace | undefined {
  const body = { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } }
  const held = { name: 'team', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['kubernetes'] }
  api.add(namespaces, held, '', body)
  return () => api.find(namespaces, 'team') as Namespace | undefined
}

test('the content of a terminating namespace is deleted, whatever its kinds, pods first', async () => {
  const api = apiOf(pods, widget)
  api.served.push({ kind: oneByOne, verbs: ['delete', 'get', 'list'] })
  const find = ending(api)
  for (const [kind, name] of [
    [widget, 'w'],
    [oneByOne, 'b'],
  ] as const)
    api.add(kind, { name }, 'team')
  api.add(pods, { name: 'p', finalizers: ['test/hold'] }, 'team')
  api.add(widget, { name: 'elsewhere' }, 'default')
  await using running = start(namespaceController, api)
  await running.settle()
  deepEqual([api.names(pods), api.names(widget), api.names(oneByOne)], ['p*', 'w elsewhere', 'b'])
  const { uid, resourceVersion } = api.find(pods, 'p', 'team')?.metadata ?? {}
  const patch = { metadata: { uid, resourceVersion, finalizers: null } }
  await new Client(api).of(pods).patch('p', 'team', patch, 'merge', ctx)
  await running.settle()
  deepEqual([api.names(pods), api.names(widget), api.names(oneByOne)], ['', 'elsewhere', ''])
  deepEqual(find()?.spec.finalizers, [])
  deepEqual(
    api.requests.filter((what) => what.startsWith('delete')),
    ['deletecollection Pod', 'deletecollection Widget', 'delete Bolt b'],
  )
})

test('a namespace is kept while discovery fails for a group, which its conditions name', async () => {
  const api = apiOf(widget)
  api.served.push({ kind: gadget })
  api.stale.add('example.org/v1')
  const find = ending(api)
  api.add(widget, { name: 'w' }, 'team')
  await using running = start(namespaceController, api)
  await running.settle()
  equal(api.names(widget), '', 'the content of known kinds is deleted')
  const [discovery] = find()?.status.conditions ?? []
  deepEqual(
    [discovery?.type, discovery?.status, discovery?.reason, discovery?.message],
    [
      'NamespaceDeletionDiscoveryFailure',
      'True',
      'DiscoveryFailed',
      'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: example.org/v1: stale GroupVersion discovery: example.org/v1',
    ],
  )
  api.stale.clear()
  await running.settle()
  deepEqual(find()?.spec.finalizers, [])
})

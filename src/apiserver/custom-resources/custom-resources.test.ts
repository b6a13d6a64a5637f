// Custom resources through the API: served while their definition is established, gone with it.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { startServer, type Harness } from '../server.harness.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const widgets = '/apis/example.com/v1/namespaces/default/widgets'

const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { size: { type: 'integer', default: 1 }, color: { type: 'string' } },
        },
        status: { type: 'object', properties: { ready: { type: 'boolean' } } },
      },
    },
  },
  ...more,
})

const definition = (versions: readonly object[] = [version('v1')], names: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', ...names },
    versions,
  },
})

const widget = (name: string, more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { color: 'red' },
  ...more,
})

/** Waits for a condition without time passing: what the server does by itself takes turns of the event loop only. */
async function until<T>(probe: () => Promise<T | undefined>): Promise<T> {
  for (let turns = 0; turns < 1_000; turns++) {
    const found = await probe()
    if (found !== undefined) return found
    await eventLoopTurn()
  }
  throw new Error('the condition was not reached')
}

const served = (server: Harness, path = widgets) =>
  until(async () => ((await server.call('GET', path)).status === 200 ? true : undefined))

async function withDefinition(given = definition()): Promise<Harness> {
  const server = await startServer()
  equal((await server.call('POST', definitions, given)).status, 201)
  await served(server)
  return server
}

test('a custom resource is served as soon as its definition is established, and gone with it', async () => {
  await using server = await withDefinition()
  equal((await server.call('POST', widgets, widget('a'))).status, 201)
  const list = (await server.call('GET', widgets)).body as { kind: string; items: { metadata: { name: string } }[] }
  deepEqual([list.kind, list.items.map(({ metadata }) => metadata.name)], ['WidgetList', ['a']])
  equal((await server.call('DELETE', `${definitions}/widgets.example.com`)).status, 200)
  await until(async () =>
    (await server.call('GET', `${definitions}/widgets.example.com`)).status === 404 ? true : undefined,
  )
  equal((await server.call('GET', widgets)).status, 404)
  equal(
    (await server.store.range({ start: '/registry/example.com/', end: '/registry/example.com0' }, signal)).items.length,
    0,
  )
})

const { signal } = new AbortController()

test('objects with finalizers block the deletion of their definition, and no object can be created meanwhile', async () => {
  await using server = await withDefinition()
  const finalizers = ['example.com/held']
  equal((await server.call('POST', widgets, widget('a', { metadata: { name: 'a', finalizers } }))).status, 201)
  await server.call('DELETE', `${definitions}/widgets.example.com`)
  const conditions = await until(async () => {
    const { status } = (await server.call('GET', `${definitions}/widgets.example.com`)).body as {
      status: { conditions: { type: string; reason: string }[] }
    }
    const found = status.conditions.find(({ type }) => type === 'Terminating')
    return found?.reason === 'InstanceDeletionInProgress' ? status.conditions : undefined
  })
  deepEqual(
    conditions.map(({ type }) => type),
    ['NamesAccepted', 'Established', 'Terminating'],
  )
  const refused = await server.call('POST', widgets, widget('b'))
  deepEqual(
    [refused.status, (refused.body as { message: string }).message],
    [403, `widgets.example.com "b" is forbidden: create not allowed while custom resource definition is terminating`],
  )
  await server.call('PATCH', `${widgets}/a`, { metadata: { finalizers: null } }, merge)
  await until(async () =>
    (await server.call('GET', `${definitions}/widgets.example.com`)).status === 404 ? true : undefined,
  )
})

test('watches get the deletion of each object of a deleted definition, and end with the definition', async () => {
  await using server = await withDefinition()
  const finalizers = ['example.com/held']
  await server.call('POST', widgets, widget('a'))
  await server.call('POST', widgets, widget('b', { metadata: { name: 'b', finalizers } }))
  const path = `${definitions}/widgets.example.com`
  const watches = [`${widgets}?watch=true&resourceVersion=0`, `${widgets}?watch=true&fieldSelector=metadata.name%3Da`]
  const ended = Promise.all(watches.map((each) => server.watch(each, 100)))
  await server.call('DELETE', path)
  const discovered = (await server.call('GET', '/apis/example.com/v1')).body as { resources: { verbs: string[] }[] }
  equal(discovered.resources[0]?.verbs.includes('create'), false)
  await until(async () => ((await server.call('GET', `${widgets}/a`)).status === 404 ? true : undefined))
  equal((await server.call('GET', `${widgets}/b`)).status, 200)
  await server.call('PATCH', `${widgets}/b`, { metadata: { finalizers: null } }, merge)
  const shown = (events: readonly unknown[]) =>
    (events as { type: string; object: { metadata: { name: string } } }[]).map(
      ({ type, object }) => `${type} ${object.metadata.name}`,
    )
  const [all = [], one = []] = await ended
  deepEqual(
    shown(all).filter((text) => text.endsWith(' a')),
    ['ADDED a', 'DELETED a'],
  )
  deepEqual(
    shown(all).filter((text) => text.endsWith(' b')),
    ['ADDED b', 'MODIFIED b', 'DELETED b'],
  )
  deepEqual(shown(one), ['ADDED a', 'DELETED a'])
  await until(async () => ((await server.call('GET', path)).status === 404 ? true : undefined))
  equal((await server.call('GET', widgets)).status, 404)
})

const merge = { 'content-type': 'application/merge-patch+json' }

test('an object can be read and written in every version, and is stored in one', async () => {
  await using server = await withDefinition(definition([version('v1'), version('v1beta1')]))
  const beta = '/apis/example.com/v1beta1/namespaces/default/widgets'
  await server.call('POST', beta, widget('a', { apiVersion: 'example.com/v1beta1' }))
  const read = async (path: string) => (await server.call('GET', path)).body as { apiVersion: string; spec: object }
  equal((await read(`${widgets}/a`)).apiVersion, 'example.com/v1')
  equal((await read(`${beta}/a`)).apiVersion, 'example.com/v1beta1')
  const item = await server.store.get('/registry/example.com/widgets/default/a', signal)
  const stored = JSON.parse(new TextDecoder().decode(item?.value)) as { apiVersion: string }
  equal(stored.apiVersion, 'example.com/v1')
})

test('a changed schema applies to objects that are stored already, and ends watches', async () => {
  await using server = await withDefinition()
  await server.call('POST', widgets, widget('a'))
  const watch = server.watch(`${widgets}?watch=true&resourceVersion=0`, 100)
  const path = `${definitions}/widgets.example.com`
  const weight = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { weight: { type: 'integer', default: 7 } } } },
    },
  }
  const patch = { spec: { versions: [version('v1', { schema: weight })] } }
  equal((await server.call('PATCH', path, patch, merge)).status, 200)
  deepEqual(
    (await watch).map((event) => (event as { type: string }).type),
    ['ADDED'],
  )
  const spec = await until(async () => {
    const { spec: now } = (await server.call('GET', `${widgets}/a`)).body as { spec: { weight?: number } }
    return now.weight === undefined ? undefined : now
  })
  deepEqual(spec, { weight: 7 })
})

test('a resource survives a restart of the server', async () => {
  const first = await withDefinition()
  await first.call('POST', widgets, widget('a'))
  await first[Symbol.asyncDispose]()
  await using second = await startServer(undefined, { store: first.store, clock: first.clock })
  equal((await second.call('GET', `${widgets}/a`)).status, 200)
})

test('two definitions that claim the same kind: the second is served when the first is gone', async () => {
  await using server = await withDefinition()
  const second = definition([version('v1')], { plural: 'gadgets', kind: 'Widget' })
  await server.call('POST', definitions, { ...second, metadata: { name: 'gadgets.example.com' } })
  const gadgets = widgets.replace('widgets', 'gadgets')
  equal((await server.call('GET', gadgets)).status, 404)
  await server.call('DELETE', `${definitions}/widgets.example.com`)
  await served(server, gadgets)
})

// Conversion by a webhook, through the API and over real connections.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { startHooked, webhookServer, type Hooks } from '../admission/plugins/webhooks/webhooks.harness.ts'
import type { Harness } from '../server.harness.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const stored = '/apis/example.com/v1/namespaces/default/widgets'
const beta = '/apis/example.com/v1beta1/namespaces/default/widgets'
const apply = { 'content-type': 'application/apply-patch+yaml' }
const merge = { 'content-type': 'application/merge-patch+json' }

interface Widget {
  apiVersion: string
  metadata: { name: string; labels?: Record<string, string>; managedFields?: { manager: string; fieldsV1: object }[] }
  host?: string
  port?: string
  address?: string
  size?: string
  color?: string
}

/** v1 has a host and a port, v1beta1 has both in one field. Each has a further field that the other does not have. */
function toVersion(widget: Widget, apiVersion: string): object {
  const { host, port, address, size: _, color: __, ...rest } = widget
  const [first = '', second = ''] = address?.split(':') ?? []
  return apiVersion === 'example.com/v1'
    ? { ...rest, apiVersion, host: host ?? first, port: port ?? second }
    : { ...rest, apiVersion, address: address ?? `${host}:${port}` }
}

const text = { type: 'string' }
const version = (name: string, properties: object, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', properties } },
  ...more,
})

const definition = ({ url, caBundle }: Pick<Hooks, 'url' | 'caBundle'>) => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `${url}/convert`, caBundle } },
    },
    versions: [
      version('v1', { host: text, port: text, size: { ...text, default: 'stored' } }),
      version(
        'v1beta1',
        { address: text, color: { ...text, default: 'red' } },
        { selectableFields: [{ jsonPath: '.address' }] },
      ),
    ],
  },
})

interface Converting {
  readonly server: Harness
  readonly hooks: Hooks
  /** While it is set, the webhook answers with it. */
  failure: string | undefined
  /** What the webhook waits for before it answers. */
  wait: () => Promise<void>
}

async function converting(stack: AsyncDisposableStack): Promise<Converting> {
  const state: Pick<Converting, 'failure' | 'wait'> = { failure: undefined, wait: () => Promise.resolve() }
  const hooks = stack.use(
    await webhookServer(async ({ request }) => {
      await state.wait()
      const { objects, desiredAPIVersion } = request as { objects: Widget[]; desiredAPIVersion: string }
      return state.failure === undefined
        ? {
            result: { status: 'Success' },
            convertedObjects: objects.map((each) => toVersion(each, desiredAPIVersion)),
          }
        : { result: { status: 'Failure', message: state.failure } }
    }),
  )
  const server = stack.use(await startHooked())
  equal((await server.call('POST', definitions, definition(hooks))).status, 201)
  for (let turns = 0; (await server.call('GET', stored)).status !== 200; turns++) {
    equal(turns < 1_000, true, 'the resource is not served')
    await eventLoopTurn()
  }
  return Object.assign(state, { server, hooks })
}

const widget = (name: string, more: object = {}) => ({
  apiVersion: 'example.com/v1beta1',
  kind: 'Widget',
  metadata: { name },
  address: 'localhost:80',
  ...more,
})

const storedWidget = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } })

test('objects are converted when they are written and read, with the defaults of the stored version', async () => {
  await using stack = new AsyncDisposableStack()
  const { server, hooks } = await converting(stack)
  const created = await server.call('POST', beta, widget('a'))
  deepEqual([created.status, created.body.address], [201, 'localhost:80'])
  const inStore = (await server.call('GET', `${stored}/a`)).body
  deepEqual([inStore.host, inStore.port, inStore.size], ['localhost', '80', 'stored'])
  const asked = hooks.asked.length
  deepEqual((await server.call('GET', `${beta}/a`)).body.color, undefined) // the webhook lost the default
  equal(hooks.asked.length, asked, 'a version of an object is converted once')
  match(hooks.asked[0]?.path ?? '', /^\/convert\?timeout=30s$/)
})

test('a list is converted in one review', async () => {
  await using stack = new AsyncDisposableStack()
  const { server, hooks } = await converting(stack)
  for (const name of ['a', 'b', 'c'])
    await server.call('POST', stored, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name },
      host: name,
      port: '1',
    })
  hooks.asked.length = 0
  const { items } = (await server.call('GET', beta)).body as { items: Widget[] }
  deepEqual(
    items.map(({ address }) => address),
    ['a:1', 'b:1', 'c:1'],
  )
  deepEqual(
    hooks.asked.map(({ request }) => request.objects.length),
    [3],
  )
})

test('fields are selected in the version of the request', async () => {
  await using stack = new AsyncDisposableStack()
  const { server } = await converting(stack)
  await server.call('POST', beta, widget('a'))
  await server.call('POST', beta, widget('b', { address: 'other:1' }))
  const selector = 'fieldSelector=address%3Dother:1'
  const { items } = (await server.call('GET', `${beta}?${selector}&limit=5`)).body as { items: Widget[] }
  deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['b'],
  )
  const labels = `labelSelector=${encodeURIComponent('!missing')}&limit=1`
  const { metadata } = (await server.call('GET', `${beta}?${labels}`)).body as { metadata: { continue?: string } }
  const rest = (await server.call('GET', `${beta}?${labels}&continue=${metadata.continue}`)).body as { items: Widget[] }
  deepEqual(
    rest.items.map((each) => each.metadata.name),
    ['b'],
  )
  const watched = server.watch(`${beta}?watch=true&${selector}`, 3)
  await server.call('PATCH', `${beta}/a`, { address: 'other:1' }, merge)
  await server.call('PATCH', `${stored}/b`, { host: 'moved' }, merge)
  deepEqual(
    ((await watched) as { type: string; object: Widget }[]).map(({ type, object }) => [
      type,
      object.metadata.name,
      object.address,
    ]),
    [
      ['ADDED', 'b', 'other:1'],
      ['ADDED', 'a', 'other:1'],
      ['DELETED', 'b', 'other:1'],
    ],
  )
})

test('while the webhook fails, the stored version is served and other versions get its error', async () => {
  await using stack = new AsyncDisposableStack()
  const state = await converting(stack)
  const { server } = state
  await server.call('POST', stored, {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a' },
    host: 'h',
    port: '1',
  })
  const watched = server.watch(`${beta}?watch=true&resourceVersion=0`, 2)
  state.failure = 'out of order'
  equal((await server.call('GET', stored)).status, 200)
  equal((await server.call('PATCH', `${stored}/a`, { host: 'i' }, merge)).status, 200)
  const message = 'conversion webhook for example.com/v1, Kind=Widget failed: out of order'
  for (const path of [beta, `${beta}/a`]) {
    const { status, body } = await server.call('GET', path)
    deepEqual([status, body.message, body.reason], [500, message, undefined])
  }
  const refused = await server.call('POST', beta, widget('b'))
  deepEqual(
    [refused.status, refused.body.message],
    [500, 'conversion webhook for example.com/v1beta1, Kind=Widget failed: out of order'],
  )
  deepEqual(await watched, [], 'the watch has ended without an error event')
  state.failure = undefined
  equal((await server.call('GET', `${beta}/a`)).body.address, 'i:1')
})

test('managers of other versions keep the fields that they own', async () => {
  await using stack = new AsyncDisposableStack()
  const { server } = await converting(stack)
  const applied = (manager: string, path: string, body: object, more = '') =>
    server.call('PATCH', `${path}/a?fieldManager=${manager}${more}`, body, apply)
  equal((await applied('one', beta, widget('a'))).status, 201)
  const host = (value: string) => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a' },
    host: value,
  })
  const conflict = await applied('two', stored, host('other'))
  deepEqual(
    [conflict.status, conflict.body.message],
    [409, 'Apply failed with 1 conflict: conflict with "one": .address'],
  )
  const forced = await applied('two', stored, host('other'), '&force=true')
  const { managedFields = [] } = (forced.body as Widget).metadata
  deepEqual(
    managedFields.map(({ manager, fieldsV1 }) => [manager, fieldsV1]),
    [['two', { 'f:host': {} }]],
  )
})

test('an update that cannot convert the fields of other managers leaves none with an owner; an apply fails', async () => {
  await using stack = new AsyncDisposableStack()
  const state = await converting(stack)
  const { server } = state
  await server.call('POST', beta, widget('a'))
  state.failure = 'out of order'
  const host = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, host: 'other' }
  equal((await server.call('PATCH', `${stored}/a?fieldManager=two`, host, apply)).status, 500)
  const { status, body } = await server.call('PATCH', `${stored}/a`, { metadata: { labels: { x: '1' } } }, merge)
  deepEqual([status, (body as Widget).metadata.managedFields], [200, undefined])
})

test('calls are counted and recorded', async () => {
  await using stack = new AsyncDisposableStack()
  const state = await converting(stack)
  const { server } = state
  await server.call('POST', beta, widget('a'))
  const metrics = String((await server.call('GET', '/metrics')).body)
  match(metrics, /apiserver_conversion_webhook_request_total\{failure_type="",result="success"\} 2/)
  match(
    metrics,
    /apiserver_crd_conversion_webhook_duration_seconds_count\{crd_name="widgets.example.com",from_version="v1beta1",succeeded="true",to_version="v1"\} 1/,
  )
  const calls = [...server.flow.events()].filter(({ to }) => to === 'Webhook/widgets.example.com')
  deepEqual(
    calls.map(({ what, outcome, object }) => [what, outcome, object?.name]),
    [
      ['convert widgets to v1', 'converted', 'a'],
      ['convert widgets to v1beta1', 'converted', 'a'],
    ],
  )
  const created = [...server.flow.events()].find(({ what }) => what === 'create widgets')
  equal(created?.object?.name, 'a')
  deepEqual(
    calls.map(({ cause }) => cause.event),
    [created?.id, created?.id],
    'the request is the cause of its conversions',
  )
})

test('a webhook that does not respond fails after its timeout', async () => {
  await using stack = new AsyncDisposableStack()
  const state = await converting(stack)
  const { server, hooks } = state
  await server.call('POST', stored, { ...storedWidget('a'), host: 'h', port: '1' })
  const silent = Promise.withResolvers<void>()
  stack.defer(() => silent.resolve())
  state.wait = () => silent.promise
  const asked = hooks.asked.length
  const reading = server.call('GET', `${beta}/a`)
  while (hooks.asked.length === asked) await eventLoopTurn()
  await server.clock.advance(29_999)
  equal(await Promise.race([reading, eventLoopTurn().then(() => 'pending')]), 'pending')
  await server.clock.advance(1)
  const { status, body } = await reading
  equal(status, 500)
  equal(
    body.message,
    `conversion webhook for example.com/v1, Kind=Widget failed: Post "${hooks.url}/convert?timeout=30s": context deadline exceeded`,
  )
})

test('a list of more than 500 objects is converted in several reviews', async () => {
  await using stack = new AsyncDisposableStack()
  const { server, hooks } = await converting(stack)
  const names = Array.from({ length: 501 }, (_, index) => `w${String(index).padStart(3, '0')}`)
  for (const name of names) await server.call('POST', stored, { ...storedWidget(name), host: name, port: '1' })
  hooks.asked.length = 0
  const { items } = (await server.call('GET', beta)).body as { items: Widget[] }
  deepEqual(
    items.map(({ address }) => address),
    names.map((name) => `${name}:1`),
  )
  deepEqual(
    hooks.asked.map(({ request }) => request.objects.length),
    [500, 1],
  )
})

test('the wait for a webhook does not count as blocking the event loop', async () => {
  await using stack = new AsyncDisposableStack()
  const state = await converting(stack)
  const { server } = state
  state.wait = () => server.clock.advance(200)
  equal((await server.call('POST', beta, widget('a'))).status, 201)
  equal((await server.call('PATCH', `${stored}/a`, { host: 'b' }, merge)).status, 200)
  equal((await server.call('PATCH', `${beta}/a`, { address: 'c:1' }, merge)).status, 200)
  equal(
    (await server.call('PUT', `${stored}/a`, { ...(await server.call('GET', `${stored}/a`)).body, host: 'd' })).status,
    200,
  )
  const applied = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, size: 's' }
  equal((await server.call('PATCH', `${stored}/a?fieldManager=m`, applied, apply)).status, 200)
  equal((await server.call('GET', beta)).status, 200)
  const metrics = String((await server.call('GET', '/metrics')).body)
  equal(/coxswain_request_loop_block_seconds_count.*widgets.*/.exec(metrics)?.[0], undefined)
})

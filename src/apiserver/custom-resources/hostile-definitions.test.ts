// Hostile definitions, objects and policies: their validation takes long, and the server serves other requests meanwhile.
// Time passes with every check of a slice, so the number of slices does not depend on the machine.
import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { startServer, type Harness, type HarnessResponse } from '../server.harness.ts'

class CheckedClock extends VirtualClock {
  #readings = 0

  override monotonicMs(): number {
    return this.#readings++
  }
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const widgets = '/apis/example.com/v1/widgets'

const definition = (properties: object) => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
      },
    ],
  },
})

const many = (count: number, property: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, property(index)]))

const widget = (spec: object) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec })

/** Counts the requests of another client that are served, one after the other, while a request is handled. */
async function servedMeanwhile(server: Harness, request: Promise<HarnessResponse>) {
  const state = { isDone: false }
  const handled = request.finally(() => (state.isDone = true))
  let served = 0
  for (; !state.isDone; served++) {
    equal((await server.call('GET', '/version')).status, 200)
    await eventLoopTurn()
  }
  return { response: await handled, served }
}

const text = (length: number) => Array.from({ length }, (_, index) => 'ab'[((index * index) >> 3) & 1]).join('')

const rows: readonly (readonly [
  what: string,
  properties: object,
  spec: object | undefined,
  status: number,
  servedMin: number,
])[] = [
  [
    'a definition with many patterns',
    many(300, (i) => ({ type: 'string', pattern: `^[a-z${i}]+$` })),
    undefined,
    201,
    50,
  ],
  [
    'a definition with many rules',
    many(300, (i) => ({ type: 'integer', 'x-kubernetes-validations': [{ rule: `self > ${i}` }] })),
    undefined,
    201,
    100,
  ],
  [
    'a definition with many defaults',
    many(300, () => ({ type: 'object', default: { a: 'b' }, properties: { a: { type: 'string' } } })),
    undefined,
    201,
    100,
  ],
  [
    'an object with many patterns',
    many(300, (i) => ({ type: 'string', pattern: `^[a-z${i}]+$` })),
    many(300, () => 'abc'),
    201,
    30,
  ],
  [
    'an object with long texts and patterns with many alternatives',
    many(5, (i) => ({ type: 'string', pattern: `(a|b)*a(a|b){20${i}}c$` })),
    many(5, () => text(3_000)),
    422,
    20,
  ],
  [
    'an object with expensive rules',
    {
      list: {
        type: 'array',
        maxItems: 50,
        items: { type: 'integer' },
        'x-kubernetes-validations': [1, 2, 3, 4].map((i) => ({ rule: `self.all(x, self.all(y, x + y + ${i} >= 0))` })),
      },
    },
    { list: Array.from({ length: 50 }, (_, index) => index) },
    201,
    100,
  ],
]
for (const [what, properties, spec, status, servedMin] of rows)
  test(`other requests are served while ${what} is validated`, async () => {
    await using server = await startServer(undefined, { clock: new CheckedClock() })
    const creating = server.call('POST', definitions, definition(properties))
    if (spec !== undefined) equal((await creating).status, 201)
    const request = spec === undefined ? creating : server.call('POST', widgets, widget(spec))
    const { response, served } = await servedMeanwhile(server, request)
    equal(response.status, status, JSON.stringify(response.body).slice(0, 500))
    ok(served >= servedMin, `${served} requests were served`)
  })

test('other requests are served while policies evaluate expensive expressions and variables', async () => {
  await using server = await startServer(undefined, { clock: new CheckedClock() })
  const registration = '/apis/admissionregistration.k8s.io/v1'
  const keys = 'object.data.all(x, object.data.all(y, x != "" && y != ""))'
  const policy = {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: {
        resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      },
      variables: [{ name: 'all', expression: keys }],
      validations: [{ expression: `variables.all && ${keys}` }, { expression: '!variables.all', message: 'no' }],
    },
  }
  const binding = { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'] } }
  equal((await server.call('POST', `${registration}/validatingadmissionpolicies`, policy)).status, 201)
  equal((await server.call('POST', `${registration}/validatingadmissionpolicybindings`, binding)).status, 201)
  const object = { metadata: { name: 'm' }, data: many(40, () => 'x') }
  const request = server.call('POST', '/api/v1/namespaces/default/configmaps', object)
  const { response, served } = await servedMeanwhile(server, request)
  equal(response.status, 422)
  match(String(response.body.message), /denied request: no$/)
  ok(served >= 50, `${served} requests were served`)
})

const nested = (levels: number): object =>
  levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } }

test('a schema that is nested too deeply is rejected', async () => {
  await using server = await startServer()
  const { status, body } = await server.call('POST', definitions, definition({ a: nested(600) }))
  equal(status, 400)
  match(String(body.message), /nested|depth/)
})

test('an object is validated against a huge enumeration', async () => {
  await using server = await startServer()
  const values = Array.from({ length: 100_000 }, (_, index) => `v${index}`)
  const created = await server.call('POST', definitions, definition({ a: { type: 'string', enum: values } }))
  equal(created.status, 201)
  equal((await server.call('POST', widgets, widget({ a: 'v99999' }))).status, 201)
  equal((await server.call('POST', widgets, widget({ a: 'w' }))).status, 422)
})

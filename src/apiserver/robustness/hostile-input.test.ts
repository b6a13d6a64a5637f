// Bodies and parameters that no well-behaved client sends: rejected with a Status, never a 5xx, and nothing partly
// written.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../../api/kinds.ts'
import { attackWithMutations } from './hostile-attack.harness.ts'
import { startServer, type Harness } from '../server.harness.ts'

const deployments = '/apis/apps/v1/namespaces/default/deployments'
const pods = '/api/v1/namespaces/default/pods'
const patchTypes = ['json-patch', 'merge-patch', 'strategic-merge-patch'].map((type) => `application/${type}+json`)

const applyType = 'application/apply-patch+yaml'

/** The body as a configuration of the target object, so that more than its kind is validated. */
function asApplied(body: unknown, target: string, name: string): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const type = target.endsWith('/scale')
    ? { apiVersion: 'autoscaling/v1', kind: 'Scale' }
    : target.includes('/deployments/')
      ? { apiVersion: 'apps/v1', kind: 'Deployment' }
      : { apiVersion: 'v1', kind: 'Pod' }
  return { metadata: { name }, ...type, ...body }
}

const bodies: unknown[] = [
  ...[null, 1, 'x', true, [], [null], [1], ['x'], {}],
  ...[null, 1, []].map((metadata) => ({ metadata })),
  ...[
    { labels: 1 },
    { labels: { a: 1 } },
    { finalizers: [null, 1] },
    { ownerReferences: [null, {}] },
    { name: '__proto__' },
  ].map((metadata) => ({ metadata })),
  JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}'),
  ...[
    1,
    null,
    { replicas: 'x' },
    { template: 1 },
    { template: { spec: { containers: 1 } } },
    { template: { spec: { containers: [1, null, {}] } } },
    { $retainKeys: [1] },
  ].map((spec) => ({ spec })),
  ...[
    { target: 1 },
    { target: null },
    { preconditions: 1 },
    { gracePeriodSeconds: 'x' },
    { $patch: 'wat' },
    { '$setElementOrder/spec': [1] },
  ],
  ...[
    { op: 1 },
    { op: 'add' },
    { op: 'add', path: 1 },
    { op: 'move', path: '/a', from: 1 },
    { op: 'remove', path: '' },
    { op: 'add', path: '/metadata/labels/x/y', value: 1 },
  ].map((operation) => [operation]),
]

const queries = [
  'limit=x',
  'limit=-1',
  'continue=!!',
  'continue=e30',
  'resourceVersion=-1',
  'resourceVersionMatch=Exact',
  'resourceVersionMatch=Exact&resourceVersion=x',
  'watch=1&timeoutSeconds=x&resourceVersion=1',
  'labelSelector=((',
  'fieldSelector==',
  'gracePeriodSeconds=x',
]

/** Upstream returns 500 for a configuration that does not fit its type. */
const upstreams500 = /^failed to create typed patch object /

/** A server with a Deployment and a Pod, and a call that records violations. */
async function besieged() {
  const server: Harness = await startServer()
  const labels = { a: 'b' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await server.call('POST', deployments, {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: labels }, template },
  })
  await server.call('POST', pods, { metadata: { name: 'p' }, spec: template.spec })
  const broken: string[] = []
  const attack = async (method: string, target: string, body?: unknown, type = 'application/json') => {
    const answer = await server.call(method, target, body === undefined ? undefined : JSON.stringify(body), {
      'content-type': type,
    })
    if (answer.status >= 500 && !upstreams500.test(answer.body.message))
      broken.push(`${answer.status} ${method} ${target} ${JSON.stringify(body)} ${type}: ${answer.body.message}`)
    if (answer.status >= 400 && answer.body.kind !== 'Status')
      broken.push(`${method} ${target} is refused without a Status`)
  }
  return { server, broken, attack }
}

test('bodies of wrong shapes for every verb', async () => {
  const { server, broken, attack } = await besieged()
  await using _server = server
  const parts = [
    `${deployments}/web`,
    `${deployments}/web/status`,
    `${deployments}/web/scale`,
    `${pods}/p`,
    `${pods}/p/status`,
    '/api/v1/namespaces/default/finalize',
  ]
  for (const body of bodies) {
    for (const target of parts) {
      await attack('PUT', target, body)
      for (const type of patchTypes) await attack('PATCH', target, body, type)
      for (const name of ['web', 'p', 'default'])
        await attack('PATCH', `${target}?fieldManager=x&force=1`, asApplied(body, target, name), applyType)
    }
    await attack('POST', `${pods}/p/binding`, body)
    await attack('DELETE', `${deployments}/none`, body)
  }
  // Valid options in a body replace the dry run of the query, so the object is deleted.
  for (const body of bodies) await attack('DELETE', `${deployments}/web?dryRun=All`, body)
  deepEqual(broken, [])
})

test('the same bodies, and nearly empty ones, as new objects of every kind', async () => {
  const { server, broken, attack } = await besieged()
  await using _server = server
  const sparse = [
    { metadata: { name: 'x' } },
    { metadata: { name: 'x' }, spec: {} },
    { metadata: { name: 'x' }, status: {} },
  ]
  for (const { group, version, namespaced, plural } of kinds)
    for (const body of [...bodies, ...sparse]) {
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      await attack('POST', `${root}${namespaced ? '/namespaces/default' : ''}/${plural}?dryRun=All`, body)
    }
  deepEqual(broken, [])
  ok(kinds.length > 50)
})

const podOf = (container: string) => `{"metadata":{"name":"x"},"spec":{"containers":[${container}]}}`
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const protobuf = 'application/vnd.kubernetes.protobuf'

/** Requests, and the statuses that are accepted. */
const raw: [why: string, type: string, body: Uint8Array, statuses: number[]][] = [
  ['invalid UTF-8', 'application/json', Uint8Array.of(0x22, 0xff, 0x22), [400]],
  ['a lone surrogate', 'application/json', bytesOf(podOf(String.raw`{"name":"\ud800","image":"i"}`)), [422]],
  ['truncated text', 'application/json', bytesOf('{"metadata":{"name":"x'), [400]],
  ['a quantity with a huge exponent', 'application/json', bytesOf(amountOf('1e999999999')), [201, 422]],
  ['a quantity with a tiny exponent', 'application/json', bytesOf(amountOf('1e-999999999')), [201, 422]],
  ['a quantity of a hundred thousand digits', 'application/json', bytesOf(amountOf('9'.repeat(100_000))), [400]],
  [
    'a number beyond the range of a double',
    'application/json',
    bytesOf(podOf('{"name":"a","image":"i","ports":[{"containerPort":1e999}]}')),
    [400],
  ],
  [
    'an integer beyond 2^63',
    'application/json',
    bytesOf('{"metadata":{"name":"x","generation":9223372036854775808}}'),
    [400],
  ],
  ['nested lists', 'application/json', bytesOf(`{"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`), [400]],
  ['nested objects', 'application/json', bytesOf(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`), [400]],
  [
    'nested objects with a duplicate key in the innermost',
    'application/json',
    bytesOf(`${'{"a":'.repeat(200_000)}{"b":1,"b":1}${'}'.repeat(200_000)}`),
    [400],
  ],
  ['nested YAML', 'application/yaml', bytesOf(`x: ${'['.repeat(20_000)}${']'.repeat(20_000)}`), [400, 422]],
  [
    'YAML with exponentially expanding aliases',
    'application/yaml',
    bytesOf(`a: &a [x,x,x,x,x,x,x,x,x]\n${unfolding()}`),
    [400],
  ],
  ['truncated protobuf', protobuf, Uint8Array.of(0x6b, 0x38, 0x73, 0, 0x0a, 200, 1), [400]],
  ['protobuf of an unknown kind', protobuf, Uint8Array.of(0x6b, 0x38, 0x73, 0), [400]],
  [
    'protobuf with a length beyond the body',
    protobuf,
    Uint8Array.of(0x6b, 0x38, 0x73, 0, 0x12, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1),
    [400],
  ],
]

function amountOf(text: string): string {
  return podOf(`{"name":"a","image":"i","resources":{"requests":{"cpu":"${text}"}}}`)
}

function unfolding(): string {
  const names = 'abcdefghi'.split('')
  return names
    .slice(1)
    .map((name, index) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${names[index]}`).join(',')}]`)
    .join('\n')
}

for (const [why, type, body, statuses] of raw)
  test(`a body of ${why}`, async () => {
    await using server = await startServer()
    const { status } = await server.call('POST', `${pods}?dryRun=All`, body, { 'content-type': type })
    ok(statuses.includes(status), `answered ${status}`)
  })

for (const depth of [900, 2_400, 9_000, 200_000])
  test(`patches and raw JSON that are nested ${depth} deep`, async () => {
    const { server, broken } = await besieged()
    await using _server = server
    const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const send = async (method: string, target: string, body: string, type: string) => {
      const { status } = await server.call(method, target, body, { 'content-type': type })
      if (status >= 500) broken.push(`${status} ${method} ${type}`)
    }
    const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions'
    await send('POST', revisions, `{"metadata":{"name":"r"},"revision":1,"data":${deep}}`, 'application/json')
    for (const type of patchTypes) await send('PATCH', `${deployments}/web`, deep, type)
    await send('PATCH', `${deployments}/web`, `[{"op":"add","path":"/spec/x","value":${deep}}]`, patchTypes[0] ?? '')
    deepEqual(broken, [])
  })

test('invalid query parameters', async () => {
  const { server, broken, attack } = await besieged()
  await using _server = server
  for (const query of queries) {
    await attack('GET', `${deployments}?${query}`)
    await attack('DELETE', `${deployments}/web?dryRun=All&${query}`)
  }
  await attack('DELETE', '/api/v1/namespaces')
  deepEqual(broken, [])
})

const mutationsQuick = 600

test('random mutations of valid bodies, as objects, updates, patches and malformed bytes', async () => {
  const { server, broken } = await besieged()
  await using _server = server
  await attackWithMutations(server, mutationsQuick, broken)
  deepEqual(broken, [])
  equal((await server.call('GET', `${deployments}/web`)).status, 200, 'the server still serves')
})

const bombs: [why: string, body: string][] = [
  ['exponentially expanding aliases', `a: &a [x,x,x,x,x,x,x,x,x]\n${aliases('abcdefgh')}`],
  ['a document that is not a map', '- 1\n- 2\n'],
  ['tabs and tags', 'a: !!binary "x"\n\tb: 1\n'],
  ['a merge key that refers to itself', 'a: &a\n  <<: *a\n'],
  ['great depth', '['.repeat(20_000)],
]

function aliases(names: string): string {
  return names
    .slice(1)
    .split('')
    .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${names[index]}`).join()}]`)
    .join('\n')
}
for (const [why, body] of bombs)
  test(`YAML: ${why}`, async () => {
    const { server } = await besieged()
    await using _server = server
    const answer = await server.call('POST', pods, body, { 'content-type': 'application/yaml' })
    equal(answer.status, 400)
  })

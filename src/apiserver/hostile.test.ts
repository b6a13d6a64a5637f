// Bodies and parameters that no well-meaning client sends: refused with a Status, never a 5xx, nothing half-written.
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../api/kinds.ts'
import { startServer, type Harness } from './server.harness.ts'

const deployments = '/apis/apps/v1/namespaces/default/deployments'
const pods = '/api/v1/namespaces/default/pods'
const patchTypes = ['json-patch', 'merge-patch', 'strategic-merge-patch'].map((type) => `application/${type}+json`)

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
  'watch=1&timeoutSeconds=x&resourceVersion=x',
  'labelSelector=((',
  'fieldSelector==',
  'gracePeriodSeconds=x',
]

/** A server with a Deployment and a Pod, and a call that keeps what must not happen. */
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
    if (answer.status >= 500)
      broken.push(`${answer.status} ${method} ${target} ${JSON.stringify(body)} ${type}: ${answer.body.message}`)
    if (answer.status >= 400 && answer.body.kind !== 'Status')
      broken.push(`${method} ${target} is refused without a Status`)
  }
  return { server, broken, attack }
}

test('bodies of wrong shapes, on every way in', async () => {
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
    }
    await attack('POST', `${pods}/p/binding`, body)
    await attack('DELETE', `${deployments}/none`, body)
    await attack('DELETE', `${deployments}/web?dryRun=All`, body)
  }
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

test('parameters that mean nothing', async () => {
  const { server, broken, attack } = await besieged()
  await using _server = server
  for (const query of queries) {
    await attack('GET', `${deployments}?${query}`)
    await attack('DELETE', `${deployments}/web?dryRun=All&${query}`)
  }
  await attack('DELETE', '/api/v1/namespaces')
  deepEqual(broken, [])
})

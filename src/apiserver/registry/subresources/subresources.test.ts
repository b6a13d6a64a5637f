// Subresources: evictions within a budget, partial updates of a pod, approval of certificates, and streams to kubelets.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startServer, type Harness } from '../../server.harness.ts'

const pods = '/api/v1/namespaces/default/pods'
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
const merge = { 'content-type': 'application/merge-patch+json' }
const labels = { app: 'web' }
const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }]

async function runningPod(server: Harness, name: string, ready = 'True'): Promise<void> {
  await server.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  await server.call('POST', pods, { metadata: { name, labels }, spec: { nodeName: 'n', containers } })
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] }
  await server.call('PATCH', `${pods}/${name}/status`, { status }, merge)
}

async function budget(server: Harness, name: string, status: object): Promise<void> {
  await server.call('POST', budgets, {
    metadata: { name },
    spec: { minAvailable: 2, selector: { matchLabels: labels } },
  })
  await server.call('PATCH', `${budgets}/${name}/status`, { status }, merge)
}

const evict = (server: Harness, name: string, body: object = {}, query = '') =>
  server.call('POST', `${pods}/${name}/eviction${query}`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...body,
  })

const healthy = { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 }

const refusals: [why: string, status: object, code: number, cause: string][] = [
  [
    'no disruption is allowed',
    { ...healthy, disruptionsAllowed: 0, currentHealthy: 2 },
    429,
    'The disruption budget b needs 2 healthy pods and has 2 currently',
  ],
  [
    'a budget without a computed status',
    { ...healthy, observedGeneration: 0 },
    429,
    'The disruption budget b is still being processed by the server.',
  ],
]
for (const [why, status, code, cause] of refusals)
  test(`an eviction is rejected: ${why}`, async () => {
    await using server = await startServer()
    await runningPod(server, 'p')
    await budget(server, 'b', status)
    const { status: got, body } = await evict(server, 'p')
    deepEqual(
      [got, body.reason, body.details.causes],
      [code, 'TooManyRequests', [{ reason: 'DisruptionBudget', message: cause }]],
    )
    equal(body.message, "Cannot evict pod as it would violate the pod's disruption budget.")
    equal((await server.call('GET', `${pods}/p`)).body.metadata.deletionTimestamp, undefined)
  })

test('an eviction uses one disruption of the budget; a dry run uses none', async () => {
  await using server = await startServer()
  await runningPod(server, 'p')
  await runningPod(server, 'q')
  await budget(server, 'b', healthy)
  equal((await evict(server, 'p', {}, '?dryRun=All')).status, 201)
  equal((await server.call('GET', `${budgets}/b`)).body.status.disruptionsAllowed, 1)
  const answers = await Promise.all([evict(server, 'p'), evict(server, 'q')])
  deepEqual(answers.map(({ status }) => status).toSorted(), [201, 429], 'of two at once one is too many')
  const { body } = await server.call('GET', `${budgets}/b`)
  deepEqual([body.status.disruptionsAllowed, Object.values(body.status.disruptedPods).length], [0, 1])
  const [gone] = Object.keys(body.status.disruptedPods)
  const { body: pod } = await server.call('GET', `${pods}/${gone}`)
  equal(pod.metadata.deletionGracePeriodSeconds, 30)
  deepEqual(pod.status.conditions.at(-1).reason, 'EvictionByEvictionAPI')
  equal((await evict(server, gone ?? '')).status, 201, 'a pod that goes already may go')
})

test('pods are evicted without a budget when they have finished, are unready among healthy ones, or match no budget', async () => {
  await using server = await startServer()
  await runningPod(server, 'unready', 'False')
  await budget(server, 'b', { ...healthy, disruptionsAllowed: 0 })
  equal((await evict(server, 'unready')).status, 201)
  equal((await server.call('GET', `${budgets}/b`)).body.status.disruptionsAllowed, 0)
  equal((await evict(server, 'none')).body.message, 'pods "none" not found')
  const wrong = await evict(server, 'unready', { metadata: { name: 'other' } })
  equal(wrong.body.message, 'name in URL does not match name in Eviction object')
  await runningPod(server, 'two')
  await budget(server, 'c', healthy)
  match((await evict(server, 'two')).body.message, /more than one PodDisruptionBudget/)
  equal((await server.call('GET', `${pods}/two/eviction`)).status, 405)
})

test('ephemeral containers can be added, but not changed', async () => {
  await using server = await startServer()
  await runningPod(server, 'p')
  const put = (list: object[]) =>
    server.call('PATCH', `${pods}/p/ephemeralcontainers`, { spec: { ephemeralContainers: list } }, merge)
  const debug = { name: 'debug', image: 'busybox', terminationMessagePolicy: 'File' }
  const { status, body } = await put([debug])
  deepEqual([status, body.spec.ephemeralContainers[0].name, body.metadata.generation], [200, 'debug', 2])
  equal(
    (await put([])).body.message,
    'Pod "p" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
  )
  equal((await put([{ ...debug, image: 'other' }])).status, 422)
  equal((await put([{ name: 'c', image: 'x' }])).status, 422, 'names are unique among all containers')
  equal((await server.call('GET', `${pods}/p/ephemeralcontainers`)).body.kind, 'Pod')
})

test('a resize changes only cpu and memory of containers, and not the QoS class', async () => {
  await using server = await startServer()
  await runningPod(server, 'p')
  const resize = (resources: object, image = 'other') =>
    server.call('PATCH', `${pods}/p/resize`, { spec: { containers: [{ name: 'c', image, resources }] } }, merge)
  const { body } = await resize({ requests: { cpu: '1500m' }, limits: { cpu: '2' } })
  const [container] = body.spec.containers
  deepEqual([container.resources.requests, container.image, body.metadata.generation], [{ cpu: '1500m' }, 'i', 2])
  match((await resize({})).body.message, /Pod QOS Class may not change as a result of resizing/)
  match(
    (await resize({ requests: { cpu: '1', 'ephemeral-storage': '1Gi' }, limits: { cpu: '2' } })).body.message,
    /spec\.containers\[0\]\.resources: Forbidden: only cpu and memory resources are mutable/,
  )
})

const streams: [why: string, target: string, headers: Record<string, string>, status: number, message: RegExp][] = [
  ['exec in a pod without a node', 'waiting/exec?command=x', {}, 400, /^pod waiting does not have a host assigned$/],
  ['ports of a pod without a node', 'waiting/portforward', {}, 400, /^pod waiting does not have a host assigned$/],
  ['a container that does not exist', 'p/log?container=x', {}, 400, /^container x is not valid for pod p$/],
  [
    'a pod with two containers',
    'pair/log',
    {},
    400,
    /^a container name must be specified for pod pair, choose one of: \[a b\] or one of the init containers: \[i\]$/,
  ],
  ['a pod that does not exist', 'none/log', {}, 404, /^pods "none" not found$/],
  ['exec without an upgrade', 'p/exec?command=x', {}, 400, /^Upgrade request required$/],
  ['a kubelet that does not answer', 'p/exec?command=x', { upgrade: 'SPDY/3.1' }, 503, /^error dialing backend: /],
  ['logs of a kubelet that does not answer', 'p/log', {}, 503, /^error dialing backend: no kubelet of node "n"/],
]
for (const [why, target, headers, status, message] of streams)
  test(`streams: ${why}`, async () => {
    await using server = await startServer()
    await runningPod(server, 'p')
    await server.call('POST', pods, { metadata: { name: 'waiting' }, spec: { containers } })
    const two = [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ]
    const spec = { containers: two, initContainers: [{ name: 'i', image: 'i' }] }
    await server.call('POST', pods, { metadata: { name: 'pair' }, spec })
    const answer = await server.call('GET', `${pods}/${target}`, undefined, headers)
    equal(answer.status, status, JSON.stringify(answer.body))
    match(answer.body.message, message)
    deepEqual((await server.call('GET', `${pods}/waiting/log`)).body, '', 'what never ran has logged nothing')
    equal((await server.call('DELETE', `${pods}/p/log`)).status, 405)
  })

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

test('a certificate request belongs to its sender, is immutable, and is approved through a subresource', async () => {
  await using server = await startServer()
  const pem = '-----BEGIN CERTIFICATE REQUEST-----\nMA==\n-----END CERTIFICATE REQUEST-----\n'
  const spec = { request: btoa(pem), signerName: 'example.com/x', usages: ['client auth'], username: 'someone else' }
  const { body, status } = await server.call('POST', requests, { metadata: { name: 'r' }, spec })
  equal(status, 201, body.message)
  deepEqual([body.spec.username, body.spec.groups], ['admin', ['system:masters', 'system:authenticated']])
  const approved = { conditions: [{ type: 'Approved', status: 'True', reason: 'Yes' }] }
  const { body: after } = await server.call('PUT', `${requests}/r/approval`, { ...body, status: approved })
  deepEqual(after.status.conditions, [
    { ...approved.conditions[0], lastUpdateTime: '2030-01-01T00:00:00Z', lastTransitionTime: '2030-01-01T00:00:00Z' },
  ])
  const patch = { spec: { signerName: 'example.com/y' } }
  equal((await server.call('PATCH', `${requests}/r`, patch, merge)).body.spec.signerName, 'example.com/x')
})

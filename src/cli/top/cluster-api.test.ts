import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { context } from '../../base/observability/context.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'
import { missingFlows, noFlowsText } from '../../ui/terminal/source/flow-stream.ts'
import { jsonType, targetOf } from '../../ui/terminal/source/server-api.ts'
import { subscribe } from '../../ui/terminal/source/subscribe.ts'
import { deployments, pods, resources } from '../../ui/terminal/state/state.harness.ts'
import type { Data } from '../../ui/terminal/state/state.ts'
import { mapView, tableView } from '../../ui/terminal/state/views.ts'
import { openClusterApi } from './cluster-api.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const chosen = (kubeconfig: string) => ({
  kubeconfig,
  path: '',
  server: '',
  context: 'test',
  contexts: [],
  namespace: 'default',
})
const large = { containers: [{ name: 'main', image: 'web', resources: { requests: { cpu: '1000' } } }] }
const object = (name: string, resource = pods) => ({ resource, namespace: 'default', name })

let cluster: TestCluster
before(async () => {
  cluster = await startCluster({ nodes: 1, https: true })
  await cluster.client.of(pod).create({ metadata: { name: 'web-0' }, spec: large }, 'default', ctx)
  await cluster.until(async () => {
    const { status } = await cluster.client.of(pod).get('web-0', 'default', ctx)
    return (
      status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable') ?? false
    )
  })
})
after(() => cluster.stop())

const open = () => openClusterApi(chosen(cluster.kubeconfig), signal)

test('documents are read, and refusals are status errors', async () => {
  await using api = await open()
  const read = (name: string): Promise<unknown> => api.read(targetOf(pods, object(name)), jsonType, signal)
  equal(((await read('web-0')) as { metadata: { name: string } }).metadata.name, 'web-0')
  await rejects(read('api-0'), (error) => {
    ok(error instanceof StatusError)
    deepEqual([error.code, error.reason, error.message], [404, 'NotFound', 'pods "api-0" not found'])
    return true
  })
})

test('an object is patched, and a refusal is a status error', async () => {
  await using api = await open()
  const labels = { patched: 'yes' }
  await api.patch(targetOf(pods, object('web-0')), 'application/merge-patch+json', { metadata: { labels } }, signal)
  deepEqual((await cluster.client.of(pod).get('web-0', 'default', ctx)).metadata.labels, labels)
  await rejects(
    api.patch(targetOf(pods, object('none')), 'application/merge-patch+json', {}, signal),
    (error) => error instanceof StatusError && error.reason === 'NotFound',
  )
})

test('a table is followed: what is created and deleted appears and disappears', async () => {
  await using api = await open()
  const stop = new AbortController()
  const seen: string[] = []
  let progress = Promise.withResolvers<void>()
  const report = (data: Data): void => {
    if (data.kind !== 'rows') throw new Error(JSON.stringify(data))
    const { change } = data
    if (change.kind === 'replace') seen.push(...change.rows.map(({ cells }) => `${cells[0]} ${cells[2]}`))
    else seen.push(...change.set.map(({ name }) => name), ...change.removed.map((key) => `-${key}`))
    progress.resolve()
  }
  const until = async (wanted: string): Promise<void> => {
    while (!seen.includes(wanted)) {
      progress = Promise.withResolvers()
      await progress.promise
    }
  }
  const view = tableView(1, { kind: 'list', resource: pods, namespace: 'default' })
  const deps = { api, clock: realClock, random: systemRandom }
  const ended = subscribe(view, resources, deps, report, stop.signal)
  await until('web-0 Pending')
  const clients = cluster.client.of(pod)
  const { metadata } = await clients.create({ metadata: { name: 'api-0' }, spec: large }, 'default', ctx)
  await until('api-0')
  const target = targetOf(pods, object('api-0'))
  await rejects(api.delete(target, { preconditions: { uid: 'another' } }, signal), { code: 409 })
  await api.delete(target, { preconditions: { uid: metadata.uid } }, signal)
  await until('-default/api-0')
  stop.abort()
  await ended
})

test('flows of Coxswain are recorded and shown on the map', async () => {
  await using api = await open()
  equal(await missingFlows(api, signal), undefined)
  const stop = new AbortController()
  const found = Promise.withResolvers<Data>()
  const deps = { api, clock: realClock, random: systemRandom }
  const ended = subscribe(mapView(1), resources, deps, found.resolve, stop.signal)
  const data = await found.promise
  ok(data.kind === 'map' && data.columns[1]?.includes('API Server'), JSON.stringify(data))
  stop.abort()
  await ended
})

test('the state of an object is explained, also of a kind with a group', async () => {
  await using api = await open()
  match((await api.why(object('web-0'), signal)).join('\n'), /^pod\/web-0\n[^]*Insufficient cpu/)
  await rejects(api.why(object('web', deployments), signal), {
    message: 'deployment "web" not found in namespace "default"',
  })
})

test('a server that is not Coxswain has no flows; a response that is no Status is shown', async () => {
  const requests: string[] = []
  const other = createServer((request, response) => {
    requests.push(`${request.method} ${request.headers['user-agent']}`)
    response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n')
  })
  await once(other.listen(0, '127.0.0.1'), 'listening')
  try {
    const server = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const kubeconfig = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [{ name: 'test', cluster: { server } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'me' } }],
      users: [{ name: 'me', user: { token: 'secret' } }],
    })
    await using api = await openClusterApi(chosen(kubeconfig), signal)
    equal(await missingFlows(api, signal), noFlowsText)
    await rejects(api.read('/version', jsonType, signal), {
      code: 404,
      message: 'the server responded with 404: 404 page not found\n',
    })
    equal(requests[0], 'GET coxswain:coxswain top')
  } finally {
    other.close()
  }
})

// Flow 16: from an Ingress to the pods behind its Service. The controller and its proxy are the real ones, with endpoints
// without sockets; test/ingress sends requests over sockets, with TLS.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { event } from '../../src/api/core/v1/event.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { ingress } from '../../src/api/networking/v1/ingress.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { adminUser, apiServerUser, ingressUser } from '../../src/cluster/client/component-users.ts'
import { startIngress } from '../../src/cluster/node/start-ingress.ts'
import { flowTreesOf } from '../../src/flows/flow-graph.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import { ingressMetrics } from '../../src/ingress/data-plane/ingress-metrics.ts'
import { SimulatedConnections } from '../../src/ingress/data-plane/simulated-connections.harness.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { ctx, startBareCluster, type BareCluster } from './bare-cluster.ts'
import { comparePage, excerpt, since } from './page.ts'

function startController({ cluster, clock, random }: BareCluster, connections: SimulatedConnections, tasks: TaskGroup) {
  return startIngress(
    {
      client: cluster.client('ingress', ingressUser),
      publisher: cluster.client('apiserver', apiServerUser),
      clock,
      random,
      log: silentLog,
      flow: cluster.flow,
      metrics: ingressMetrics(new Metrics()),
      connections,
      platform: { ...nodePlatform, listeners: { ...nodePlatform.listeners, ...connections.listeners } },
      settings: {
        host: '127.0.0.1',
        httpPort: 80,
        httpsPort: 443,
        accessLog: 'off',
        addresses: [{ ip: '127.0.0.1' }],
      },
    },
    tasks,
  )
}

test('16 ingress', async () => {
  await using bare = startBareCluster({ nodes: 1 })
  await using tasks = new TaskGroup()
  const { cluster, clock } = bare
  await clock.advance('5s')
  const connections = new SimulatedConnections()
  const started = startController(bare, connections, tasks)
  await clock.advance('1s')
  await started
  const client = cluster.client('test', adminUser)
  const flowOf = (resource: string, name: string) =>
    textDiagram(flowTreesOf(cluster.flow.events(), { resource, namespace: 'default', name }), { fold: true })
  const get = (target: string, host = 'web.example.com') => connections.send('http', { host, target })

  await client.of(ingress).create(
    {
      metadata: { name: 'web' },
      spec: {
        tls: [{ hosts: ['web.example.com'], secretName: 'web-tls' }],
        rules: [
          {
            host: 'web.example.com',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    'default',
    ctx,
  )
  await clock.advance('5s')
  const { spec, status } = await client.of(ingress).get('web', 'default', ctx)
  deepEqual([spec.ingressClassName, status.loadBalancer.ingress], ['coxswain', [{ ip: '127.0.0.1' }]])
  const reasons = (await client.of(event).list({ namespace: 'default' }, ctx)).items
    .filter(({ involvedObject }) => involvedObject.kind === 'Ingress')
    .map(({ reason }) => reason)
  deepEqual(new Set(reasons), new Set(['ServiceNotFound', 'SecretNotFound']))
  const created = flowOf('ingresses', 'web')

  equal((await get('/', 'other.example.com')).status, 404, 'no rule matches')
  const ports = [{ port: 80 }]
  await client
    .of(service)
    .create({ metadata: { name: 'web' }, spec: { selector: { app: 'web' }, ports } }, 'default', ctx)
  await clock.advance('5s')
  equal((await get('/')).status, 503, 'there is no endpoint')
  const unavailable = since(flowOf('ingresses', 'web'), 'GET web.example.com/')

  const podSpec = { containers: [{ name: 'c', image: 'i' }] }
  await client.of(pod).create({ metadata: { name: 'one', labels: { app: 'web' } }, spec: podSpec }, 'default', ctx)
  await clock.advance('10s')
  const { podIP = '' } = (await client.of(pod).get('one', 'default', ctx)).status
  connections.endpoints.set(`${podIP}:80`, () => ({ status: 200, body: 'hello' }))
  const { text } = await get('/index.html')
  equal(text, 'hello')
  match(String(connections.received.at(-1)?.headers['traceparent']), /^00-/)
  const forwarded = since(flowOf('ingresses', 'web'), 'GET web.example.com/index.html')

  await client.of(pod).create({ metadata: { name: 'two', labels: { app: 'web' } }, spec: podSpec }, 'default', ctx)
  await clock.advance('10s')
  const { podIP: otherIP = '' } = (await client.of(pod).get('two', 'default', ctx)).status
  connections.endpoints.delete(`${podIP}:80`)
  connections.endpoints.set(`${otherIP}:80`, () => ({ status: 200, body: 'other' }))
  await get('/again')
  equal((await get('/again')).text, 'other', 'the other pod responds')
  const retried = since(flowOf('ingresses', 'web'), 'GET web.example.com/again', 'last')

  const addresses = (diagram: string) => diagram.replaceAll(podIP, 'POD-1').replaceAll(otherIP, 'POD-2')
  const steps = [/test ──► API Server/, /ingress/i, /client ──► Ingress/]
  await comparePage(
    '16-ingress',
    'Ingress',
    [
      {
        heading: 'An Ingress is created',
        text: 'Admission sets the default class. The controller of the class adds the rules to its proxy, writes its address to the status, and records events about the Service and the Secret that do not exist.',
        diagram: excerpt(created, ...steps),
      },
      {
        heading: 'No endpoint',
        text: 'A request whose host and path match a rule is refused immediately with 503 while the Service has no ready endpoint. Without a matching rule the response is 404.',
        diagram: excerpt(unavailable, ...steps),
      },
      {
        heading: 'A request reaches a pod',
        text: 'The proxy sends the request to an endpoint of the Service, not to its cluster IP, with the headers of a proxy and the trace.',
        diagram: excerpt(addresses(forwarded), ...steps),
      },
      {
        heading: 'A pod does not respond',
        text: 'A request that an endpoint has not accepted is sent to another one.',
        diagram: excerpt(addresses(retried), ...steps),
      },
    ],
    [
      [
        'TLS from a Secret; the Secret changes',
        'the certificate is selected by name; open connections stay',
        'test/ingress/ingress.test.ts',
      ],
      ['WebSocket, HTTP/2, gRPC', 'forwarded with trailers and upgrades', 'test/ingress/ingress.test.ts'],
      ['endpoints are replaced under load', 'no request fails', 'test/ingress/ingress.test.ts'],
      [
        'certificates, policies and pods change under load',
        'no request fails, and no packet of the proxy to a running pod is dropped',
        'test/ingress/changes/changes.test.ts',
      ],
    ],
  )
})

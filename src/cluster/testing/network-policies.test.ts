// Network policies in the network of simulated pods: which connections pass, how others fail, and open connections.
import { equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { networkPolicy } from '../../api/networking/v1/network-policy.ts'
import { serveUntilTerminated, type SimulatedProgram } from '../../machine/runtime/simulated-runtime.ts'
import { startCluster } from './start-cluster.ts'

const echo: SimulatedProgram = (process) => {
  process.serveHttp(80, ({ remoteAddress }) => ({ status: 200, body: `${process.pod.name} ${remoteAddress}` }))
  process.listen(7, async (connection) => {
    for await (const piece of connection.pieces) await connection.write(piece)
  })
  return serveUntilTerminated(process)
}

const podOf = (name: string, nodeName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { nodeName, containers: [{ name: 'c', image: 'echo' }] },
})
const only = (app: string) => ({ podSelector: { matchLabels: { app } } })
const policyOf = (name: string, spec: object) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name },
  spec,
})
const nodePort = { port: 80, targetPort: 80, nodePort: 30_080 }

async function startShop() {
  const cluster = await startCluster({ nodes: 2, simulation: { images: { echo } } })
  await cluster.apply([
    podOf('web', 'node-0'),
    podOf('front', 'node-1'),
    podOf('other', 'node-0'),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { type: 'NodePort', selector: { app: 'web' }, ports: [nodePort] },
    },
    policyOf('web', { ...only('web'), ingress: [{ from: [only('front')] }] }),
  ])
  await cluster.clock.advance('2s')
  const fetch = async (from: string, url = 'http://web/') => (await cluster.network.fetch(url, { from })).text()
  return { cluster, fetch, [Symbol.asyncDispose]: () => cluster.stop() }
}

test('a policy lets its peers pass, and drops the packets of others, so that they time out', async () => {
  await using shop = await startShop()
  const { cluster, fetch } = shop
  match(await fetch('pod/front'), /^web 10\./)
  const beforeMs = cluster.clock.nowMs()
  await rejects(fetch('pod/other'), { code: 'ETIMEDOUT' })
  equal(cluster.clock.nowMs() - beforeMs, 127_000)
  match(await cluster.why(pod, 'other', 'default', { reach: 'service/web' }), /Blocked by network policies/)
})

test('the own node, the pod itself and loopback always pass; another node does not', async () => {
  await using shop = await startShop()
  const { fetch } = shop
  match(await fetch('node/node-0'), /^web 192\.0\.2\.1$/)
  match(await fetch('pod/web'), /^web 192\.0\.2\.1$/)
  match(await fetch('pod/web', 'http://localhost/'), /^web 10\./)
  await rejects(fetch('node/node-1'), { code: 'ETIMEDOUT' })
})

test('a node port: the node of the pod sees who opens the connection unless another node has translated the source', async () => {
  await using shop = await startShop()
  const { cluster, fetch } = shop
  await rejects(fetch('pod/other', 'http://192.0.2.1:30080/'), { code: 'ETIMEDOUT' })
  match(await fetch('pod/front', 'http://192.0.2.1:30080/'), /^web /)
  // The own node translates the source to its address, which the policy does not allow.
  await rejects(fetch('pod/front', 'http://192.0.2.2:30080/'), { code: 'ETIMEDOUT' })
  await cluster.apply(policyOf('front', { ...only('front'), policyTypes: ['Egress'], egress: [{ to: [only('web')] }] }))
  await cluster.clock.settle()
  match(await fetch('pod/front'), /^web /)
  await rejects(fetch('pod/front', 'http://192.0.2.1:30080/'), { code: 'ETIMEDOUT' })
})

test('a policy that is removed while a connection is opened lets the next attempt pass', async () => {
  await using shop = await startShop()
  const { cluster, fetch } = shop
  cluster.clock.after(10_000, () => void cluster.client.of(networkPolicy).delete('web'))
  const beforeMs = cluster.clock.nowMs()
  match(await fetch('pod/other'), /^web /)
  equal(cluster.clock.nowMs() - beforeMs, 15_000)
})

test('a changed policy applies to open connections: what their opener sends is dropped', async () => {
  await using shop = await startShop()
  const { cluster } = shop
  const connection = await cluster.network.connect('web', 80, { from: 'pod/front' })
  connection.destroy()
  const address = (await cluster.client.of(pod).get('web')).status.podIP ?? ''
  const open = await cluster.network.connect(address, 7, { from: 'pod/front' })
  const pieces = open.pieces[Symbol.asyncIterator]()
  const send = async () => {
    await open.write(new TextEncoder().encode('hello'))
    const { value } = await pieces.next()
    return value === undefined ? '' : new TextDecoder().decode(value)
  }
  equal(await send(), 'hello')
  await cluster.apply(policyOf('web', { ...only('web'), policyTypes: ['Ingress'] }))
  await cluster.clock.settle()
  await rejects(send(), { code: 'ETIMEDOUT' })
})

test('the flow of a Service, or of a policy, names the policies that drop a connection', async () => {
  await using shop = await startShop()
  const { cluster, fetch } = shop
  cluster.network.recordsConnections = true
  await rejects(fetch('pod/other'), { code: 'ETIMEDOUT' })
  match(cluster.flow(service, 'web'), /connection timed out; dropped by the ingress of the network policy default\/web/)
  const address = (await cluster.client.of(pod).get('web')).status.podIP
  await cluster.apply(policyOf('closed', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] }))
  await cluster.clock.settle()
  await rejects(fetch('pod/other', `http://${address}/`), { code: 'ETIMEDOUT' })
  match(cluster.flow(networkPolicy, 'closed'), /dropped by the egress of the network policy default\/closed/)
})

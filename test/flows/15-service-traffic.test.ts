// Flow 15: from a Service to the rules of a node, and what happens when its endpoints change. The proxy is the real one on
// a simulated driver; test/proxy and test/containers send packets.
import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import { adminUser, proxyUser } from '../../src/cluster/client/component-users.ts'
import { flowTreesOf } from '../../src/flows/flow-graph.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import { SimulatedConntrack } from '../../src/machine/conntrack/simulated-conntrack.ts'
import { SimulatedKernelSettings } from '../../src/machine/kernel-settings/simulated-kernel-settings.ts'
import { SimulatedNftables } from '../../src/machine/nftables/simulated-nftables.ts'
import { proxyMetrics } from '../../src/proxy/metrics/proxy-metrics.ts'
import { intact } from '../../src/proxy/service-proxy.harness.ts'
import { probeCommands } from '../../src/proxy/nftables/table-layout.ts'
import { startServiceProxy } from '../../src/proxy/service-proxy.ts'
import { ctx, startBareCluster, type BareCluster } from './bare-cluster.ts'
import { comparePage, excerpt, since } from './page.ts'

const address = '10.96.0.80'

/** The service proxy of node-0; its transactions are recorded. */
function startProxy({ cluster, clock, random }: BareCluster, tasks: TaskGroup): SimulatedNftables {
  const nftables = new SimulatedNftables()
  nftables.respond = (commands) => (commands === probeCommands ? intact : { kind: 'applied' })
  const client = cluster.client('proxy/node-0', proxyUser)
  startServiceProxy(
    {
      nftables,
      clock,
      flow: cluster.flow,
      log: silentLog,
      nodeName: 'node-0',
      informers: new Informers(client, { clock, random, log: silentLog }, tasks),
      conntrack: new SimulatedConntrack(),
      kernelSettings: new SimulatedKernelSettings({}),
      listeners: { listen: () => Promise.reject(new Error('no Service of this test has a health check')) },
      metrics: proxyMetrics(new Metrics()),
      events: { started: () => undefined, healthCheckFailed: () => undefined, notRouted: () => undefined },
      healthCheckHost: '127.0.0.1',
      podCidrs: ['10.244.0.0/16'],
      masqueradesAll: false,
    },
    tasks,
  )
  return nftables
}

test('15 service traffic', async () => {
  await using bare = startBareCluster({ nodes: 1 })
  await using tasks = new TaskGroup()
  const { cluster, clock } = bare
  await clock.advance('5s')
  const nftables = startProxy(bare, tasks)
  await clock.advance('1s')
  const client = cluster.client('test', adminUser)
  const flowOf = (resource: string, name: string) =>
    textDiagram(flowTreesOf(cluster.flow.events(), { resource, namespace: 'default', name }), { fold: true })
  const applied = () => nftables.transactions.flat().join('\n')

  await client
    .of(service)
    .create(
      { metadata: { name: 'web' }, spec: { clusterIP: address, selector: { app: 'web' }, ports: [{ port: 80 }] } },
      'default',
      ctx,
    )
  await clock.advance('5s')
  match(applied(), new RegExp(`refused4 .*${address} \\. tcp \\. 80`), 'without endpoints, clients are refused')
  const created = flowOf('services', 'web')

  const labels = { app: 'web' }
  const spec = { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 1 }
  await client.of(pod).create({ metadata: { name: 'one', labels }, spec }, 'default', ctx)
  await clock.advance('10s')
  const { podIP = '' } = (await client.of(pod).get('one', 'default', ctx)).status
  ok(applied().includes(`${address} . tcp . 80 . 0 : ${podIP} . 80`), 'the pod is the endpoint')
  const ready = flowOf('pods', 'one')

  const before = nftables.transactions.length
  await client.of(pod).delete('one', 'default', {}, ctx)
  await clock.advance('10s')
  const later = nftables.transactions.slice(before).flat().join('\n')
  match(later, new RegExp(`delete element .*endpoints4.*${address}`), 'the endpoint is removed')
  match(later, /add element .*refused4/)
  const gone = since(flowOf('pods', 'one'), 'delete pods one')
  equal(/Network: apply rules web/.test(gone), true)

  const steps = [/test ──► API Server/, /endpointslices/, /Network/, /put pod/]
  await comparePage('15-service-traffic', 'Service traffic', [
    {
      heading: 'A Service without endpoints',
      text: 'The Service gets its address with the first write. The proxy of each node adds it to its rules; as long as there are no endpoints, clients are refused immediately.',
      diagram: excerpt(created, ...steps),
    },
    {
      heading: 'A pod becomes ready',
      text: "The endpoint-slice controller adds the pod when it is ready, and the proxies add the endpoint to the Service's rules.",
      diagram: excerpt(ready, ...steps),
    },
    {
      heading: 'A pod is deleted',
      text: 'The endpoint is marked as terminating and removed from the rules while the container stops, so that new connections go elsewhere. With the last endpoint, clients are refused again.',
      diagram: excerpt(gone, ...steps),
    },
  ])
})

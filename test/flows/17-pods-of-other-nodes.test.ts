// Flow 17: how pods of one node reach those of another: by a route or through VXLAN, and what happens when a node is lost.
// The paths are computed and recorded by the real component on a simulated machine; test/network sends packets.
import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../../src/api/core/v1/node/node.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import { adminUser, proxyUser } from '../../src/cluster/client/component-users.ts'
import { flowTreesOf } from '../../src/flows/flow-graph.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import type { PodNetwork } from '../../src/machine/pod-network/pod-network.ts'
import { proxyMetrics } from '../../src/proxy/metrics/proxy-metrics.ts'
import { PodRoutes } from '../../src/proxy/pod-routes/pod-routes.ts'
import { ctx, startBareCluster, type BareCluster } from './bare-cluster.ts'
import { comparePage, excerpt, since } from './page.ts'

/** The network segment of a node is the first three parts of its address. */
const segmentOf = (address: string): string => address.slice(0, address.lastIndexOf('.'))

/** A machine that records its paths; the next `failures` changes are rejected. */
class Machine {
  paths: readonly string[] = []
  failures = 0

  network(address: string): PodNetwork {
    return {
      prepare: () => Promise.resolve(),
      adjacent: (addresses) =>
        Promise.resolve(new Set(addresses.filter((other) => segmentOf(other) === segmentOf(address)))),
      setPaths: ({ routes }) => {
        if (this.failures-- > 0) return Promise.reject(new Error('RTNETLINK answers: Network is unreachable'))
        this.paths = routes.map(({ range, via, kind }) => `${range} via ${via} (${kind})`)
        return Promise.resolve(new Map())
      },
      forwardingBlockedBy: () => Promise.resolve(undefined),
    }
  }
}

function startRoutes(bare: BareCluster, tasks: TaskGroup, nodeName: string, address: string): Machine {
  const { cluster, clock, random } = bare
  const machine = new Machine()
  const client = cluster.client(`proxy/${nodeName}`, proxyUser)
  const nodes = new Informers(client, { clock, random, log: silentLog }, tasks).of(node)
  const publish = () => Promise.resolve()
  const routes = new PodRoutes({
    nodes,
    network: machine.network(address),
    clock,
    flow: cluster.flow,
    log: silentLog,
    publish,
    own: { nodeName, podRanges: [], serviceRanges: [], clusterRanges: [], interfaceRanges: () => [] },
    events: { nodeIgnored: () => undefined },
    metrics: proxyMetrics(new Metrics()),
  })
  tasks.start(`pod routes of ${nodeName}`, (signal) => routes.run(signal))
  return machine
}

async function join({ cluster, clock }: BareCluster, name: string, address: string, range: string): Promise<void> {
  const client = cluster.client(`kubelet/${name}`, adminUser).of(node)
  const status = { addresses: [{ type: 'InternalIP', address }] }
  await client.create({ metadata: { name }, spec: { podCIDR: range, podCIDRs: [range] }, status }, '', ctx)
  await clock.advance('2s')
}

test('17 pods of other nodes', async () => {
  await using bare = startBareCluster({ nodes: 0 })
  await using tasks = new TaskGroup()
  const { cluster, clock } = bare
  await clock.advance('5s')
  const a = startRoutes(bare, tasks, 'a', '192.0.2.1')
  const b = startRoutes(bare, tasks, 'b', '192.0.2.2')
  const c = startRoutes(bare, tasks, 'c', '198.51.100.3')
  const flowOf = (name: string) =>
    textDiagram(flowTreesOf(cluster.flow.events(), { resource: 'nodes', namespace: '', name }), { fold: true })

  await join(bare, 'a', '192.0.2.1', '10.244.1.0/24')
  await join(bare, 'b', '192.0.2.2', '10.244.2.0/24')
  deepEqual(a.paths, ['10.244.2.0/24 via 192.0.2.2 (route)'])
  deepEqual(b.paths, ['10.244.1.0/24 via 192.0.2.1 (route)'])
  const joined = flowOf('b')

  await join(bare, 'c', '198.51.100.3', '10.244.3.0/24')
  deepEqual(a.paths, ['10.244.2.0/24 via 192.0.2.2 (route)', '10.244.3.0/24 via 10.244.3.0 (vxlan)'])
  deepEqual(c.paths, ['10.244.1.0/24 via 10.244.1.0 (vxlan)', '10.244.2.0/24 via 10.244.2.0 (vxlan)'])
  const distant = flowOf('c')

  await clock.advance('2m')
  deepEqual(a.paths.length, 2, 'a node that does not report keeps its paths: its pods may still run')
  a.failures = 1
  await cluster.client('test', adminUser).of(node).delete('b', '', {}, ctx)
  await clock.advance('5s')
  deepEqual(a.paths, ['10.244.3.0/24 via 10.244.3.0 (vxlan)'])
  const lost = since(flowOf('b'), 'delete nodes b')
  match(lost, /unreachable/, 'the failure is recorded')

  const steps = [/(kubelet\/.|test) ──► API Server/, /Network/]
  await comparePage('17-pods-of-other-nodes', 'Pods of other nodes', [
    {
      heading: 'A node on the same network segment',
      text: 'The node gets a range of pod addresses. Every other node adds a route to this range through the address of the node, so packets between pods are neither wrapped nor translated.',
      diagram: excerpt(joined, ...steps),
    },
    {
      heading: 'A node behind a router',
      text: 'The routers in between do not know the ranges of pods. Packets are wrapped in VXLAN and sent to the address of the node.',
      diagram: excerpt(distant, ...steps),
    },
    {
      heading: 'A node is lost',
      text: 'While a node only stops reporting, its paths remain, because its pods may still run. When it is removed from the cluster, the other nodes remove the path. A machine that rejects the change is asked again after half a second.',
      diagram: excerpt(lost, ...steps),
    },
  ])
})

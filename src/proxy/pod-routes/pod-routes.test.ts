import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/core/v1/node/node.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { createLog } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { PodNetwork, PodRoute } from '../../machine/pod-network/pod-network.ts'
import { mustParseCidr } from '../../base/net/cidr.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { proxyMetrics } from '../metrics/proxy-metrics.ts'
import { nodeWith, ScriptedSource } from '../routing/routing.harness.ts'
import type { OwnNetwork } from './peers.ts'
import { pathText, PodRoutes } from './pod-routes.ts'

const nodeAt = (name: string, address: string, range: string): Node =>
  ({
    ...nodeWith(name),
    spec: { podCIDRs: [range] },
    status: { addresses: [{ type: 'InternalIP', address }] },
  }) as unknown as Node

const own: OwnNetwork = {
  nodeName: 'here',
  podRanges: [mustParseCidr('10.244.0.0/24')],
  serviceRanges: [mustParseCidr('10.96.0.0/12')],
  clusterRanges: [],
  interfaceRanges: () => [mustParseCidr('192.0.2.1/24')],
}

function newRoutes(failures: readonly Error[] = [], firewall?: string) {
  const clock = new VirtualClock()
  const nodes = new ScriptedSource<Node>()
  const lines: string[] = []
  const log = createLog({ clock, write: (line) => lines.push(line), format: 'json', level: 'info' })
  const flow = new FlowRecorder(clock)
  const left = [...failures]
  const applied = [] as string[]
  const events = [] as string[]
  const refused = new Set<string>()
  const registry = new Metrics()
  const network: PodNetwork = {
    prepare: () => Promise.resolve(),
    adjacent: (addresses) => Promise.resolve(new Set(addresses)),
    setPaths({ routes }) {
      const failure = left.shift()
      if (failure !== undefined) return Promise.reject(failure)
      const isRefused = ({ via }: PodRoute) => refused.has(via)
      const accepted = routes.filter((route) => !isRefused(route))
      applied.push(accepted.map(({ range, via }) => `${range} via ${via}`).join(', '))
      return Promise.resolve(new Map(routes.filter(isRefused).map(({ range }) => [range, 'invalid gateway'])))
    },
    forwardingBlockedBy: () => Promise.resolve(firewall),
  }
  const paths: string[] = []
  const publish = (text: string) => Promise.resolve(void paths.push(text))
  const routes = new PodRoutes({
    nodes,
    network,
    own,
    metrics: proxyMetrics(registry),
    clock,
    flow,
    log,
    publish,
    events: { nodeIgnored: ({ metadata }, reason, message) => events.push(`${metadata.name} ${reason}: ${message}`) },
  })
  const tasks = new TaskGroup({})
  tasks.start('pod routes', (signal) => routes.run(signal))
  const ignored = () => /^coxswain_pod_routes_ignored_nodes (\d+)$/m.exec(registry.text())?.[1]
  return { clock, nodes, applied, lines, paths, tasks, flow, events, ignored, refused }
}

test('routes follow the nodes; heartbeats change nothing', async () => {
  const { clock, nodes, applied, paths, tasks } = newRoutes()
  nodes.put(nodeAt('here', '192.0.2.1', '10.244.0.0/24'))
  nodes.put(nodeAt('there', '192.0.2.2', '10.244.1.0/24'))
  nodes.put(nodeAt('loop', '127.0.0.1', '10.244.9.0/24'))
  await clock.advance(1)
  nodes.put(nodeAt('there', '192.0.2.2', '10.244.1.0/24'))
  await clock.advance(1)
  nodes.put(nodeAt('further', '192.0.2.3', '10.244.2.0/24'))
  await clock.advance(1)
  nodes.remove(nodeAt('there', '192.0.2.2', '10.244.1.0/24'))
  await clock.advance(1)
  deepEqual(applied, [
    '10.244.1.0/24 via 192.0.2.2',
    '10.244.2.0/24 via 192.0.2.3, 10.244.1.0/24 via 192.0.2.2',
    '10.244.2.0/24 via 192.0.2.3',
  ])
  deepEqual(paths, ['routes', 'routes', 'routes'])
  tasks.stop()
  await tasks.join()
})

test('a failure is logged and tried again', async () => {
  const { clock, nodes, applied, lines, tasks } = newRoutes([new Error('no permission'), new Error('no permission')])
  nodes.put(nodeAt('there', '192.0.2.2', '10.244.1.0/24'))
  await clock.advance(1)
  deepEqual(applied, [])
  await clock.advance(10_000)
  deepEqual(applied, ['10.244.1.0/24 via 192.0.2.2'])
  equal(lines.filter((line) => line.includes('no permission')).length, 2)
  tasks.stop()
  await tasks.join()
})

test('the paths to each node are flow events with their outcome; those of many nodes are one', async () => {
  const { clock, nodes, tasks, flow } = newRoutes([new Error('no permission')])
  nodes.put(nodeAt('there', '192.0.2.2', '10.244.1.0/24'))
  await clock.advance(1_000)
  nodes.remove(nodeAt('there', '192.0.2.2', '10.244.1.0/24'))
  await clock.advance(1)
  for (let at = 0; at <= 100; at++) nodes.put(nodeAt(`n${at}`, '192.0.2.3', `10.245.${at}.0/24`))
  await clock.advance(1)
  deepEqual(
    Array.from(flow.events(), ({ what, object, outcome }) => `${what} ${object?.name ?? ''}: ${outcome}`),
    [
      'set a route to there: no permission',
      'set a route to there: ok',
      'remove the path to there: ok',
      'set the paths to 101 nodes : ok',
    ],
  )
  tasks.stop()
  await tasks.join()
})

test('a firewall that drops forwarded packets is named', async () => {
  const { clock, lines, tasks } = newRoutes([], 'firewalld drops forwarded packets by default')
  await clock.advance(1)
  equal(lines.filter((line) => line.includes('firewalld drops forwarded packets')).length, 1)
  tasks.stop()
  await tasks.join()
})

test('the paths to other nodes in words', () =>
  deepEqual(
    [pathText([]), pathText(['route', 'route']), pathText(['vxlan']), pathText(['vxlan', 'route'])],
    ['no other nodes', 'routes', 'VXLAN', 'routes and VXLAN'],
  ))

test('a Node that is not valid costs its own path only, and is reported once, with an event and a metric', async () => {
  const { clock, nodes, applied, events, ignored, tasks } = newRoutes()
  await using _tasks = tasks
  nodes.put(nodeAt('a', '192.0.2.2\nnetns exec x sh -c id', '10.244.1.0/24'))
  nodes.put(nodeAt('b', '192.0.2.3', '0.0.0.0/0'))
  nodes.put(nodeAt('c', '192.0.2.4', '10.244.3.0/24'))
  await clock.advance(1)
  nodes.put(nodeAt('d', '192.0.2.5', '10.244.3.128/25'))
  await clock.advance(1)
  deepEqual(applied, ['10.244.3.0/24 via 192.0.2.4'])
  deepEqual(events, [
    'a InvalidNodeAddress: Node here: the address "192.0.2.2\\nnetns exec x sh -c id" is ignored: it is not the IP address of a machine',
    'b InvalidPodCIDR: Node here: the pod range "0.0.0.0/0" is ignored: it overlaps special addresses (0.0.0.0/8)',
    'd InvalidPodCIDR: Node here: the pod range "10.244.3.128/25" is ignored: it overlaps a range of the older node c',
  ])
  equal(ignored(), '3')
  nodes.put(nodeAt('a', '192.0.2.2', '10.244.1.0/24'))
  await clock.advance(1)
  equal(applied.at(-1), '10.244.1.0/24 via 192.0.2.2, 10.244.3.0/24 via 192.0.2.4')
  equal(ignored(), '2')
})

test('a path that the kernel does not accept costs its own node only; other nodes do not wait for the next attempt', async () => {
  const { clock, nodes, applied, events, ignored, refused, tasks } = newRoutes()
  await using _tasks = tasks
  refused.add('192.0.2.255')
  nodes.put(nodeAt('a', '192.0.2.255', '10.244.1.0/24'))
  nodes.put(nodeAt('b', '192.0.2.3', '10.244.2.0/24'))
  await clock.advance(60_000)
  nodes.put(nodeAt('c', '192.0.2.4', '10.244.3.0/24'))
  await clock.advance(1)
  equal(applied[0], '10.244.2.0/24 via 192.0.2.3')
  equal(applied.at(-1), '10.244.2.0/24 via 192.0.2.3, 10.244.3.0/24 via 192.0.2.4')
  deepEqual(events, ['a FailedToSetPodRoute: Node here: invalid gateway'])
  equal(ignored(), '1')
  refused.clear()
  await clock.advance(60_000)
  equal(applied.at(-1), '10.244.1.0/24 via 192.0.2.255, 10.244.2.0/24 via 192.0.2.3, 10.244.3.0/24 via 192.0.2.4')
  equal(ignored(), '0')
})

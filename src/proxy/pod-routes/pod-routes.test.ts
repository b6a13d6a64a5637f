import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/core/v1/node/node.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { createLog } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { PodNetwork } from '../../machine/pod-network/pod-network.ts'
import { nodeWith, ScriptedSource } from '../routing/routing.harness.ts'
import { pathText, PodRoutes } from './pod-routes.ts'

const nodeAt = (name: string, address: string, range: string): Node =>
  ({
    ...nodeWith(name),
    spec: { podCIDRs: [range] },
    status: { addresses: [{ type: 'InternalIP', address }] },
  }) as unknown as Node

function newRoutes(failures: readonly Error[] = [], firewall?: string) {
  const clock = new VirtualClock()
  const nodes = new ScriptedSource<Node>()
  const lines: string[] = []
  const log = createLog({ clock, write: (line) => lines.push(line), format: 'json', level: 'info' })
  const flow = new FlowRecorder(clock)
  const [left, applied] = [[...failures], [] as string[]]
  const network: PodNetwork = {
    prepare: () => Promise.resolve(),
    adjacent: (addresses) => Promise.resolve(new Set(addresses)),
    setPaths({ routes }) {
      const failure = left.shift()
      if (failure !== undefined) return Promise.reject(failure)
      applied.push(routes.map(({ range, via }) => `${range} via ${via}`).join(', '))
      return Promise.resolve()
    },
    forwardingBlockedBy: () => Promise.resolve(firewall),
  }
  const paths: string[] = []
  const publish = (text: string) => Promise.resolve(void paths.push(text))
  const routes = new PodRoutes({ nodes, network, nodeName: 'here', clock, flow, log, publish })
  const tasks = new TaskGroup({})
  tasks.start('pod routes', (signal) => routes.run(signal))
  return { clock, nodes, applied, lines, paths, tasks, flow }
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

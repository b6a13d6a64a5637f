import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { usedPortsAnnotation } from '../../api/core/v1/node/node-labels.ts'
import { node } from '../../api/core/v1/node/node.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import type { ListeningSocket } from '../../machine/listening-ports/listening-ports.ts'
import { runUsedPortReporter, usedPorts, usedPortsCheckMs } from './used-port-reporter.ts'

const tcp = (port: number, address?: string): ListeningSocket => ({ protocol: 'TCP', address, port })
const udp = (port: number, address?: string): ListeningSocket => ({ protocol: 'UDP', address, port })

const cases: readonly (readonly [string, readonly ListeningSocket[], string])[] = [
  ['none', [], ''],
  ['a port of no load balancer', [tcp(25)], ''],
  ['all addresses', [tcp(22)], '22/TCP'],
  ['an address of the node', [tcp(22, '192.0.2.1')], '22/TCP'],
  ['loopback', [tcp(22, '127.0.0.1'), tcp(22, '::1')], ''],
  ['the bridge of the pods', [udp(53, '10.244.0.1')], ''],
  ['another protocol', [udp(22)], ''],
  ['both families', [tcp(22), tcp(22)], '22/TCP'],
  ['several', [udp(53), tcp(22)], '22/TCP,53/UDP'],
]

suite('the used ports', () => {
  for (const [name, sockets, expected] of cases)
    test(name, () => equal(usedPorts(new Set(['22/TCP', '53/UDP']), sockets, new Set(['192.0.2.1'])), expected))
})

const ctx = context(new AbortController().signal)
const balanced = (port: number): Service =>
  ({ metadata: { name: 'web' }, spec: { type: 'LoadBalancer', ports: [{ port, protocol: 'TCP' }] } }) as never

test('the annotation follows the programs and the Services', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  let services: Service[] = []
  let sockets: ListeningSocket[] = []
  let reads = 0
  await using tasks = new TaskGroup()
  const listeningPorts = {
    async read() {
      reads++
      return sockets
    },
  }
  const deps = { client, nodeName: 'node-0', services: () => services, listeningPorts, clock, log: silentLog }
  tasks.start('used ports', (signal) => runUsedPortReporter(deps, signal))
  const reported = async () => {
    await clock.advance(usedPortsCheckMs)
    return lookup((await client.of(node).get('node-0', '', ctx)).metadata.annotations, usedPortsAnnotation)
  }
  equal(await reported(), undefined)
  equal(reads, 0)
  services = [balanced(22)]
  equal(await reported(), undefined)
  sockets = [tcp(22)]
  equal(await reported(), '22/TCP')
  sockets = []
  equal(await reported(), undefined)
  sockets = [tcp(22)]
  equal(await reported(), '22/TCP')
  services = []
  equal(await reported(), undefined)
})

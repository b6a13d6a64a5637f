// Host ports with real packets, between the machines of the test network.
import { deepEqual, equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { after, before, test } from 'node:test'
import type { Pod } from '../../src/api/core/v1/pod/pod.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { parseCidrs } from '../../src/base/net/cidr.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { ConntrackProgram } from '../../src/machine/conntrack/conntrack-program.ts'
import { nodeListeningPorts } from '../../src/machine/listening-ports/node-listening-ports.ts'
import { NftProgram } from '../../src/machine/nftables/nft-program.ts'
import { nodeProcesses } from '../../src/platform/node/process/processes.ts'
import { proxyMetrics } from '../../src/proxy/metrics/proxy-metrics.ts'
import { removeHostPortRules, startHostPorts } from '../../src/proxy/host-ports/host-port-agent.ts'
import { presenceCommands, probeCommands } from '../../src/proxy/host-ports/host-port-table.ts'
import { informersOf, podWith, portWithHostPort } from '../../src/proxy/host-ports/host-ports.harness.ts'
import { ScriptedSource } from '../../src/proxy/routing/routing.harness.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { until } from '../until.ts'
import { run, serverPort, startNetwork, type TestNetwork } from './network.harness.ts'

const waitMs = 5_000
const silentMs = 300
const nodeV4 = '192.168.50.1'
const nodeV6 = 'fd50::1'
const both = ['10.244.0.2', 'fd01::a:2']
const port = (hostPort: number, more: object = {}) => portWithHostPort(hostPort, { containerPort: serverPort, ...more })

inNamespaces(import.meta.url, () => {
  let network: TestNetwork
  const pods = new ScriptedSource<Pod>()
  const tasks = new TaskGroup()
  const events = [] as string[]
  const nftables = new NftProgram({ processes: nodeProcesses, clock: realClock })
  before(async () => {
    network = await startNetwork()
    run('sysctl -qw net.ipv4.conf.cni0.route_localnet=1')
    const agent = startHostPorts(
      {
        informers: informersOf(pods),
        nftables,
        conntrack: new ConntrackProgram(nodeProcesses),
        clock: realClock,
        log: silentLog,
        flow: new FlowRecorder(realClock),
        nodeName: 'node-a',
        podRanges: parseCidrs(['10.244.0.0/24', 'fd01::a:0/112']),
        listeningPorts: nodeListeningPorts(),
        metrics: proxyMetrics(new Metrics()),
        events: { hostPortIgnored: ({ metadata }, reason) => void events.push(`${metadata.name} ${reason}`) },
      },
      tasks,
    )
    await agent.synced
  })
  after(async () => {
    await tasks[Symbol.asyncDispose]()
    await nftables[Symbol.asyncDispose]()
    await network[Symbol.asyncDispose]()
  })

  const reach = (
    from: keyof TestNetwork['machines'],
    address: string,
    hostPort: number,
    protocol: 'TCP' | 'UDP' = 'TCP',
    forMs = waitMs,
  ) => network.machines[from].attempt({ protocol, address, port: hostPort, waitMs: forMs })
  const applied = (hostPort: number) =>
    until(() => run('nft list table inet coxswain-host-ports || true').includes(`. ${hostPort}`))

  test('every client reaches the pod in both families, and others see its own address', async () => {
    pods.put(podWith({ ports: [port(7001), port(7001, { protocol: 'UDP' })], addresses: both }))
    await applied(7001)
    for (const protocol of ['TCP', 'UDP'] as const) {
      equal(await reach('outside', nodeV4, 7001, protocol), 'pod-a1 192.168.50.100')
      equal(await reach('outside', nodeV6, 7001, protocol), 'pod-a1 fd50::100')
      for (const client of ['node-a', 'node-b', 'pod-a1', 'pod-a2', 'pod-b1'] as const)
        for (const address of [nodeV4, nodeV6])
          match(await reach(client, address, 7001, protocol), /^pod-a1 /, `${client} to ${address} over ${protocol}`)
    }
    match(await reach('node-a', '127.0.0.1', 7001), /^pod-a1 /, 'loopback')
    equal(await reach('node-a', '::1', 7001), 'refused')
    equal(await reach('outside', nodeV4, 7002), 'refused', 'other ports are not affected')
  })

  test('a port of one address of the node is not one of the others', async () => {
    pods.put(podWith({ name: 'named', ports: [port(7003, { hostIP: nodeV4 })], addresses: ['10.244.0.3'] }))
    await applied(7003)
    match(await reach('outside', nodeV4, 7003), /^pod-a2 /)
    equal(await reach('node-a', '127.0.0.1', 7003), 'refused')
    equal(await reach('outside', nodeV6, 7003), 'refused')
  })

  test('a host IP with lines of its own executes nothing, and the host ports of other pods are mapped', async () => {
    run('nft add table inet others')
    pods.put(podWith({ name: 'bad', ports: [port(7005, { hostIP: `${nodeV4}\ndelete table inet others` })] }))
    pods.put(podWith({ name: 'worse', ports: [port(7006, { hostIP: 'not-an-address' })] }))
    pods.put(podWith({ name: 'good', ports: [port(7007)] }))
    await applied(7007)
    match(await reach('outside', nodeV4, 7007), /^pod-a1 /)
    deepEqual(events.slice(-2), ['bad InvalidHostIP', 'worse InvalidHostIP'])
    match(run('nft list tables'), /table inet others/)
    run('nft delete table inet others')
  })

  test('a port of a program of the machine, as that of the API server, is not taken by a pod, also on loopback', async () => {
    const server = createServer((socket) => socket.end('the machine')).listen(7008, '127.0.0.1')
    await once(server, 'listening')
    pods.put(podWith({ name: 'greedy', ports: [port(7008), port(7009)] }))
    await applied(7009)
    deepEqual(events.slice(-1), ['greedy HostPortConflict'])
    const [answer] = (await once(connect(7008, '127.0.0.1'), 'data')) as [Buffer]
    equal(String(answer), 'the machine')
    match(await reach('outside', nodeV4, 7009), /^pod-a1 /)
    server.close()
  })

  test('a UDP client follows the pod that replaces another one, and nothing remains after the last', async () => {
    const udp = [port(7004, { protocol: 'UDP' })]
    equal(await reach('outside', nodeV4, 7004, 'UDP', silentMs), 'refused')
    pods.put(podWith({ name: 'first', ports: udp }))
    await applied(7004)
    match(await reach('outside', nodeV4, 7004, 'UDP'), /^pod-a1 /)
    pods.put(podWith({ name: 'first', ports: udp, phase: 'Succeeded' }))
    pods.put(podWith({ name: 'second', ports: udp, addresses: ['10.244.0.3'], createdSecond: 1 }))
    await until(() => /\. 7004 : 10\.244\.0\.3 /.test(run('nft list table inet coxswain-host-ports')))
    await until(() => !run('conntrack -L -p udp --dport 7004 2>/dev/null').includes('src=10.244.0.2 '))
    match(await reach('outside', nodeV4, 7004, 'UDP'), /^pod-a2 /)
    pods.put(podWith({ name: 'second', ports: udp, phase: 'Failed' }))
    await until(() => !run('nft list table inet coxswain-host-ports').includes('7004'))
    equal(await reach('outside', nodeV4, 7004, 'UDP'), 'refused')
  })

  test('the checks distinguish a complete table from others, and a removed one is restored', async () => {
    equal((await nftables.apply(presenceCommands)).kind, 'applied')
    const result = await nftables.apply(probeCommands)
    equal(result.kind === 'failed' && result.messages.length, probeCommands.length)
    run('nft delete table inet coxswain-host-ports')
    await applied(7001)
    match(await reach('outside', nodeV4, 7001), /^pod-a1 /)
    run('nft flush ruleset')
    await applied(7003)
  })

  test('the rules are removed, and no others', async () => {
    await tasks[Symbol.asyncDispose]()
    run('nft add table inet others')
    await removeHostPortRules(nftables)
    equal(run('nft list tables').trim(), 'table inet others')
    equal(await reach('outside', nodeV4, 7001), 'refused')
  })
})

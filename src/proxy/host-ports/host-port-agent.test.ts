import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { SimulatedNftables } from '../../machine/nftables/simulated-nftables.ts'
import { portCheckMs, removeHostPortRules } from './host-port-agent.ts'
import { presenceCommands, probeCommands } from './host-port-table.ts'
import { podWith, portWithHostPort, simulatedHostPorts } from './host-ports.harness.ts'

const brief = (commands: readonly string[] | undefined): readonly string[] =>
  (commands ?? []).map((command) => command.replace('inet coxswain-host-ports ', ''))

test('the first transaction replaces the table; a changed pod is its elements', async () => {
  const { pods, clock, nftables, tasks, agent, flow } = simulatedHostPorts()
  await using _tasks = tasks
  pods.put(podWith({ ports: [portWithHostPort(8081)] }))
  await clock.settle()
  await agent.synced
  const [all] = nftables.transactions
  equal(all?.[1], 'delete table inet coxswain-host-ports')
  match(all?.join('\n') ?? '', /ip saddr { 10\.244\.0\.0\/24, 127\.0\.0\.0\/8 } .* @ports4 meta mark set/)
  match(all?.join('\n') ?? '', /ip6 saddr { fd01::\/64 } .* @ports6 meta mark set/)
  deepEqual(brief(all?.slice(-2)), [
    'add element ports4 { tcp . 8081 }',
    'add element any4 { tcp . 8081 : 10.244.0.2 . 8080 }',
  ])
  pods.put(podWith({ ports: [portWithHostPort(8081, { hostIP: '192.168.50.1' })] }))
  await clock.settle()
  deepEqual(brief(nftables.transactions[1]), [
    'delete element any4 { tcp . 8081 }',
    'add element named4 { 192.168.50.1 . tcp . 8081 : 10.244.0.2 . 8080 }',
  ])
  pods.put(podWith({ ports: [portWithHostPort(8081)], phase: 'Succeeded' }))
  await clock.settle()
  deepEqual(brief(nftables.transactions[2]), [
    'delete element ports4 { tcp . 8081 }',
    'delete element named4 { 192.168.50.1 . tcp . 8081 }',
  ])
  const recorded = [...flow.events()].filter(({ what }) => what === 'apply host ports')
  deepEqual(
    recorded.map(({ from, to, object }) => [from, to, object?.name]),
    recorded.map(() => ['proxy/node-a', 'Network', 'web']),
  )
  equal(recorded.length, 3)
})

test('pods of other nodes and pods without host ports cause no transaction', async () => {
  const { pods, clock, nftables, tasks } = simulatedHostPorts()
  await using _tasks = tasks
  await clock.settle()
  pods.put(podWith({ ports: [portWithHostPort(8081)], spec: { nodeName: 'node-b' } }))
  pods.put(podWith({ name: 'plain' }))
  await clock.settle()
  equal(nftables.transactions.length, 1)
})

test('of two pods with the same port the older one has it, then the other', async () => {
  const { pods, clock, nftables, tasks } = simulatedHostPorts()
  await using _tasks = tasks
  await clock.settle()
  pods.put(podWith({ name: 'b', ports: [portWithHostPort(80)], addresses: ['10.244.0.3'], createdSecond: 2 }))
  pods.put(podWith({ name: 'a', ports: [portWithHostPort(80)], addresses: ['10.244.0.2'], createdSecond: 1 }))
  await clock.settle()
  deepEqual(brief(nftables.transactions[1]), [
    'add element ports4 { tcp . 80 }',
    'add element any4 { tcp . 80 : 10.244.0.2 . 8080 }',
  ])
  pods.remove(podWith({ name: 'a' }))
  await clock.settle()
  deepEqual(brief(nftables.transactions[2]), [
    'delete element any4 { tcp . 80 }',
    'add element any4 { tcp . 80 : 10.244.0.3 . 8080 }',
  ])
})

test('a host IP that is not an address is reported, and the ports of other pods are mapped', async () => {
  const { pods, clock, nftables, tasks, events, ignored } = simulatedHostPorts()
  await using _tasks = tasks
  await clock.settle()
  pods.put(podWith({ name: 'bad', ports: [portWithHostPort(80, { hostIP: '1.2.3.4\nflush ruleset' })] }))
  pods.put(podWith({ name: 'good', ports: [portWithHostPort(81)], addresses: ['10.244.0.3'] }))
  await clock.settle()
  deepEqual(brief(nftables.transactions[1]), [
    'add element ports4 { tcp . 81 }',
    'add element any4 { tcp . 81 : 10.244.0.3 . 8080 }',
  ])
  deepEqual(events, [
    'bad InvalidHostIP: host port 80 is not mapped: the host IP "1.2.3.4\\nflush ruleset" is not an IP address',
  ])
  equal(ignored(), '1')
  pods.remove(podWith({ name: 'bad' }))
  await clock.settle()
  equal(ignored(), '0')
})

test('a program of the machine keeps its port, also if it starts after the pod, and while it is restarted', async () => {
  const { pods, clock, nftables, tasks, sockets, events, ignored } = simulatedHostPorts()
  await using _tasks = tasks
  sockets.push({ protocol: 'TCP', address: '127.0.0.1', port: 6443 })
  pods.put(podWith({ ports: [portWithHostPort(6443), portWithHostPort(81)] }))
  await clock.settle()
  const mapped = () =>
    brief(nftables.transactions.flat()).filter((command) => /^(add|delete) element any4/.test(command))
  deepEqual(mapped(), ['add element any4 { tcp . 81 : 10.244.0.2 . 8080 }'])
  const message = (port: string) =>
    `web HostPortConflict: host port ${port} is not mapped: a program of the node node-a uses it`
  deepEqual(events, [message('6443/TCP')])
  sockets.length = 0
  await clock.advance(portCheckMs)
  equal(mapped().length, 1, 'the program may be restarting')
  sockets.push({ protocol: 'TCP', address: undefined, port: 81 })
  await clock.advance(portCheckMs)
  deepEqual(mapped().slice(1), ['delete element any4 { tcp . 81 }'])
  deepEqual(events.slice(1), [message('81/TCP')])
  equal(ignored(), '2')
})

test('UDP flows to the node itself and to a pod that is gone are removed, others are not', async () => {
  const { pods, clock, conntrack, tasks } = simulatedHostPorts()
  await using _tasks = tasks
  await clock.settle()
  const flow = (port: number, endpoint: string) => ({
    family: 'IPv4' as const,
    address: mustParseIp('192.168.50.1'),
    port,
    endpoint: { address: mustParseIp(endpoint), port: 8080 },
  })
  const flows = [flow(53, '192.168.50.1'), flow(53, '10.244.0.2'), flow(54, '10.244.0.2'), flow(53, '10.244.0.9')]
  conntrack.flows = flows
  pods.put(podWith({ ports: [portWithHostPort(53, { protocol: 'UDP' })] }))
  await clock.settle()
  deepEqual(conntrack.removed, flows.slice(0, 2))
})

test('a table that another program removed is restored', async () => {
  const { clock, nftables, tasks } = simulatedHostPorts()
  await using _tasks = tasks
  await clock.settle()
  let isLost = true
  nftables.respond = (commands) =>
    commands === presenceCommands && isLost
      ? { kind: 'failed', messages: ['No such file or directory'] }
      : commands === probeCommands
        ? { kind: 'failed', messages: probeCommands.map(() => 'busy') }
        : { kind: 'applied' }
  await clock.advance(500)
  isLost = false
  await clock.advance(500)
  ok(nftables.transactions.filter((commands) => commands[1] === 'delete table inet coxswain-host-ports').length > 1)
})

test('the rules are removed, or the failure is reported', async () => {
  const nftables = new SimulatedNftables()
  await removeHostPortRules(nftables)
  deepEqual(nftables.transactions, [['add table inet coxswain-host-ports', 'delete table inet coxswain-host-ports']])
  nftables.respond = () => ({ kind: 'failed', messages: ['busy'] })
  await rejects(removeHostPortRules(nftables), /cannot remove the rules of host ports: busy/)
})

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedNftables } from '../../machine/nftables/simulated-nftables.ts'
import { removeHostPortRules } from './host-port-agent.ts'
import { presenceCommands, probeCommands } from './host-port-table.ts'
import { podWith, portOf, simulatedHostPorts } from './host-ports.harness.ts'

const brief = (commands: readonly string[] | undefined): readonly string[] =>
  (commands ?? []).map((command) => command.replace('inet coxswain-host-ports ', ''))

test('the first transaction replaces the table; a changed pod is its elements', async () => {
  const { pods, clock, nftables, tasks, agent, flow } = simulatedHostPorts()
  await using _tasks = tasks
  pods.put(podWith({ ports: [portOf(8081)] }))
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
  pods.put(podWith({ ports: [portOf(8081, { hostIP: '192.168.50.1' })] }))
  await clock.settle()
  deepEqual(brief(nftables.transactions[1]), [
    'delete element any4 { tcp . 8081 }',
    'add element named4 { 192.168.50.1 . tcp . 8081 : 10.244.0.2 . 8080 }',
  ])
  pods.put(podWith({ ports: [portOf(8081)], phase: 'Succeeded' }))
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
  pods.put(podWith({ ports: [portOf(8081)], spec: { nodeName: 'node-b' } }))
  pods.put(podWith({ name: 'plain' }))
  await clock.settle()
  equal(nftables.transactions.length, 1)
})

test('of two pods with the same port the older one has it, then the other', async () => {
  const { pods, clock, nftables, tasks } = simulatedHostPorts()
  await using _tasks = tasks
  await clock.settle()
  pods.put(podWith({ name: 'b', ports: [portOf(80)], addresses: ['10.244.0.3'], createdSecond: 2 }))
  pods.put(podWith({ name: 'a', ports: [portOf(80)], addresses: ['10.244.0.2'], createdSecond: 1 }))
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

test('UDP flows to the node itself and to a pod that is gone are removed, others are not', async () => {
  const { pods, clock, conntrack, tasks } = simulatedHostPorts()
  await using _tasks = tasks
  await clock.settle()
  const flow = (port: number, endpoint: string) => ({
    ...{ family: 'IPv4' as const, address: '192.168.50.1', port },
    endpoint: { address: endpoint, port: 8080 },
  })
  const flows = [flow(53, '192.168.50.1'), flow(53, '10.244.0.2'), flow(54, '10.244.0.2'), flow(53, '10.244.0.9')]
  conntrack.flows = flows
  pods.put(podWith({ ports: [portOf(53, { protocol: 'UDP' })] }))
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

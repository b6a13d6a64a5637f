// The proxy of a node, with programs that only record what they are asked to do. A process of its own is run/run-proxy.test.ts.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { parseCidrs } from '../../base/net/cidr.ts'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { context } from '../../base/observability/context.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { SimulatedKernelSettings } from '../../machine/kernel-settings/simulated-kernel-settings.ts'
import type { PodNetwork, PodPaths } from '../../machine/pod-network/pod-network.ts'
import type { Listener, ListenerProvider } from '../../platform/http/listener.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { startCluster } from '../testing/start-cluster.ts'
import type { PolicyAgent } from '../../network-policy/policy-agent.ts'
import { bindNetworkAgents } from '../bootstrap/network-agents.ts'
import { recordedPrograms } from '../node/recorded-programs.harness.ts'
import { machineWith, proxyComponent } from './proxy.ts'
import { nodeProxySettings } from './real-node.ts'

const called = context(new AbortController().signal)
const bridgeSetting = 'net/ipv4/conf/coxswain0/route_localnet'

/** The first simulated node of a cluster, as if it were this machine. */
async function withNode({
  hasNetwork,
  hostIp = '192.0.2.7',
}: {
  readonly hasNetwork: boolean
  readonly hostIp?: string
}) {
  const cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  const [own, other] = (await client.of(node).list({}, called)).items
  ok(own !== undefined && other !== undefined)
  const nodeName = own.metadata.name
  const paths: PodPaths[] = []
  const podNetwork: PodNetwork = {
    prepare: () => Promise.resolve(),
    adjacent: (addresses) => Promise.resolve(new Set(addresses)),
    setPaths(now) {
      paths.push(now)
      return Promise.resolve(new Map())
    },
    forwardingBlockedBy: () => Promise.resolve(undefined),
  }
  const podRanges = parseCidrs(own.spec.podCIDRs ?? [])
  const programs = recordedPrograms()
  const kernelSettings = new SimulatedKernelSettings({ [bridgeSetting]: '0' })
  const agents: PolicyAgent[] = []
  const listened: string[] = []
  const listeners: ListenerProvider = {
    ...nodePlatform.listeners,
    listen({ host, port }) {
      listened.push(`${host}:${port}`)
      if (host === hostIp) return Promise.reject(new Error('in use'))
      const close = () => Promise.resolve(void listened.push(`closed ${host}:${port}`))
      return Promise.resolve({ port, close, renew: () => Promise.resolve() } as unknown as Listener)
    },
  }
  const network = { podRanges, gateways: [mustParseIp('10.244.0.1')], podNetwork }
  const real = { description: { name: nodeName, hostIp }, usePolicies: (agent: PolicyAgent) => void agents.push(agent) }
  const ranges = { podCidrs: ['10.244.0.0/16'], clusterCidrs: ['10.244.0.0/16'], serviceCidrs: ['10.96.0.0/16'] }
  const { start } = proxyComponent({
    ...nodeProxySettings(real, hasNetwork ? network : undefined, ranges),
    machine: machineWith(
      { ...programs, kernelSettings, listeners, listeningPorts: { read: () => Promise.resolve([]) } },
      clock,
    ),
  }).prepare({
    clock,
    random: seededRandom(1),
    log: silentLog,
    flow: new FlowRecorder(clock),
    metrics: new Metrics(),
    client: (_sender, { name, groups }) => cluster.as(name, groups),
  })
  const tasks = new TaskGroup()
  const startProxy = async () => {
    start(tasks)
    await clock.settle()
  }
  const stop = () => tasks[Symbol.asyncDispose]()
  const dispose = async () => {
    await stop()
    await cluster.stop()
  }
  const found = { client, clock, nodeName, other, programs, kernelSettings, paths, agents, listened }
  return { ...found, startProxy, stop, [Symbol.asyncDispose]: dispose }
}

test('the rules of Services are applied and remain when the proxy stops', async () => {
  await using machine = await withNode({ hasNetwork: true })
  await machine.startProxy()
  match(machine.programs.transactions.join('\n'), /10\.96\.0\.1\b/)
  const before = machine.programs.transactions.length
  const ports = [{ port: 80, protocol: 'TCP' as const }]
  const web = { metadata: { name: 'web' }, spec: { clusterIP: '10.96.0.99', ports } }
  await machine.client.of(service).create(web, 'default', called)
  await machine.clock.settle()
  match(machine.programs.transactions.slice(before).join('\n'), /10\.96\.0\.99\b/)
  equal(machine.programs.running(), 1)
  const transactions = machine.programs.transactions.length
  await machine.stop()
  equal(machine.programs.running(), 0, 'nft has ended')
  equal(machine.programs.transactions.length, transactions, 'no rule is removed')
})

test('a node that others can reach has the ports of kube-proxy, as far as they are free', async () => {
  await using machine = await withNode({ hasNetwork: true })
  await machine.startProxy()
  deepEqual(machine.listened, ['192.0.2.7:10256', '127.0.0.1:10256', '127.0.0.1:10249'])
  await machine.stop()
  deepEqual(machine.listened.slice(3), ['closed 127.0.0.1:10249', 'closed 127.0.0.1:10256'])
  await using alone = await withNode({ hasNetwork: true, hostIp: '127.0.0.1' })
  await alone.startProxy()
  deepEqual(alone.listened, [])
})

test('network policies are enforced and host ports mapped on a node whose network is ours', async () => {
  await using machine = await withNode({ hasNetwork: true })
  await bindNetworkAgents(machine.client, called)
  await machine.startProxy()
  equal(machine.agents.length, 1)
  await machine.agents[0]?.synced
  const rules = machine.programs.transactions.join('\n')
  match(rules, /add chain inet coxswain-policy ingress \{ type filter hook forward/)
  match(rules, /iifname "coxswain0"/)
  match(rules, /add table inet coxswain-host-ports; delete table inet coxswain-host-ports/)
})

test('the paths to pods of other nodes are set, and the Node says which', async () => {
  await using machine = await withNode({ hasNetwork: true })
  await machine.startProxy()
  const ranges = machine.other.spec.podCIDRs ?? []
  equal(ranges.length > 0, true)
  deepEqual(
    machine.paths.at(-1)?.routes.map(({ range, kind }) => [range, kind]),
    ranges.map((range) => [range, 'route']),
  )
  const { metadata } = await machine.client.of(node).get(machine.nodeName, '', called)
  match(metadata.annotations?.['coxswain.dev/pod-paths'] ?? '', /route/)
  equal(machine.kernelSettings.values.get(bridgeSetting), '1')
})

test('a node with another CNI plugin has rules of Services, but no paths, policies or host ports', async () => {
  await using machine = await withNode({ hasNetwork: false })
  await machine.startProxy()
  match(machine.programs.transactions.join('\n'), /10\.96\.0\.1\b/)
  deepEqual(machine.paths, [])
  deepEqual(machine.agents, [])
  const { metadata } = await machine.client.of(node).get(machine.nodeName, '', called)
  equal(metadata.annotations?.['coxswain.dev/pod-paths'], undefined)
  equal(machine.kernelSettings.values.get(bridgeSetting), '0')
})

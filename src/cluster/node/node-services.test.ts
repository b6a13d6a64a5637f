// The network of a node beyond its own pods, with programs that only record what they are asked to do.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseCidr, parseCidrs } from '../../base/net/cidr.ts'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { context } from '../../base/observability/context.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { SimulatedKernelSettings } from '../../machine/kernel-settings/simulated-kernel-settings.ts'
import type { PodNetwork, PodPaths } from '../../machine/pod-network/pod-network.ts'
import type { InteractivePrograms, Processes } from '../../platform/process/processes.ts'
import type { Listener, ListenerProvider } from '../../platform/http/listener.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { nodeUser, proxyUser } from '../client/component-users.ts'
import { startCluster } from '../testing/start-cluster.ts'
import type { PolicyAgent } from '../../network-policy/policy-agent.ts'
import { bindNetworkAgents } from '../bootstrap/network-agents.ts'
import { nodeServices, removeNetworkThrough } from './node-services.ts'
import { memorySockets } from './sockets.harness.ts'

const called = context(new AbortController().signal)
const bridgeSetting = 'net/ipv4/conf/coxswain0/route_localnet'

/** `nftPrints` is what nft prints for a transaction. */
function recordedPrograms(nftPrints: readonly string[] = []) {
  const commands: string[] = []
  const transactions: string[] = []
  let running = 0
  const processes: Pick<Processes, 'run'> & InteractivePrograms = {
    run(program, args, { input = '' }) {
      commands.push([program, ...args].join(' '))
      if (program === 'nft') transactions.push(String(input))
      return Promise.resolve({ code: 0, stdout: '', stderr: '' })
    },
    startInteractive(_program, _args, _options, onLine) {
      const ended = Promise.withResolvers<number>()
      running++
      return {
        pid: 1,
        ended: ended.promise,
        kill() {
          running--
          ended.resolve(0)
        },
        write(text) {
          const [transaction = ''] = text.split('\n')
          transactions.push(transaction)
          for (const line of nftPrints) onLine(line)
          onLine('payload expression, datatype ipv4_addr (IPv4 address), 32 bits')
        },
      }
    },
  }
  return { processes, commands, transactions, running: () => running }
}

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
  const sockets = memorySockets()
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
  const services = nodeServices(
    {
      ...{ nodeName, hostIp },
      network: hasNetwork ? { podRanges, gateways: [mustParseIp('10.244.0.1')], podNetwork } : undefined,
      dns: { servers: [], domain: 'cluster.local', resolvConfPath: '/none' },
      onPolicyAgent: (agent) => void agents.push(agent),
    },
    new Metrics(),
    { ...programs, kernelSettings, sockets, listeners, listeningPorts: { read: () => Promise.resolve([]) } },
  )
  const tasks = new TaskGroup()
  const shared = { clock, random: seededRandom(1), log: silentLog }
  const startProxy = async () => {
    services.startProxy(
      {
        ...{ ...shared, flow: new FlowRecorder(clock), podCidrs: ['10.244.0.0/16'] },
        ...{ clusterCidrs: ['10.244.0.0/16'], serviceCidrs: ['10.96.0.0/16'] },
        client: cluster.as(proxyUser.name),
        nodeClient: cluster.as(nodeUser(nodeName).name, nodeUser(nodeName).groups),
      },
      tasks,
    )
    await clock.settle()
  }
  const startDns = async () => {
    const deps = { ...shared, client, publisher: client, serviceRange: mustParseCidr('10.96.0.0/16') }
    await services.startDns?.(deps, tasks)
  }
  const stop = () => tasks[Symbol.asyncDispose]()
  const dispose = async () => {
    await stop()
    await cluster.stop()
  }
  const found = { client, clock, nodeName, other, programs, kernelSettings, sockets, services, paths, agents, listened }
  return { ...found, startProxy, startDns, stop, [Symbol.asyncDispose]: dispose }
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

test('a node with another CNI plugin has rules of Services, but neither paths nor a DNS server', async () => {
  await using machine = await withNode({ hasNetwork: false })
  equal(machine.services.startDns, undefined)
  await machine.startProxy()
  match(machine.programs.transactions.join('\n'), /10\.96\.0\.1\b/)
  deepEqual(machine.paths, [])
  deepEqual(machine.agents, [])
  const { metadata } = await machine.client.of(node).get(machine.nodeName, '', called)
  equal(metadata.annotations?.['coxswain.dev/pod-paths'], undefined)
  equal(machine.kernelSettings.values.get(bridgeSetting), '0')
})

test('the DNS server listens at the gateway of the pods', async () => {
  await using machine = await withNode({ hasNetwork: true })
  await machine.startDns()
  deepEqual(machine.sockets.bound(), ['10.244.0.1:53'])
})

test('the removal covers the rules of Services, the paths to other nodes and the bridge', async () => {
  const programs = recordedPrograms()
  await removeNetworkThrough(programs.processes, new VirtualClock(), called.signal)
  match(programs.transactions[0] ?? '', /delete table inet coxswain-proxy/)
  match(programs.transactions[1] ?? '', /delete table inet coxswain-policy/)
  match(programs.transactions[2] ?? '', /delete table inet coxswain-host-ports/)
  match(programs.transactions[3] ?? '', /delete table inet coxswain-node/)
  const deleted = programs.commands.filter((command) => command.startsWith('ip link delete'))
  deepEqual(deleted, ['ip link delete coxswain-vx', 'ip link delete coxswain0'])
  equal(programs.running(), 0)
})

test('a failure to remove the rules is an error, and nft ends', async () => {
  const programs = recordedPrograms(['Error: Operation not permitted'])
  const removed = removeNetworkThrough(programs.processes, new VirtualClock(), called.signal)
  await rejects(removed, /cannot remove the rules of Services: Operation not permitted/)
  deepEqual(programs.commands, [])
  equal(programs.running(), 0)
})

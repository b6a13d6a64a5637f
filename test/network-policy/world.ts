// Nine pods in three namespaces, as in the tests of upstream, on one node. This namespace is the node:
//
//   x/a x/b x/c y/a … z/c ── cni0 ── node ── lan0 ── outside 192.168.50.100
//
// Each pod serves the ports 80 and 81. Its addresses are 10.244.0.<n> and fd01::a:<n>, with n from 11 to 19.
import { namespace, type Namespace } from '../../src/api/core/v1/namespace.ts'
import { pod, type Pod } from '../../src/api/core/v1/pod/pod.ts'
import { networkPolicy, type NetworkPolicy } from '../../src/api/networking/v1/network-policy.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { realClock } from '../../src/base/time/clock.ts'
import type { Informers } from '../../src/client/informer/informers.ts'
import { nodeKernelSettings } from '../../src/machine/kernel-settings/node-kernel-settings.ts'
import { NftProgram } from '../../src/machine/nftables/nft-program.ts'
export { policyWith } from '../../src/network-policy/network-policy.harness.ts'
import { startPolicyAgent, type PolicyAgentDeps } from '../../src/network-policy/policy-agent.ts'
import { nodeProcesses } from '../../src/platform/node/process/processes.ts'
import { ScriptedSource } from '../../src/proxy/routing/routing.harness.ts'
import { Agent, run } from '../proxy/network.harness.ts'

export const families = ['IPv4', 'IPv6'] as const
export type Family = (typeof families)[number]

export const namespaces = ['x', 'y', 'z'] as const
export const podNames = namespaces.flatMap((each) => ['a', 'b', 'c'].map((name) => `${each}/${name}`))
export const ports = [80, 81] as const

const hostPart = (name: string): number => (name === 'outside' ? 100 : 11 + podNames.indexOf(name))

export const addressOf = (name: string, family: Family): string => {
  const [v4, v6] = name === 'outside' ? ['192.168.50.', 'fd50::'] : ['10.244.0.', 'fd01::a:']
  return `${family === 'IPv4' ? v4 : v6}${hostPart(name)}`
}

const meta = (name: string, ofNamespace: string | undefined, labels: Record<string, string>) => ({
  name,
  uid: `${ofNamespace}/${name}`,
  resourceVersion: '1',
  creationTimestamp: '',
  labels,
  ...(ofNamespace === undefined ? {} : { namespace: ofNamespace }),
})

export const namespaceWith = (name: string, labels: Record<string, string> = {}): Namespace =>
  ({
    apiVersion: 'v1',
    kind: namespace.kind,
    spec: {},
    status: {},
    metadata: meta(name, undefined, { 'kubernetes.io/metadata.name': name, ns: name, ...labels }),
  }) as unknown as Namespace

/** Names of ports: `serve-80-tcp` and so on, as upstream's test pods have. */
export function podWith(
  path: string,
  more: { labels?: Record<string, string>; addresses?: readonly string[] } = {},
): Pod {
  const [ofNamespace = '', name = ''] = path.split('/')
  const named = ports.flatMap((containerPort) =>
    ['TCP', 'UDP', 'SCTP'].map((protocol) => ({
      name: `serve-${containerPort}-${protocol.toLowerCase()}`,
      containerPort,
      protocol,
    })),
  )
  const addresses = more.addresses ?? families.map((family) => addressOf(path, family))
  return {
    apiVersion: 'v1',
    kind: pod.kind,
    metadata: meta(name, ofNamespace, { pod: name, ...more.labels }),
    spec: { nodeName: 'node-a', containers: [{ name: 'c', image: 'i', ports: named }] },
    status: { phase: 'Running', podIPs: addresses.map((ip) => ({ ip })) },
  } as unknown as Pod
}

/** The pods as processes in their namespaces, connected by a bridge. */
export async function startPods(): Promise<ReadonlyMap<string, Agent> & AsyncDisposable> {
  const quick = 'sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0'
  run(`${quick}; sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1`)
  for (const [bridge, v4, v6] of [
    ['cni0', '10.244.0.1/24', 'fd01::a:1/112'],
    ['lan0', '192.168.50.1/24', 'fd50::1/64'],
  ])
    run(
      `ip link add ${bridge} type bridge; ip link set ${bridge} up; ip addr add ${v4} dev ${bridge}; ip addr add ${v6} dev ${bridge} nodad`,
    )
  const agents = new Map<string, Agent>()
  await Promise.all(
    [...podNames, 'outside'].map(async (name) => {
      const agent = await Agent.start(name, ports)
      agents.set(name, agent)
    }),
  )
  for (const [name, { pid }] of agents) {
    const [bridge, device] = name === 'outside' ? ['lan0', 'out'] : ['cni0', `p${hostPart(name)}`]
    const [v4, v6] = families.map((family) => addressOf(name, family))
    const [gateway4, gateway6] = name === 'outside' ? ['192.168.50.1', 'fd50::1'] : ['10.244.0.1', 'fd01::a:1']
    run(
      `ip link add ${device} type veth peer name eth0 netns ${pid}; ip link set ${device} master ${bridge} up; bridge link set dev ${device} hairpin on`,
    )
    run(
      `nsenter -t ${pid} -n sh -ec '${quick}; ip link set lo up; ip link set eth0 up; ip addr add ${v4}/24 dev eth0; ip addr add ${v6}/${name === 'outside' ? 64 : 112} dev eth0 nodad; ip route add default via ${gateway4}; ip route add default via ${gateway6}'`,
    )
  }
  const stop = async () => void (await Promise.all([...agents.values()].map((agent) => agent.stop())))
  return Object.assign(agents, { [Symbol.asyncDispose]: stop })
}

/** A policy agent in this process and in this network namespace, whose objects a test changes. */
export function startAgent(more: Partial<PolicyAgentDeps> = {}) {
  const sources = {
    pods: new ScriptedSource<Pod>(),
    namespaces: new ScriptedSource<Namespace>(),
    policies: new ScriptedSource<NetworkPolicy>(),
  }
  const byKind = new Map<unknown, unknown>([
    [pod, sources.pods],
    [namespace, sources.namespaces],
    [networkPolicy, sources.policies],
  ])
  const nftables = more.nftables ?? new NftProgram({ processes: nodeProcesses, clock: realClock })
  const tasks = new TaskGroup()
  const agent = startPolicyAgent(
    {
      informers: { of: (kind: unknown) => byKind.get(kind) } as unknown as Pick<Informers, 'of'>,
      clock: realClock,
      log: silentLog,
      flow: new FlowRecorder(realClock),
      kernelSettings: nodeKernelSettings(),
      nodeName: 'node-a',
      ownRanges: ['10.244.0.0/24', 'fd01::a:0/112'],
      bridge: 'cni0',
      ...more,
      nftables,
    },
    tasks,
  )
  return {
    ...sources,
    agent,
    nftables,
    /** Stops the agent; its rules remain. */
    async [Symbol.asyncDispose]() {
      tasks.stop()
      await tasks.join().catch(() => undefined)
      await nftables[Symbol.asyncDispose]()
    },
  }
}

export type StartedAgent = ReturnType<typeof startAgent>

/** All namespaces and pods, without policies. */
export function addWorld({ pods, namespaces: all }: Pick<StartedAgent, 'pods' | 'namespaces'>): void {
  for (const name of namespaces) all.put(namespaceWith(name))
  for (const path of podNames) pods.put(podWith(path))
}

// Flow 08: from a NetworkPolicy to the rules of a node, and what happens when policies, labels and rules change. The agent
// is the real one on a simulated driver; test/network-policy sends packets.
import { match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { networkPolicy } from '../../src/api/networking/v1/network-policy.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import { bindNetworkAgents } from '../../src/cluster/bootstrap/network-agents.ts'
import { adminUser, proxyUser } from '../../src/cluster/client/component-users.ts'
import { flowTreesOf } from '../../src/flows/flow-graph.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import { SimulatedKernelSettings } from '../../src/machine/kernel-settings/simulated-kernel-settings.ts'
import { SimulatedNftables } from '../../src/machine/nftables/simulated-nftables.ts'
import { intact } from '../../src/network-policy/network-policy.harness.ts'
import { presenceCommands, probeCommands } from '../../src/network-policy/nftables/policy-layout.ts'
import { startPolicyAgent } from '../../src/network-policy/policy-agent.ts'
import { ctx, startBareCluster, type BareCluster } from './bare-cluster.ts'
import { comparePage, excerpt, since } from './page.ts'

/** The policy agent of node-0; its transactions are recorded. */
function startAgent({ cluster, clock, random }: BareCluster, tasks: TaskGroup): SimulatedNftables {
  const nftables = new SimulatedNftables()
  nftables.respond = (commands) => (commands === probeCommands ? intact : { kind: 'applied' })
  const client = cluster.client('network-policy/node-0', proxyUser)
  startPolicyAgent(
    {
      nftables,
      clock,
      flow: cluster.flow,
      log: silentLog,
      nodeName: 'node-0',
      ownRanges: ['10.244.0.0/24'],
      informers: new Informers(client, { clock, random, log: silentLog }, tasks),
      kernelSettings: new SimulatedKernelSettings({}),
    },
    tasks,
  )
  return nftables
}

test('08 network policy', async () => {
  await using bare = startBareCluster({ nodes: 1 })
  await using tasks = new TaskGroup()
  const { cluster, clock } = bare
  const client = cluster.client('test', adminUser)
  await clock.advance('5s')
  await bindNetworkAgents(client, ctx)
  const nftables = startAgent(bare, tasks)
  await clock.advance('1s')
  const flowOf = (resource: string, name: string) =>
    textDiagram(flowTreesOf(cluster.flow.events(), { resource, namespace: 'default', name }), { fold: true })
  /** What was applied since the last call, without checks. */
  let taken = 0
  const applied = () => {
    const all = nftables.transactions.filter((commands) => commands !== presenceCommands)
    const fresh = all.slice(taken).flat().join('\n')
    taken = all.length
    return fresh
  }

  const spec = { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 1 }
  for (const name of ['web', 'friend', 'stranger'])
    await client.of(pod).create({ metadata: { name, labels: { app: name } }, spec }, 'default', ctx)
  await clock.advance('10s')
  const ip = async (name: string) => (await client.of(pod).get(name, 'default', ctx)).status.podIP ?? ''
  const web = await ip('web')
  const friend = await ip('friend')
  const stranger = await ip('stranger')
  match(applied(), new RegExp(`pods4 \\{.*${web}`), 'a pod is known before it is open')

  const selects = (app: string) => ({ podSelector: { matchLabels: { app } } })
  const metadata = { name: 'web' }
  await client
    .of(networkPolicy)
    .create({ metadata, spec: { ...selects('web'), ingress: [{ from: [selects('friend')] }] } }, 'default', ctx)
  await clock.advance('1s')
  const rules = applied()
  match(rules, new RegExp(`ingress4 \\{ ${web} : goto pod-ingress`), 'the pod is isolated')
  match(rules, new RegExp(`peers-1-of4 \\{ ${friend} \\}`), 'only the friend may reach it')
  ok(!rules.includes(stranger))
  const created = flowOf('networkpolicies', 'web')

  await client.of(pod).patch('stranger', 'default', { metadata: { labels: { app: 'friend' } } }, 'merge', ctx)
  await clock.advance('1s')
  match(applied(), new RegExp(`add element .*peers-1-of4 \\{ ${stranger} \\}`), 'its new label lets it in')
  const relabelled = since(flowOf('pods', 'stranger'), 'patch pods stranger')

  const ports = [{ port: 53, protocol: 'UDP' as const }]
  const egress = { policyTypes: ['Ingress', 'Egress'], egress: [{ ports }] }
  const changed = { ...selects('web'), ingress: [{ from: [selects('friend')] }], ...egress }
  await client.of(networkPolicy).patch('web', 'default', { spec: changed }, 'merge', ctx)
  await clock.advance('1s')
  const later = applied()
  match(later, new RegExp(`egress4 \\{ ${web} : goto pod-egress`), 'egress is isolated')
  match(later, /udp dport \{ 53 \} accept/, 'DNS works')
  const updated = since(flowOf('networkpolicies', 'web'), 'patch networkpolicies web')

  nftables.respond = (commands) => {
    nftables.respond = (next) => (next === probeCommands ? intact : { kind: 'applied' })
    return { kind: 'failed', messages: commands.map(() => 'No such file or directory') }
  }
  await clock.advance('1s')
  match(applied(), new RegExp(`delete table[^]*ingress4 \\{ ${web} : goto pod-ingress`), 'lost rules are restored')

  await client.of(networkPolicy).delete('web', 'default', {}, ctx)
  await clock.advance('1s')
  match(applied(), new RegExp(`delete element .*ingress4 \\{ ${web} \\}`), 'the pod is open again')
  const deleted = since(flowOf('networkpolicies', 'web'), 'delete networkpolicies web')

  const steps = [/test ──► API Server/, /Network/, /put networkpolicies|delete networkpolicies/]
  await comparePage('08-network-policy', 'NetworkPolicy', [
    {
      heading: 'A policy is created',
      text: 'The agent of each node isolates the selected pods of that node in one transaction of the kernel. A packet from an allowed pod passes; one from any other pod is dropped.',
      diagram: excerpt(created, ...steps),
    },
    {
      heading: 'A pod is relabelled',
      text: 'The pod becomes a peer of the policy: its address is added to the set of the selection, and no rule changes.',
      diagram: excerpt(relabelled, /test ──► API Server/, /Network/),
    },
    {
      heading: 'A policy is changed',
      text: 'The policy now isolates egress as well and allows DNS. The old rules apply until the new ones do.',
      diagram: excerpt(updated, ...steps),
    },
    {
      heading: 'A policy is deleted',
      text: 'The pod is open again. Rules that another program removes are restored within a second, and rules remain while the agent is restarted.',
      diagram: excerpt(deleted, ...steps),
    },
  ])
})

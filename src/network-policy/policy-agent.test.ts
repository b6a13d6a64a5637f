import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { keyOf } from '../api/meta/object.ts'
import type { NetworkPolicy } from '../api/networking/v1/network-policy.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { silentLog } from '../base/observability/log.ts'
import { Metrics } from '../base/observability/metrics.ts'
import { seededRandom } from '../base/random/random.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import type { Client } from '../client/client.ts'
import { policyReports, startPolicyReports } from './policy-reports.ts'
import { SimulatedKernelSettings } from '../machine/kernel-settings/simulated-kernel-settings.ts'
import { SimulatedNftables } from '../machine/nftables/simulated-nftables.ts'
import { intact, namespaceWith, podAt, policyWith, simulatedAgent } from './network-policy.harness.ts'
import { presenceCommands, probeCommands, removalCommands, trialEnd } from './nftables/policy-layout.ts'
import { removePolicyRules } from './policy-agent.ts'

const { signal } = new AbortController()
const deny = policyWith('x/deny', { podSelector: {} })
const isCheck = (commands: readonly string[]) => commands === presenceCommands || commands === probeCommands
const applied = ({ nftables }: ReturnType<typeof simulatedAgent>) =>
  nftables.transactions.filter((commands) => !isCheck(commands))

test('the rules are applied in one transaction when all objects are known', async () => {
  const under = simulatedAgent()
  under.namespaces.put(namespaceWith('x'))
  under.pods.put(podAt('x/a', ['10.244.0.2']))
  under.policies.put(deny)
  await under.clock.advance(0)
  await under.agent.synced
  const transactions = applied(under)
  equal(transactions.length, 1)
  ok(transactions[0]?.includes('add element inet coxswain-policy ingress4 { 10.244.0.2 : goto pod-ingress-2 }'))
  deepEqual([...under.kernelSettings.values.values()].map(String).slice(0, 2), ['1', '1'])
  under.tasks.stop()
})

test('changes of one turn are one transaction, and a change without effect is none', async () => {
  const under = simulatedAgent()
  under.namespaces.put(namespaceWith('x'))
  await under.clock.advance(0)
  under.pods.put(podAt('x/a', ['10.244.0.2']), podAt('x/b', ['10.244.0.3']))
  under.policies.put(deny)
  await under.clock.advance(0)
  under.pods.put(podAt('x/a', ['10.244.0.2']))
  await under.clock.advance(0)
  equal(applied(under).length, 2)
  under.policies.remove(deny)
  under.namespaces.remove(namespaceWith('x'))
  await under.clock.advance(0)
  equal(applied(under).length, 3)
  under.tasks.stop()
})

test('a starting pod waits until the kernel has its rules', async () => {
  const under = simulatedAgent()
  under.policies.put(deny)
  await under.clock.advance(0)
  const starting = podAt('x/a', [], {}, { status: { phase: 'Pending', podIPs: undefined } })
  under.nftables.respond = () => ({ kind: 'failed', messages: ['no memory'] })
  let isProtected = false
  const waiting = under.agent.protect(starting, ['10.244.0.2'], signal).then(() => (isProtected = true))
  await under.clock.advance(50)
  equal(isProtected, false)
  under.nftables.respond = (commands) => (commands === probeCommands ? intact : { kind: 'applied' })
  await under.clock.advance(1_000)
  await waiting
  ok(applied(under).at(-1)?.includes('add element inet coxswain-policy ingress4 { 10.244.0.2 : goto pod-ingress-2 }'))
  deepEqual(under.warnings, ['cannot apply the rules of network policies'])
  // The API shows the pod without its address until its status is written.
  under.pods.put(starting)
  await under.clock.advance(0)
  equal(applied(under).length, 2)
  under.pods.remove(starting)
  await under.clock.advance(0)
  ok(applied(under).at(-1)?.includes('delete element inet coxswain-policy pods4 { 10.244.0.2 }'))
  under.tasks.stop()
})

test('a pod that no longer starts does not wait', async () => {
  const under = simulatedAgent()
  under.nftables.respond = () => ({ kind: 'failed', messages: ['no memory'] })
  await under.clock.advance(0)
  const stop = new AbortController()
  const waiting = under.agent.protect(podAt('x/a', []), ['10.244.0.2'], stop.signal)
  await under.clock.advance(0)
  stop.abort()
  await rejects(waiting)
  under.tasks.stop()
})

const losses: readonly (readonly [string, readonly string[]])[] = [
  ['the table', presenceCommands],
  ['a part of the table', probeCommands],
]
for (const [name, check] of losses)
  test(`${name} is restored when it is lost`, async () => {
    const under = simulatedAgent()
    await under.clock.advance(10_000)
    equal(applied(under).length, 1)
    under.nftables.respond = (commands) => {
      if (commands !== check) return commands === probeCommands ? intact : { kind: 'applied' }
      under.nftables.respond = (next) => (next === probeCommands ? intact : { kind: 'applied' })
      return { kind: 'failed', messages: ['No such file or directory'] }
    }
    await under.clock.advance(10_000)
    equal(applied(under).length, 2)
    deepEqual(applied(under)[1], applied(under)[0])
    deepEqual(under.warnings, ['the rules of network policies were changed by another program; they are restored'])
    under.tasks.stop()
  })

test('each policy whose rules are applied is a flow event; many are one', async () => {
  const under = simulatedAgent()
  under.pods.put(podAt('x/a', ['10.244.0.2']))
  under.policies.put(...Array.from({ length: 101 }, (_, at) => policyWith(`x/p${at}`, { podSelector: {} })))
  await under.clock.advance(0)
  under.policies.put(deny, deny)
  await under.clock.advance(0)
  const events = [...under.flow.events()].map(({ from, what, object }) => [from, what, object?.name])
  deepEqual(events, [
    ['network-policy/node-a', 'apply the rules of 101 policies and pods', undefined],
    ['network-policy/node-a', 'apply rules', 'deny'],
  ])
  under.tasks.stop()
})

test('a kernel that does not filter bridges is reported', async () => {
  const under = simulatedAgent({ kernelSettings: new SimulatedKernelSettings({}) })
  await under.clock.advance(0)
  equal(under.warnings.length, 2)
  under.tasks.stop()
})

test('the rules are removed on request; a failure is reported', async () => {
  const nftables = new SimulatedNftables()
  await removePolicyRules(nftables)
  deepEqual(nftables.transactions, [removalCommands])
  nftables.respond = () => ({ kind: 'failed', messages: ['no'] })
  await rejects(removePolicyRules(nftables), /cannot remove the rules of network policies: no/)
})

test('a policy that the kernel rejects allows nothing, is reported, and is tried again after a minute', async () => {
  const reported: string[] = []
  const recorder = {
    record: (object: NetworkPolicy, { reason }: { reason: string }) => reported.push(`${reason} ${keyOf(object)}`),
  }
  const registry = new Metrics()
  const reports = policyReports(recorder, registry, 'node-a')
  const under = simulatedAgent({ reports })
  const isBad = (commands: readonly string[]) => commands.some((command) => command.includes('192.0.2.66'))
  under.nftables.respond = (commands) => {
    if (commands === probeCommands) return intact
    if (commands === presenceCommands) return { kind: 'applied' }
    const bad = isBad(commands) ? ['192.0.2.66 is rejected'] : []
    if (commands.at(-1) === trialEnd)
      return { kind: 'failed', messages: [...bad, 'Could not process rule: File exists'] }
    return bad.length === 0 ? { kind: 'applied' } : { kind: 'failed', messages: bad }
  }
  under.namespaces.put(namespaceWith('x'))
  under.pods.put(podAt('x/a', ['10.244.0.2']), podAt('x/b', ['10.244.0.3'], { app: 'b' }))
  const from = (cidr: string) => ({ podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr } }] }] })
  under.policies.put(policyWith('x/good', from('192.0.2.1/32')), policyWith('x/bad', from('192.0.2.66/32')))
  await under.clock.advance(5_000)
  const commands = () => applied(under).flat().join('\n')
  ok(commands().includes('192.0.2.1') && !commands().includes('192.0.2.66'))
  deepEqual(reported, ['NetworkPolicyNotEnforced x/bad'])
  match(registry.text(), /coxswain_network_policy_not_enforced_total 1\n/)
  under.policies.remove(policyWith('x/bad', {}))
  under.policies.put(policyWith('x/bad', from('192.0.2.66/32')))
  under.nftables.respond = (next) => (next === probeCommands ? intact : { kind: 'applied' })
  await under.clock.advance(70_000)
  ok(commands().includes('192.0.2.66'))
  under.tasks.stop()
})

test('policies that are not decided within the trials are tried again, and those that the kernel accepts are enforced', async () => {
  const under = simulatedAgent()
  under.nftables.respond = (commands) => {
    if (commands === probeCommands) return intact
    if (commands === presenceCommands) return { kind: 'applied' }
    const bad = commands.some((command) => command.includes('192.0.2.')) ? ['it is rejected'] : []
    if (commands.at(-1) === trialEnd)
      return { kind: 'failed', messages: [...bad, 'Could not process rule: File exists'] }
    return bad.length === 0 ? { kind: 'applied' } : { kind: 'failed', messages: bad }
  }
  under.namespaces.put(namespaceWith('x'))
  under.pods.put(podAt('x/a', ['10.244.0.2']))
  const count = 100
  for (let index = 0; index < count; index++) {
    const cidr = `${index % 10 === 0 ? '198.51.100' : '192.0.2'}.${index + 1}/32`
    under.policies.put(policyWith(`x/p${index}`, { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr } }] }] }))
  }
  await under.clock.advance(5 * 60_000)
  const commands = applied(under).flat().join('\n')
  for (let index = 0; index < count; index += 10) ok(commands.includes(`198.51.100.${index + 1}`), `p${index}`)
  ok(!commands.includes('192.0.2.'))
  under.tasks.stop()
})

test('reports about policies are events', async () => {
  const written: string[] = []
  const client = {
    of: () => ({ create: (event: { reason: string }) => Promise.resolve(void written.push(event.reason)) }),
  }
  await using tasks = new TaskGroup()
  const clock = new VirtualClock()
  const reports = startPolicyReports(
    {
      client: client as unknown as Client,
      nodeName: 'node-a',
      registry: new Metrics(),
      clock,
      random: seededRandom(1),
      log: silentLog,
    },
    tasks,
  )
  reports.notEnforced(deny, 'too many rules')
  await clock.advance(1_000)
  deepEqual(written, ['NetworkPolicyNotEnforced'])
})

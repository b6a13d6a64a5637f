import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedKernelSettings } from '../machine/kernel-settings/simulated-kernel-settings.ts'
import { SimulatedNftables } from '../machine/nftables/simulated-nftables.ts'
import { intact, namespaceWith, podAt, policyWith, simulatedAgent } from './network-policy.harness.ts'
import { presenceCommands, probeCommands, removalCommands } from './nftables/policy-layout.ts'
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

// One NetworkPolicy never stops the others: objects that an editor of one namespace can create, with the table of the kernel.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { commandText } from '../../src/base/net/command-text.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { NftProgram } from '../../src/machine/nftables/nft-program.ts'
import type { Nftables } from '../../src/machine/nftables/nftables.ts'
import { removePolicyRules } from '../../src/network-policy/policy-agent.ts'
import { nodeProcesses } from '../../src/platform/node/process/processes.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { run } from '../proxy/network.harness.ts'
import { until } from '../until.ts'
import { namespaceWith, podWith, policyWith, startAgent, type StartedAgent } from './world.ts'

const from = (...peers: object[]) => ({ podSelector: { matchLabels: { pod: 'a' } }, ingress: [{ from: peers }] })
const block = (cidr: string, except: readonly string[] = []) => ({ ipBlock: { cidr, except } })
const manyBlocks = Array.from({ length: 11_000 }, (_, at) => block(`10.${at >> 8}.${at & 255}.0/24`))

/** The policy of the attacker, and the rule that the kernel has for it; undefined if it allows nothing. */
const rows: readonly (readonly [string, object, string | undefined])[] = [
  ['a block with leading zeros, which is read as without', from(block('10.0.0.0/008')), 'ip saddr 10.0.0.0/8 accept'],
  [
    'more exceptions than a rule has expressions',
    from(
      block(
        '10.0.0.0/8',
        Array.from({ length: 200 }, (_, at) => `10.${at}.0.0/24`),
      ),
    ),
    'ip saddr 10.0.0.0/8 ip saddr != { 10.0.0.0/24, 10.1.0.0/24, 10.2.0.0/24,',
  ],
  [
    'exceptions that overlap, and one of another family',
    from(block('10.0.0.0/8', ['10.1.2.0/24', '10.1.0.0/16', '10.1.0.0/016', 'fd00::/8'])),
    'ip saddr 10.0.0.0/8 ip saddr != 10.1.0.0/16 accept',
  ],
  ['a block that is none', from(block('10.0.0.0/33 }\nflush ruleset')), undefined],
  ['an exception that is none', from(block('10.0.0.0/8', ['x'])), undefined],
  [
    'a range of ports that ends before it begins',
    { podSelector: { matchLabels: { pod: 'a' } }, ingress: [{ ports: [{ port: 90, endPort: 80 }] }] },
    undefined,
  ],
  ['more rules than a chain may have', from(...manyBlocks), undefined],
]

inNamespaces(import.meta.url, () => {
  /** Without line breaks. */
  const content = () => run('nft list table inet coxswain-policy').replaceAll(/\s+/g, ' ')
  /** The pod z/c, which another policy isolates. */
  const isolatesOther = () => /10\.244\.0\.19 : goto pod-ingress-\d+/.test(content())

  async function putObjects({ agent, namespaces, pods, policies }: StartedAgent, bad: object): Promise<void> {
    for (const name of ['x', 'z']) namespaces.put(namespaceWith(name))
    for (const path of ['x/a', 'z/c']) pods.put(podWith(path))
    await agent.synced
    policies.put(policyWith('x/bad', bad))
    policies.put(policyWith('z/other', { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] }))
    await until(isolatesOther)
  }

  for (const [name, bad, expected] of rows)
    test(`other policies are enforced despite ${name}`, async () => {
      await using agent = startAgent()
      await putObjects(agent, bad)
      match(content(), /10\.244\.0\.11 : goto pod-ingress-\d+/, 'the policy isolates its pods in any case')
      match(content(), /tcp dport 80 accept comment "policy\/z\/other ingress\[0\]"/)
      equal(content().includes('policy/x/bad'), expected !== undefined)
      if (expected !== undefined) equal(content().includes(expected), true, content())
      await removePolicyRules(agent.nftables)
    })

  test('a policy that the kernel rejects isolates its pods, allows nothing and is reported', async () => {
    await using nft = new NftProgram({ processes: nodeProcesses, clock: realClock })
    // No object is known whose rules the kernel rejects, so a conflict is added to those of one policy.
    const conflict = commandText`create table inet coxswain-policy`
    const apply: Nftables['apply'] = (commands) =>
      nft.apply(commands.flatMap((text) => (text.includes('policy/x/bad') ? [text, conflict] : [text])))
    const nftables: Nftables = {
      apply,
      list: (command) => nft.list(command),
      elements: (table, set) => nft.elements(table, set),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
    const reported: string[] = []
    const notEnforced = ({ metadata }: { metadata: { name: string } }, problem: string) =>
      void reported.push(`${metadata.name}: ${problem}`)
    await using agent = startAgent({ nftables, reports: { notEnforced } })
    await putObjects(agent, from(block('10.0.0.0/8')))
    match(content(), /10\.244\.0\.11 : goto pod-ingress-\d+/)
    equal(content().includes('10.0.0.0/8'), false)
    match(content(), /policy\/z\/other ingress\[0\]/)
    deepEqual(reported, ['bad: the kernel rejects them: Could not process rule: File exists'])
    agent.pods.put(podWith('x/b'))
    await until(() => content().includes('10.244.0.12'))
    await removePolicyRules(nftables)
  })
})

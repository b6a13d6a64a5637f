// The features of NetworkPolicy with real packets between nine pods, and 234 combinations of peers and ports. The pure
// decision, which explanations and the simulated network use, must agree with the kernel.
import { deepEqual, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { NetworkPolicy } from '../../src/api/networking/v1/network-policy.ts'
import { compiledPolicy } from '../../src/network-policy/rules/compiled-policy.ts'
import { decide } from '../../src/network-policy/rules/decision.ts'
import { podFacts } from '../../src/network-policy/rules/pod-facts.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { peerKinds, portKinds, type PeerKind, type PortKind } from './cases.ts'
import { features } from './features.ts'
import { matrix, Probes, type Probe } from './probes.ts'
import { startSctp, type Sctp } from './sctp-probes.ts'
import { addWorld, addressOf, families, policyWith, ports, startAgent, startPods, type StartedAgent } from './world.ts'

const directions = ['ingress', 'egress'] as const
const protocols = ['TCP', 'UDP', 'SCTP'] as const

interface Case {
  readonly peer: PeerKind
  readonly port: PortKind
}

const combinations: readonly Case[] = peerKinds.flatMap((peer) => portKinds.map((port) => ({ peer, port })))
/** Three policies at a time, each for one pod of the namespace x. */
const subjects = ['x/a', 'x/b', 'x/c'] as const
const counterparts = ['x/b', 'y/a', 'y/c', 'z/a', 'outside'] as const

inNamespaces(import.meta.url, () => {
  let pods: Awaited<ReturnType<typeof startPods>>
  let sctp: Sctp
  let probes: Probes
  let agent: StartedAgent
  before(async () => {
    pods = await startPods()
    sctp = await startSctp([...pods.values()].map(({ pid }) => pid))
    probes = new Probes(pods, sctp)
    agent = startAgent()
    addWorld(agent)
    await agent.agent.synced
  })
  after(async () => {
    await agent[Symbol.asyncDispose]()
    sctp[Symbol.dispose]()
    await pods[Symbol.asyncDispose]()
  })

  const { signal } = new AbortController()
  const applied = () => agent.agent.applied(signal)
  const reset = () => {
    for (const policy of agent.policies.all()) agent.policies.remove(policy)
    addWorld(agent)
  }

  const decided = ({ from, to, port, protocol, family }: Probe): boolean => {
    const end = (name: string) => {
      const found = name === 'outside' ? undefined : agent.pods.get(name)
      return { address: addressOf(name, family), pod: found && podFacts(found) }
    }
    const compiled = Array.from(agent.policies.all(), (policy: NetworkPolicy) => compiledPolicy(policy))
    return decide(
      { from: end(from), to: end(to), port, protocol },
      {
        policiesIn: (name) => compiled.filter(({ namespace }) => namespace === name),
        labelsOf: (name) => agent.namespaces.get(name)?.metadata.labels,
      },
    ).isAllowed
  }
  const check = async (list: readonly Probe[], isAllowed: (probe: Probe) => boolean) => {
    deepEqual(await probes.differences(list, isAllowed), [])
    deepEqual(
      list.filter((probe) => decided(probe) !== isAllowed(probe)),
      [],
    )
  }

  test('without policies, everything is open', () => check(matrix(['TCP', 'UDP', 'SCTP']), () => true))

  for (const { name, steps, protocols: used } of features)
    test(name, async () => {
      reset()
      for (const [change, isAllowed] of steps) {
        change(agent)
        await applied()
        await check(matrix(used), (probe) => probe.from === probe.to || isAllowed(probe))
      }
    })

  for (const direction of directions)
    for (let at = 0; at < combinations.length; at += subjects.length) {
      const cases = combinations.slice(at, at + subjects.length)
      const names = cases.map(({ peer, port }) => `${peer.name} at ${port.name}`)
      test(`${direction}: ${names.join('; ')}`, async () => {
        reset()
        const list = cases.flatMap(({ peer, port }, index) => {
          const subject = subjects[index] ?? ''
          agent.policies.put(policyOf(direction, subject, peer, port))
          return probesOf(direction, subject)
        })
        await applied()
        await check(list, (probe) => {
          const [subject, other] = direction === 'ingress' ? [probe.to, probe.from] : [probe.from, probe.to]
          const found = cases[subjects.indexOf(subject as (typeof subjects)[number])]
          ok(found)
          const hasName = direction === 'ingress' || other !== 'outside' || found.port.isNamed !== true
          return found.peer.isAllowed(other) && found.port.isAllowed(probe) && hasName
        })
      })
    }
})

const policyOf = (direction: (typeof directions)[number], subject: string, { peers }: PeerKind, port: PortKind) => {
  const [, name = ''] = subject.split('/')
  const rule = {
    ...(peers === undefined ? {} : { [direction === 'ingress' ? 'from' : 'to']: peers }),
    ...(port.ports === undefined ? {} : { ports: port.ports }),
  }
  const policyTypes = [direction === 'ingress' ? 'Ingress' : 'Egress']
  return policyWith(`x/p${name}`, { podSelector: { matchLabels: { pod: name } }, policyTypes, [direction]: [rule] })
}

const probesOf = (direction: (typeof directions)[number], subject: string): readonly Probe[] =>
  counterparts
    .filter((other) => other !== subject)
    .flatMap((other) =>
      ports.flatMap((port) =>
        protocols.flatMap((protocol) =>
          families.map((family) => ({
            ...(direction === 'ingress' ? { from: other, to: subject } : { from: subject, to: other }),
            port,
            protocol,
            family,
          })),
        ),
      ),
    )

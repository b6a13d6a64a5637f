// A pod that a policy closes is never open: while rules are rewritten, while the agent is restarted, when rules are lost and
// when the pod starts. Other tables are not changed.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventLoopTurn } from '../../src/base/async/event-loop-turn.ts'
import { removePolicyRules } from '../../src/network-policy/policy-agent.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { attempt, respond } from '../proxy/attempt.ts'
import { run } from '../proxy/network.harness.ts'
import { until } from '../until.ts'
import { startSctp, type Sctp } from './sctp-probes.ts'
import { Probes } from './probes.ts'
import {
  addressOf,
  addWorld,
  families,
  podWith,
  policyWith,
  startAgent,
  startPods,
  type StartedAgent,
} from './world.ts'

const deny = policyWith('x/deny', { podSelector: {} })
const [toX, toY] = (['x/a', 'y/a'] as const).map((to) => ({
  ...({ from: 'z/b', to, port: 80, protocol: 'UDP', family: 'IPv4' } as const),
}))

const probesMin = 20

inNamespaces(import.meta.url, () => {
  let pods: Awaited<ReturnType<typeof startPods>>
  let sctp: Sctp
  let probes: Probes
  const { signal } = new AbortController()
  before(async () => {
    pods = await startPods()
    sctp = await startSctp([...pods.values()].map(({ pid }) => pid))
    probes = new Probes(pods, sctp)
  })
  after(async () => {
    sctp[Symbol.dispose]()
    await pods[Symbol.asyncDispose]()
  })
  const started = async (): Promise<StartedAgent> => {
    const agent = startAgent()
    addWorld(agent)
    agent.policies.put(deny)
    await agent.agent.synced
    return agent
  }
  const isOpen = (probe: typeof toX, waitMs: number): Promise<boolean> => {
    ok(probe)
    return probes.passes(probe, waitMs)
  }

  /** Sends datagrams as fast as they are handled; returns how many arrived while `action` ran. */
  const arrivedDuring = async (
    action: () => Promise<void>,
  ): Promise<{ readonly sent: number; readonly arrived: number }> => {
    const rounds: Promise<boolean>[] = []
    const ended = new AbortController()
    // The action is repeated if it was too fast for the probes.
    const repeated = async () => {
      do {
        await action()
      } while (rounds.length <= probesMin)
    }
    const done = repeated().finally(() => ended.abort())
    while (!ended.signal.aborted) {
      rounds.push(isOpen(toX, 300))
      await eventLoopTurn()
      if (rounds.length % 20 === 0) await Promise.race(rounds.slice(-1))
    }
    await done
    const outcomes = await Promise.all(rounds)
    return { sent: outcomes.length, arrived: outcomes.filter(Boolean).length }
  }

  test('rules are rewritten under probes', async () => {
    await using agent = await started()
    const { sent, arrived } = await arrivedDuring(async () => {
      for (let round = 0; round < 100; round++) {
        const ports = [{ port: 8_000 + round }]
        agent.policies.put(
          policyWith('x/other', { podSelector: {}, ingress: [{ ports, from: [{ podSelector: {} }] }] }),
        )
        agent.policies.put(policyWith('x/deny', { podSelector: { matchLabels: round % 2 === 0 ? { pod: 'a' } : {} } }))
        agent.pods.put(podWith('x/a', { labels: { round: String(round) } }))
        await agent.agent.applied(signal)
      }
    })
    ok(sent > probesMin, `${sent} probes`)
    equal(arrived, 0)
    equal(await isOpen(toY, 5_000), true)
  })

  test('the agent is restarted under probes', async () => {
    await (await started())[Symbol.asyncDispose]()
    const { sent, arrived } = await arrivedDuring(async () => {
      for (let round = 0; round < 5; round++) await (await started())[Symbol.asyncDispose]()
    })
    ok(sent > probesMin, `${sent} probes`)
    equal(arrived, 0)
  })

  test('lost rules are restored', async () => {
    await using _agent = await started()
    run('nft delete table inet coxswain-policy')
    await until(async () => !(await isOpen(toX, 100)))
    equal(await isOpen(toY, 5_000), true)
    run('nft flush chain inet coxswain-policy ingress')
    await until(async () => !(await isOpen(toX, 100)))
  })

  test('an open connection ends when a policy no longer allows it', async () => {
    await using agent = startAgent()
    addWorld(agent)
    await agent.agent.synced
    equal(await isOpen(toX, 5_000), true)
    agent.policies.put(deny)
    await agent.agent.applied(signal)
    equal(await isOpen(toX, 200), false)
  })

  test('a starting pod is closed until its rules are in place', async () => {
    await using agent = startAgent()
    addWorld(agent)
    agent.pods.remove(podWith('x/a'))
    await agent.agent.synced
    // No policy selects it, but it is not known yet.
    equal(await isOpen(toX, 200), false)
    await agent.agent.protect(podWith('x/a', { addresses: [] }), ['10.244.0.11', 'fd01::a:11'], signal)
    equal(await isOpen(toX, 5_000), true)
    agent.policies.put(deny)
    await agent.agent.applied(signal)
    equal(await isOpen(toX, 200), false)
  })

  test('the node reaches its pods, and pods reach their node', async () => {
    await using agent = await started()
    agent.policies.put(policyWith('x/none', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] }))
    await agent.agent.applied(signal)
    await respond('node', 90)
    for (const family of families) {
      const fromNode = { protocol: 'TCP', address: addressOf('x/a', family), port: 80, waitMs: 5_000 } as const
      ok((await attempt(fromNode)).startsWith('x/a '))
      const address = family === 'IPv4' ? '10.244.0.1' : 'fd01::a:1'
      const toNode = await pods.get('x/a')?.attempt({ protocol: 'TCP', address, port: 90, waitMs: 5_000 })
      ok(toNode?.startsWith('node '))
    }
  })

  test('a policy applies to the pod behind a Service, and a pod reaches itself through one', async () => {
    await using agent = await started()
    agent.policies.put(policyWith('x/deny', { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }))
    await agent.agent.applied(signal)
    run(`nft -f - <<'END'
table ip test-service {
  chain prerouting { type nat hook prerouting priority -100; ip daddr 10.96.0.1 udp dport 80 dnat to 10.244.0.11:80; }
  chain postrouting { type nat hook postrouting priority 100; ip saddr 10.244.0.11 ip daddr 10.244.0.11 masquerade; }
}
END`)
    const reaches = async (from: string, waitMs: number) =>
      (await pods.get(from)?.attempt({ protocol: 'UDP', address: '10.96.0.1', port: 80, waitMs }))?.startsWith(
        'x/a ',
      ) === true
    deepEqual(
      [await reaches('x/b', 5_000), await reaches('z/b', 200), await reaches('x/a', 5_000)],
      [true, false, true],
    )
    run('nft delete table ip test-service')
  })

  test('pods do not reach one another at addresses that no policy knows', async () => {
    const found = run(`nsenter -t ${pods.get('x/a')?.pid} -n ip -6 addr show dev eth0 scope link`)
    const address = `${/inet6 (fe80[^/]*)/.exec(found)?.[1]}%eth0`
    const outcome = (waitMs: number) => pods.get('z/b')?.attempt({ protocol: 'UDP', address, port: 80, waitMs })
    run('nft delete table inet coxswain-policy')
    ok((await outcome(5_000))?.startsWith('x/a '))
    await using _agent = await started()
    equal(await outcome(200), 'silent')
  })

  test('the rules are removed on request, and no others', async () => {
    run('nft add table inet theirs; nft add chain inet theirs forward')
    const agent = await started()
    await removePolicyRules(agent.nftables)
    await agent[Symbol.asyncDispose]()
    equal(run('nft list tables').includes('coxswain-policy'), false)
    equal(run('nft list tables').includes('inet theirs'), true)
    equal(await isOpen(toX, 5_000), true)
    run('nft delete table inet theirs')
  })
})

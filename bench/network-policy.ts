// network-policy: the time from one more pod until the kernel enforces its policies, with 1,000 policies over 1,000 pods, of
// which a tenth is on this node. Each policy selects the pods of one application and allows two others. Runs as root in its
// own namespaces. Changes are made in the informers' place, so the API server and the watch are not included.
import { namespaceWith, podAt, policyWith } from '../src/network-policy/network-policy.harness.ts'
import { startAgent } from '../test/network-policy/world.ts'
import { realClock } from '../src/base/time/clock.ts'
import { namespacedBench } from './namespaced-bench.ts'

const sizes = [10, 1_000]
const podCount = 1_000
const podsPerNode = 100
const addedCount = 300

export const networkPolicyBench = namespacedBench('network-policy', measure)

async function* measure(): AsyncGenerator<string> {
  for (const policies of sizes) yield await measureAdded(policies)
}

const addressOf = (number: number): string => `10.244.${number >> 8}.${number & 255}`

/** Pods with equal numbers belong to one application. */
const newPod = (name: string, number: number, application: number, isLocal: boolean) =>
  podAt(`x/${name}`, [addressOf(number)], { app: `a${application}` }, isLocal ? {} : { spec: { nodeName: 'node-b' } })

const policyOf = (number: number) => {
  const peer = (offset: number) => ({ podSelector: { matchLabels: { app: `a${(number + offset) % podCount}` } } })
  return policyWith(`x/p${number}`, {
    podSelector: { matchLabels: { app: `a${number}` } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [peer(1)], ports: [{ port: 80 }] }],
    egress: [{ to: [peer(2)] }],
  })
}

async function measureAdded(policies: number): Promise<string> {
  await using agent = startAgent({ ownRanges: ['10.244.0.0/16'] })
  agent.namespaces.put(namespaceWith('x'))
  for (let at = 0; at < podCount; at++) agent.pods.put(newPod(`pod-${at}`, at + 256, at, at < podsPerNode))
  for (let at = 0; at < policies; at++) agent.policies.put(policyOf(at))
  await agent.agent.synced
  const { signal } = new AbortController()
  const tookMs: number[] = []
  for (let at = 0; at < addedCount; at++) {
    const startMs = realClock.monotonicMs()
    await agent.agent.protect(newPod(`new-${at}`, at + 4_096, at % policies, true), [addressOf(at + 4_096)], signal)
    tookMs.push(realClock.monotonicMs() - startMs)
  }
  const sorted = tookMs.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2)
  return `${policies} policies over ${podCount} pods: one more pod is enforced after p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

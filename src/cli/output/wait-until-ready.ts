// What `up --wait` waits for: the nodes of this start are Ready, and pods can be created.
import { context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { lease, type Lease } from '../../api/coordination/v1/lease.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import type { Client } from '../../client/client.ts'

const pollEveryMs = 200
/** Further nodes are only counted. */
const nodesListedMax = 3

export interface Expected {
  /** How many nodes this start runs. Others may have joined. */
  readonly nodes: number
  /** A lease that was renewed before is one of an earlier start. */
  readonly sinceMs: number
}

export interface ClusterState {
  readonly nodes: readonly Node[]
  /** Those of the namespace `kube-node-lease`. */
  readonly leases: readonly Lease[]
  /** Pods cannot be created in the namespace `default` without it. */
  readonly hasAccount: boolean
}

/** What is missing, one sentence each. */
export function missingParts(state: ClusterState, expected: Expected): readonly string[] {
  const reasons = state.nodes.flatMap((each) => whyNotReady(each, state.leases, expected.sinceMs))
  const ready = state.nodes.length - reasons.length
  const isEnough = ready >= expected.nodes
  const listed = reasons.slice(0, nodesListedMax)
  const others = reasons.length - listed.length
  const nodesMissing = [
    `${ready} of ${expected.nodes} ${expected.nodes === 1 ? 'node is' : 'nodes are'} ready`,
    ...listed,
    ...(others === 0 ? [] : [`${others} more ${others === 1 ? 'node is' : 'nodes are'} not ready`]),
  ]
  return [
    ...(isEnough ? [] : nodesMissing),
    ...(state.hasAccount ? [] : ['the namespace default has no ServiceAccount yet']),
  ]
}

function whyNotReady({ metadata: { name }, status }: Node, leases: readonly Lease[], sinceMs: number): string[] {
  const renewed = leases.find((each) => each.metadata.name === name)?.spec?.renewTime
  if (renewed === undefined || Date.parse(renewed) < sinceMs) return [`node ${name} has not reported since the start`]
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'True') return []
  return [`node ${name} is not ready${ready?.message ? `: ${ready.message}` : ''}`]
}

async function readState(client: Client, signal: AbortSignal): Promise<ClusterState> {
  const ctx = context(signal)
  const [nodes, leases, account] = await Promise.all([
    client.of(node).list({}, ctx),
    client.of(lease).list({ namespace: 'kube-node-lease' }, ctx),
    client.of(serviceAccount).find('default', 'default', ctx),
  ])
  return { nodes: nodes.items, leases: leases.items, hasAccount: account !== undefined }
}

/** Returns what is missing after the timeout; nothing when the cluster is ready. */
export async function waitUntilReady(
  client: Client,
  { timeoutMs, ...expected }: Expected & { readonly timeoutMs: number },
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (const untilMs = clock.monotonicMs() + timeoutMs; ;) {
    const missing = await readState(client, signal).then(
      (state) => missingParts(state, expected),
      (error: unknown) => [`the API server does not answer: ${errorText(error)}`],
    )
    signal.throwIfAborted()
    if (missing.length === 0 || clock.monotonicMs() >= untilMs) return missing
    await clock.sleep(pollEveryMs, signal)
  }
}

// Nodes of earlier starts that are not requested any more: fewer simulated ones, or real instead of simulated. No kubelet
// serves them, so they are removed together with their pods.
import type { Context } from '../base/context.ts'
import { node, type Node } from '../api/core/v1/node.ts'
import { pod } from '../api/core/v1/pod.ts'
import { hasReason } from '../api/status-error.ts'
import type { Client } from '../client/client.ts'

/** How many deletions are under way at once. */
const deletionsMax = 50

export const simulatedNodeName = (index: number): string => `node-${index}`

/** A simulated node of this process has a name and an address (TEST-NET-1) of its making, and no port as joined ones have. */
const isSimulatedHere = ({ metadata, status }: Node): boolean =>
  /^node-\d+$/.test(metadata.name) &&
  (status?.nodeInfo?.containerRuntimeVersion ?? '').startsWith('simulated://') &&
  (status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) === 0 &&
  (status?.addresses ?? []).some(({ type, address }) => type === 'InternalIP' && address.startsWith('192.0.2.'))

/** `created` names the nodes that earlier starts with this data directory have created. */
export function staleNodes(
  nodes: readonly Node[],
  created: readonly string[],
  requested: readonly string[],
): readonly string[] {
  const isOurs = (one: Node) => created.includes(one.metadata.name) || isSimulatedHere(one)
  return nodes
    .filter((one) => isOurs(one) && !requested.includes(one.metadata.name))
    .map(({ metadata }) => metadata.name)
}

/** Returns the names of those that were removed. */
export async function removeStaleNodes(
  client: Client,
  created: readonly string[],
  requested: readonly string[],
  ctx: Context,
): Promise<readonly string[]> {
  const stale = staleNodes((await client.of(node).list({}, ctx)).items, created, requested)
  if (stale.length === 0) return stale
  // The nodes first: nothing is scheduled to them any more.
  await deleteAll(stale, (name) => client.of(node).delete(name, '', {}, ctx))
  const { items } = await client.of(pod).list({}, ctx)
  const orphans = items.filter(({ spec }) => stale.includes(spec.nodeName ?? ''))
  await deleteAll(orphans, ({ metadata: { name, namespace = '', uid } }) =>
    client.of(pod).delete(name, namespace, { gracePeriodSeconds: 0, uid }, ctx),
  )
  return stale
}

async function deleteAll<T>(all: readonly T[], remove: (one: T) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < all.length; start += deletionsMax)
    await Promise.all(
      all.slice(start, start + deletionsMax).map((one) =>
        remove(one).catch((error: unknown) => {
          if (!hasReason(error, 'NotFound')) throw error
        }),
      ),
    )
}

// Stale nodes: nodes of earlier starts that are no longer requested. They have no kubelet, so they are removed with
// their pods.
import type { Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'
import type { DataDirectory } from '../data-directory/open-directory.ts'

/** Maximum number of concurrent deletions. */
const deletionsMax = 50

/** Simulated nodes of this process have a generated name and address (TEST-NET-1) and, unlike joined ones, no port. */
const isSimulatedHere = ({ metadata, status }: Node): boolean =>
  /^node-\d+$/.test(metadata.name) &&
  (status?.nodeInfo?.containerRuntimeVersion ?? '').startsWith('simulated://') &&
  (status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) === 0 &&
  (status?.addresses ?? []).some(({ type, address }) => type === 'InternalIP' && address.startsWith('192.0.2.'))

export interface NodeNames {
  /** The nodes that earlier starts with this data directory created. */
  readonly created: readonly string[]
  readonly requested: readonly string[]
  /** Whether simulated nodes belong to whichever process is elected to run them. */
  readonly isShared: boolean
}

export function staleNodes(nodes: readonly Node[], { created, requested, isShared }: NodeNames): readonly string[] {
  const isOurs = (one: Node) =>
    isShared
      ? created.includes(one.metadata.name) && !isSimulatedHere(one)
      : created.includes(one.metadata.name) || isSimulatedHere(one)
  return nodes
    .filter((one) => isOurs(one) && !requested.includes(one.metadata.name))
    .map(({ metadata }) => metadata.name)
}

/** Returns the names of the removed nodes. */
export async function deleteStaleNodes(client: Client, names: NodeNames, ctx: Context): Promise<readonly string[]> {
  const stale = staleNodes((await client.of(node).list({}, ctx)).items, names)
  if (stale.length === 0) return stale
  // Nodes are deleted first, so that no further pods are scheduled to them.
  await deleteAll(stale, (name) => client.of(node).delete(name, '', {}, ctx))
  const { items } = await client.of(pod).list({}, ctx)
  const orphans = items.filter(({ spec }) => stale.includes(spec.nodeName ?? ''))
  await deleteAll(orphans, ({ metadata: { name, namespace = '', uid } }) =>
    client.of(pod).delete(name, namespace, { gracePeriodSeconds: 0, uid }, ctx),
  )
  return stale
}

export interface StaleNodeDeps {
  readonly directory: Pick<DataDirectory, 'marker' | 'note'>
  readonly client: Client
  readonly log: Log
  /** See NodeNames. */
  readonly isShared: boolean
}

/**
 * Records the nodes of this start and removes those of earlier starts. Their names are forgotten after the removal, so
 * that a start that fails to remove them leaves them to the next. A failure is only logged.
 */
export async function removeStaleNodes(
  { directory, client, log, isShared }: StaleNodeDeps,
  requested: readonly string[],
  ctx: Context,
): Promise<void> {
  const created = directory.marker.nodes ?? []
  try {
    await directory.note({ nodes: [...new Set([...created, ...requested])] })
    const removed = await deleteStaleNodes(client, { created, requested, isShared }, ctx)
    if (removed.length > 0) log.info('nodes of earlier starts were removed with their pods', { nodes: removed.length })
    await directory.note({ nodes: requested })
  } catch (error) {
    ctx.signal.throwIfAborted()
    log.warn('nodes of earlier starts could not be removed', { error: errorText(error) })
  }
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

// NodeLeases: renews the Leases of simulated nodes, as their kubelets would.
import type { TaskGroup } from '../base/async/task-group.ts'
import type { Context } from '../base/observability/context.ts'
import type { Log } from '../base/observability/log.ts'
import { rfc3339Micro, type Clock } from '../base/time/clock.ts'
import { hasReason } from '../api/errors/status-error.ts'
import { lease } from '../api/coordination/v1/lease.ts'
import type { Node } from '../api/core/v1/node/node.ts'
import { controllerReference } from '../api/meta/object.ts'
import type { Client } from '../client/client.ts'
import type { Informer } from '../client/informer/informer.ts'
import { Reconciler } from '../client/reconcile/reconciler.ts'

const leaseNamespace = 'kube-node-lease'
const leaseDurationSeconds = 40
const renewMs = 10_000
const workers = 16

export interface NodeLeasesDeps {
  readonly client: Client
  readonly nodes: Informer<Node>
  readonly isManaged: (node: Node) => boolean
  readonly clock: Clock
  readonly log: Log
}

export function startNodeLeases({ client, nodes, isManaged, clock, log }: NodeLeasesDeps, tasks: TaskGroup): void {
  const options = {
    name: 'kwok-lease',
    workers,
    isPeriodic: true,
    failureMessage: 'the Lease of a node could not be renewed; it is tried again',
  }
  const reconciler = new Reconciler(options, { clock, log })
  const followed = new Set<string>()
  nodes.onChange(({ key, now }) => {
    // Only the first change of a node starts its renewals.
    const isFollowed = now !== undefined && isManaged(now)
    if (isFollowed && !followed.has(key)) reconciler.add(key)
    if (isFollowed) followed.add(key)
    else followed.delete(key)
  })
  const renew = async (key: string, ctx: Context): Promise<number | undefined> => {
    const node = nodes.get(key)
    if (node === undefined || !followed.has(key)) return undefined
    await renewLease(client, node, clock.nowMs(), ctx)
    return renewMs
  }
  reconciler.start(renew, () => nodes.synced, tasks)
}

async function renewLease(client: Client, node: Node, nowMs: number, ctx: Context): Promise<void> {
  const { name } = node.metadata
  const spec = { holderIdentity: name, leaseDurationSeconds, renewTime: rfc3339Micro(nowMs) }
  try {
    await client.of(lease).patch(name, leaseNamespace, { spec }, 'merge', ctx)
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    const owner = { ...controllerReference(node), controller: false, blockOwnerDeletion: false }
    await client.of(lease).create({ metadata: { name, ownerReferences: [owner] }, spec }, leaseNamespace, ctx)
  }
}

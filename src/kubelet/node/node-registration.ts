// Creates the Node object and updates its status.
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { managedAttachmentAnnotation } from '../../api/core/v1/node/node-labels.ts'
import type { Client } from '../../client/client.ts'
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'
import { nodeImages } from '../images/node-images.ts'
import { nodeObject, nodeStatus, type NodeDescription, type NodeState } from './node-status.ts'

export interface RegistrationDeps {
  readonly client: Client
  readonly clock: Clock
  readonly description: NodeDescription
  readonly runtime: Pick<ContainerRuntime, 'images'>
  readonly state: () => NodeState
  /** Attached volumes that pods use; undefined while that is not known, or where volumes are not attached. */
  readonly volumesInUse?: () => readonly string[] | undefined
}

/** Creates the Node object, or updates its status if it exists; returns the result. */
export async function registerNode(
  { client, clock, description, runtime, state, volumesInUse }: RegistrationDeps,
  ctx: Context,
): Promise<Node> {
  const nodes = client.of(node)
  const known = await withAnnotation(client, await nodes.find(description.name, '', ctx), ctx)
  if (known === undefined) return nodes.create(nodeObject(description, state(), clock.nowMs()), '', ctx)
  // The status is reported even when the runtime does not answer.
  const images = await nodeImages(runtime, ctx.signal).catch(() => [])
  const reported = nodeStatus(description, known.status, state(), clock.nowMs())
  const inUse = volumesInUse?.()
  const status = {
    ...known.status,
    ...reported,
    ...(images.length === 0 ? {} : { images }),
    ...(inUse === undefined ? {} : { volumesInUse: inUse }),
  } as Node['status']
  return nodes.updateStatus({ ...known, status }, ctx)
}

/** A node that was registered without the annotation gets it, so that its volumes are attached. */
async function withAnnotation(client: Client, known: Node | undefined, ctx: Context): Promise<Node | undefined> {
  if (known === undefined || lookup(known.metadata.annotations, managedAttachmentAnnotation) === 'true') return known
  const annotations = { [managedAttachmentAnnotation]: 'true' }
  return client.of(node).patch(known.metadata.name, '', { metadata: { annotations } }, 'merge', ctx)
}

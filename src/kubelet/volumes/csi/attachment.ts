// Waiting until the attach/detach controller has attached a volume to this node.
import type { Clock } from '../../../base/time/clock.ts'
import type { Context } from '../../../base/observability/context.ts'
import { hasReason } from '../../../api/errors/status-error.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { VolumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import {
  AttachmentLimitExceeded,
  AttachmentPending,
  FormattedVolumeError,
  type VolumeSources,
} from '../contract/volume-type.ts'
import { uniqueName, type CsiVolume } from './csi-volume.ts'

export interface AttachmentDeps {
  readonly sources: Pick<VolumeSources, 'uncachedNode' | 'volumeAttachment'>
  readonly clock: Clock
}

/** As upstream waits for the volumes of a pod. */
const waitMsMax = 123_000
const pollMsMin = 100
const pollMsMax = 3_200
/** The gRPC code by which a driver rejects an attachment because of its limit. */
const resourceExhausted = 8

/** Whether the controller may rely on this node's use of the volume, and has attached it. */
export const isAttached = (name: string, { status }: Pick<Node, 'status'>): boolean =>
  (status.volumesInUse ?? []).includes(name) && (status.volumesAttached ?? []).some((volume) => volume.name === name)

/** The metadata that the driver needs for mounting. Throws while the volume is not attached. */
export function publishContext(
  { specName }: CsiVolume,
  attachment: VolumeAttachment | undefined,
  attachmentId: string,
): Readonly<Record<string, string>> {
  const fail = (why: string) =>
    new FormattedVolumeError(`MountVolume.WaitForAttach failed for volume ${JSON.stringify(specName)} : ${why}`)
  if (attachment === undefined)
    throw fail(
      `volume ${specName} has GET error for volume attachment ${attachmentId}: ` +
        `volumeattachments.storage.k8s.io ${JSON.stringify(attachmentId)} not found`,
    )
  const { attached, attachError, attachmentMetadata } = attachment.status
  if (attached) return attachmentMetadata ?? {}
  throw fail(attachError?.message ?? `volume attachment ${attachmentId} is not attached`)
}

/** Resolves with the publish context once the volume is attached. Its name must be among the volumes in use. */
export async function waitForAttachment(
  { sources, clock }: AttachmentDeps,
  volume: CsiVolume,
  attachmentId: string,
  context: Context,
): Promise<Readonly<Record<string, string>>> {
  const name = uniqueName(volume)
  const untilMs = clock.monotonicMs() + waitMsMax
  for (let pollMs = pollMsMin; ; pollMs = Math.min(pollMs * 2, pollMsMax)) {
    const node = await sources.uncachedNode(context)
    if (node !== undefined && isAttached(name, node)) break
    if (await isRejectedByLimit(sources, attachmentId, context))
      throw new AttachmentLimitExceeded('Node has reached its volume attachment limit, rejecting pod')
    if (clock.monotonicMs() >= untilMs)
      throw new AttachmentPending(`volume ${JSON.stringify(volume.specName)} is not attached to the node yet`)
    await clock.sleep(pollMs, context.signal)
  }
  return publishContext(volume, await sources.volumeAttachment(attachmentId, context), attachmentId)
}

/** A node may not read an attachment that does not exist yet: the request is forbidden then. */
async function isRejectedByLimit(
  sources: AttachmentDeps['sources'],
  attachmentId: string,
  context: Context,
): Promise<boolean> {
  try {
    const attachment = await sources.volumeAttachment(attachmentId, context)
    return attachment?.status.attachError?.errorCode === resourceExhausted
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return false
    throw error
  }
}

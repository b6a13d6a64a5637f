// The Controller service's calls that attach volumes to nodes.
import { lookup } from '../../../base/collections/lookup.ts'
import type { controllerService } from '../methods.ts'
import { includes } from './capacity.ts'
import { DriverError, required } from './driver-error.ts'
import type { ServiceCalls } from './service-calls.ts'
import { volumeOf, type Attachment, type StorageSystem, type VolumeRecord } from './storage-system.ts'
import { put } from './volume-calls.ts'

type AttachmentCalls = Pick<
  ServiceCalls<typeof controllerService>,
  'controllerPublishVolume' | 'controllerUnpublishVolume'
>

export const attachmentCalls = (storage: StorageSystem): AttachmentCalls => ({
  async controllerPublishVolume({ volumeId, nodeId, volumeCapability, readonly }) {
    const volume = volumeOf(storage, required(volumeId, 'volume_id'))
    const node = storage.nodes.get(required(nodeId, 'node_id'))
    if (node === undefined) throw new DriverError('NOT_FOUND', `node ${nodeId} does not exist`)
    if (volumeCapability === undefined) throw new DriverError('INVALID_ARGUMENT', 'volume_capability is missing')
    const attachment: Attachment = { isReadOnly: readonly, mode: volumeCapability.accessMode?.mode ?? 'UNKNOWN' }
    const existing = lookup(volume.attachments, nodeId)
    if (existing === undefined) {
      if (volume.topology !== undefined && !includes(node.topology, volume.topology))
        throw new DriverError('FAILED_PRECONDITION', `volume ${volumeId} is not accessible from node ${nodeId}`)
      checkOtherNodes(volume, attachment)
      checkLimit(storage, nodeId, node.volumesMax)
      await put(storage, { ...volume, attachments: { ...volume.attachments, [nodeId]: attachment } })
    } else if (existing.isReadOnly !== readonly || existing.mode !== attachment.mode)
      throw new DriverError('ALREADY_EXISTS', `volume ${volumeId} is attached to node ${nodeId} in a different way`)
    return { publishContext: { attachment: `${volumeId}@${nodeId}` } }
  },
  async controllerUnpublishVolume({ volumeId, nodeId }) {
    const volume = storage.records.volumes.get(required(volumeId, 'volume_id'))
    if (volume === undefined) return {}
    const { [nodeId]: _, ...others } = volume.attachments
    await put(storage, { ...volume, attachments: nodeId === '' ? {} : others })
    return {}
  },
})

function checkOtherNodes({ id, attachments }: VolumeRecord, { mode }: Attachment): void {
  const others = Object.entries(attachments)
  if (
    others.some(([, other]) => other.mode.startsWith('SINGLE_NODE')) ||
    (others.length > 0 && mode.startsWith('SINGLE_NODE'))
  )
    throw new DriverError('FAILED_PRECONDITION', `volume ${id} is attached to node ${others[0]?.[0]}`)
}

function checkLimit({ records }: StorageSystem, nodeId: string, volumesMax: number): void {
  const attached = [...records.volumes.values()].filter(({ attachments }) => lookup(attachments, nodeId) !== undefined)
  if (volumesMax > 0 && attached.length >= volumesMax)
    throw new DriverError('RESOURCE_EXHAUSTED', `node ${nodeId} has ${attached.length} volumes`)
}

// reconstruct: what is attached when the controller starts, from the statuses of nodes and from VolumeAttachments.
import { node } from '../../api/core/v1/node/node.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { volumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import type { ReconcileTools } from '../runtime/controller.ts'
import type { Attachments } from './attachment.ts'
import { attachmentNameOf, identityOf, volumeNameOf, type VolumeName } from './volume-identity.ts'

/** Returns the volumes. A volume that its node lists is attached. One that only has a VolumeAttachment is uncertain. */
export function reconstruct(
  attachments: Attachments,
  { all, cached }: Pick<ReconcileTools, 'all' | 'cached'>,
  crypto: Pick<CryptoProvider, 'sha256'>,
): ReadonlySet<VolumeName> {
  const found = new Set<VolumeName>()
  for (const { metadata, status } of all(node))
    for (const { name } of status.volumesAttached ?? []) {
      const identity = identityOf(name)
      if (identity === undefined) continue
      const attachmentName = attachmentNameOf(identity, metadata.name, crypto)
      const attachment = attachments.add(name as VolumeName, metadata.name, attachmentName)
      attachment.phase = 'attached'
      attachment.isReported = true
      found.add(attachment.volume)
    }
  for (const { spec } of all(volumeAttachment)) {
    const volume = cached(persistentVolume, spec.source.persistentVolumeName ?? '')
    const name = volume === undefined ? undefined : volumeNameOf(volume)
    const identity = name === undefined ? undefined : identityOf(name)
    if (name === undefined || identity === undefined) continue
    const attachment = attachments.add(name, spec.nodeName, attachmentNameOf(identity, spec.nodeName, crypto))
    if (attachment.phase === 'absent') attachment.phase = 'uncertain'
    found.add(name)
  }
  return found
}

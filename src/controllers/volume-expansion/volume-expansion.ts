// Volume expansion: announces that a claim waits for the resizer of its driver. The resizer expands the volume, the kubelet
// its file system.
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import { quantityNanos } from '../../schema/scalar/quantity.ts'
import { defineController } from '../runtime/controller.ts'
import { replacementOf } from './migrated-volumes.ts'

const resizerAnnotation = 'volume.kubernetes.io/storage-resizer'
const reason = 'ExternalExpanding'

export const volumeExpansionController = defineController({
  name: 'volume-expansion',
  account: 'expand-controller',
  component: 'volume_expand',
  watches: [persistentVolume, persistentVolumeClaim],
  enqueues(kind, { key, now, before }) {
    if (kind.kind !== persistentVolumeClaim.kind || now === undefined) return []
    const claim = now as PersistentVolumeClaim
    const old = before as PersistentVolumeClaim | undefined
    return needsExpansion(claim) && (old === undefined || isOtherSize(claim, old)) ? [key] : []
  },
  async reconcile(key, { cached, client, recordEvent }, context) {
    const claim = cached(persistentVolumeClaim, key)
    if (claim === undefined || !needsExpansion(claim)) return undefined
    const volume = cached(persistentVolume, claim.spec.volumeName ?? '')
    if (volume === undefined || volume.spec.claimRef?.uid !== claim.metadata.uid) return undefined
    const replacement = replacementOf(volume)
    if (replacement === undefined) {
      recordEvent(
        claim,
        { type: 'Normal', reason, message: 'waiting for an external controller to expand this PVC' },
        context,
      )
      return undefined
    }
    const { plugin, driver } = replacement
    const message = `CSI migration enabled for ${plugin}; waiting for external resizer to expand the pvc`
    recordEvent(claim, { type: 'Normal', reason, message }, context)
    if (lookup(claim.metadata.annotations, resizerAnnotation) === driver) return undefined
    const patch = { metadata: { uid: claim.metadata.uid, annotations: { [resizerAnnotation]: driver } } }
    await client
      .of(persistentVolumeClaim)
      .patch(claim.metadata.name, namespaceOf(claim), patch, 'strategic', context, 'status')
    return undefined
  },
})

const nanos = (text: string | undefined): bigint => (text === undefined ? 0n : (quantityNanos(text) ?? 0n))
const requestOf = ({ spec }: PersistentVolumeClaim): bigint => nanos(spec.resources.requests?.['storage'])
const capacityOf = ({ status }: PersistentVolumeClaim): bigint => nanos(status.capacity?.['storage'])

/** A bound claim that requests more than its volume has. */
const needsExpansion = (claim: PersistentVolumeClaim): boolean =>
  claim.status.phase === 'Bound' && requestOf(claim) > capacityOf(claim)

const isOtherSize = (claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean =>
  requestOf(claim) > requestOf(old) || capacityOf(claim) !== capacityOf(old)

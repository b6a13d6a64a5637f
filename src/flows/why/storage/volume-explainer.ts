// Explains why a PersistentVolume is not deleted, not reclaimed or not bound.
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { because, defineExplainer } from '../explainer/explainer.ts'
import { info, problem, warning } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'

export const volumeExplainer = defineExplainer({
  kind: persistentVolume,
  checked: 'its phase',
  explain({ metadata, spec, status }) {
    const claim = spec.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`
    const isRetained = spec.persistentVolumeReclaimPolicy === 'Retain'
    if (metadata.deletionTimestamp !== undefined && status.phase === 'Bound')
      return Promise.resolve([warning(`It is still bound to the claim ${claim}.`)])
    if (status.phase === 'Released')
      return Promise.resolve([
        isRetained
          ? info(
              `Its claim ${claim} is deleted. It is retained (reclaim policy Retain) until an administrator deletes it.`,
              { fix: kubectl('', 'delete', 'pv', metadata.name) },
            )
          : warning(
              `Its claim ${claim} is deleted. Its provisioner or storage driver has not deleted it yet (reclaim policy ${spec.persistentVolumeReclaimPolicy ?? 'Delete'}).`,
            ),
      ])
    if (status.phase === 'Failed') return Promise.resolve([problem(`It could not be reclaimed: ${because(status)}.`)])
    return Promise.resolve(status.phase === 'Available' ? [info('No claim is bound to it.')] : [])
  },
})

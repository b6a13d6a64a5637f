// The next step for a volume: its phase, and what happens to it when its claim is deleted or bound to another volume.
import { annotationOf, bindingAnnotations } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { deletionOf, volumeWithDriver } from './provisioners.ts'
import { phaseStep, rest, warning, type Step } from './step.ts'

const { boundByController, migratedTo, provisionedBy } = bindingAnnotations

/** `claim` is the existing claim with the uid in the volume's reference. */
export function volumeStep(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): Step {
  const marked = volumeWithDriver(volume)
  if (marked !== volume) return { kind: 'volume', volume: marked }
  // A reference without a uid is a reservation.
  if (!volume.spec.claimRef?.uid) return phaseStep(volume, 'Available') ?? rest()
  if (claim === undefined) return releasedStep(volume)
  if (claim.spec.volumeName === volume.metadata.name) return phaseStep(volume, 'Bound') ?? rest()
  if (!claim.spec.volumeName) return unboundClaimStep(volume, claim)
  // A volume that was provisioned for a claim is not needed when the claim is bound to another one.
  const isSurplus = annotationOf(volume, provisionedBy) !== undefined
  return isSurplus && volume.spec.persistentVolumeReclaimPolicy === 'Delete'
    ? releasedStep(volume)
    : { kind: 'volume', volume: unbound(volume) }
}

function releasedStep(volume: PersistentVolume): Step {
  const { phase } = volume.status
  if (phase !== 'Released' && phase !== 'Failed') return phaseStep(volume, 'Released') ?? rest()
  if (annotationOf(volume, migratedTo) !== undefined) return rest()
  switch (volume.spec.persistentVolumeReclaimPolicy) {
    case 'Retain':
      return rest()
    case 'Delete':
      return deletionStep(volume)
    case 'Recycle':
      return failed(volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!')
    default:
      return failed(volume, 'VolumeUnknownReclaimPolicy', 'Volume has unrecognized reclaim policy')
  }
}

function deletionStep(volume: PersistentVolume): Step {
  const deletion = deletionOf(volume)
  switch (deletion.kind) {
    case 'external':
      return rest()
    case 'host-directory':
      // A deleted volume exists until its finalizers are removed.
      return volume.metadata.deletionTimestamp === undefined ? { kind: 'delete', volume, path: deletion.path } : rest()
    case 'impossible':
      return deletionFailed(volume, deletion.why)
    default:
      return deletion satisfies never
  }
}

/** The step after a failed deletion. */
export const deletionFailed = (volume: PersistentVolume, why: string): Step => failed(volume, 'VolumeFailedDelete', why)

const failed = (volume: PersistentVolume, reason: string, message: string): Step =>
  phaseStep(volume, 'Failed', warning(reason, message)) ?? rest()

/** The claim's own step binds it, except where it can never match. */
function unboundClaimStep(volume: PersistentVolume, claim: PersistentVolumeClaim): Step {
  if (volume.spec.volumeMode === claim.spec.volumeMode) return rest()
  const [ofVolume, ofClaim] = [volume, claim].map(({ metadata }) => JSON.stringify(metadata.name))
  const why = 'due to incompatible volumeMode.'
  return rest(
    {
      about: volume,
      note: warning(
        'VolumeMismatch',
        `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${ofClaim} ${why}`,
      ),
    },
    {
      about: claim,
      note: warning(
        'VolumeMismatch',
        `Cannot bind PersistentVolume ${ofVolume} to requested PersistentVolumeClaim ${why}`,
      ),
    },
  )
}

/** A reference by a controller is removed; a reservation by a user is preserved without the uid. */
function unbound(volume: PersistentVolume): PersistentVolume {
  const { claimRef, ...spec } = volume.spec
  if (annotationOf(volume, boundByController) === undefined) {
    const { uid: _, ...reservation } = claimRef ?? {}
    return { ...volume, spec: { ...spec, claimRef: reservation } }
  }
  const { [boundByController]: _, ...annotations } = volume.metadata.annotations ?? {}
  return { ...volume, metadata: { ...volume.metadata, annotations }, spec }
}

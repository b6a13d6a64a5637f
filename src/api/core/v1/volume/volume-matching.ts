// Whether a volume satisfies a claim. The binder and the scheduler decide by the same rules.
import { classNameOf, refersTo } from './claim-binding.ts'
import type { PersistentVolumeClaim } from './persistent-volume-claim.ts'
import type { PersistentVolume } from './persistent-volume.ts'
import { isBeingDeleted } from '../../../meta/object.ts'
import { selects } from '../../../selectors/selectors.ts'
import { quantityNanos } from '../../../../schema/scalar/quantity.ts'

const nanos = (text: string | undefined): bigint => (text === undefined ? 0n : (quantityNanos(text) ?? 0n))

export const sizeOf = ({ spec }: PersistentVolume): bigint => nanos(spec.capacity?.['storage'])
export const sizeWanted = ({ spec }: PersistentVolumeClaim): bigint => nanos(spec.resources.requests?.['storage'])

export const attributesClassOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string =>
  spec.volumeAttributesClassName ?? ''

export const hasModes = (offered: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  wanted.every((mode) => offered.includes(mode))

/** Whether the volume can be bound to a claim that does not name it. It must be free, or reserved for the claim. */
export function suits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (isBeingDeleted(volume) || sizeOf(volume) < sizeWanted(claim)) return false
  if (volume.spec.volumeMode !== claim.spec.volumeMode) return false
  if (attributesClassOf(volume) !== attributesClassOf(claim)) return false
  if (!hasModes(volume.spec.accessModes, claim.spec.accessModes)) return false
  // A reservation takes precedence over class and labels.
  if (volume.spec.claimRef !== undefined) return refersTo(volume, claim)
  return isAvailable(volume) && classNameOf(volume) === classNameOf(claim) && hasLabels(volume, claim)
}

const isAvailable = ({ status }: PersistentVolume): boolean => status.phase === 'Available'

/** Whether the volume may be given to any claim that it suits. */
export const isFree = (volume: PersistentVolume): boolean =>
  volume.spec.claimRef === undefined && isAvailable(volume) && !isBeingDeleted(volume)

export const hasLabels = ({ metadata }: PersistentVolume, { spec: { selector } }: PersistentVolumeClaim): boolean =>
  selector === undefined || selects(selector, metadata.labels)

/** Why the volume does not satisfy a claim that names it; undefined when it does. */
export function mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (sizeOf(volume) < sizeWanted(claim)) return 'requested PV is too small'
  if (classNameOf(volume) !== classNameOf(claim)) return 'storageClassName does not match'
  if (attributesClassOf(volume) !== attributesClassOf(claim)) return 'volumeAttributesClassName does not match'
  if (volume.spec.volumeMode !== claim.spec.volumeMode) return 'incompatible volumeMode'
  if (!hasModes(volume.spec.accessModes, claim.spec.accessModes)) return 'incompatible accessMode'
  return undefined
}

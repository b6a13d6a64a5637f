// The next write that binds a volume and a claim to each other: the volume's reference and phase, then the claim's.
import { annotationOf, bindingAnnotations, refersTo } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { claimStatusStep, phaseStep, rest, type Step } from './step.ts'

const { bindCompleted, boundByController } = bindingAnnotations

export function bindStep(volume: PersistentVolume, claim: PersistentVolumeClaim): Step {
  const referring = withClaim(volume, claim)
  if (referring !== volume) return { kind: 'volume', volume: referring }
  const phase = phaseStep(volume, 'Bound')
  if (phase !== undefined) return phase
  const bound = withVolume(claim, volume)
  if (bound !== claim) return { kind: 'claim', claim: bound }
  return claimStatusStep(claim, boundStatus(claim, volume)) ?? rest()
}

/** The annotation marks a reference that this controller may remove. A reservation by a user has none. */
function withClaim(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const { name, uid, resourceVersion } = claim.metadata
  const isReferred = refersTo(volume, claim)
  const marked = isReferred ? volume : annotated(volume, [boundByController])
  if (isReferred && volume.spec.claimRef?.uid === uid) return marked
  const claimRef = {
    kind: claim.kind,
    apiVersion: claim.apiVersion,
    namespace: namespaceOf(claim),
    name,
    uid,
    resourceVersion,
  }
  return { ...marked, spec: { ...marked.spec, claimRef } }
}

function withVolume(claim: PersistentVolumeClaim, { metadata: { name } }: PersistentVolume): PersistentVolumeClaim {
  if (claim.spec.volumeName === name) return annotated(claim, [bindCompleted])
  const marked = annotated(claim, [boundByController, bindCompleted])
  return { ...marked, spec: { ...marked.spec, volumeName: name } }
}

/** The same object if it has the annotations. */
function annotated<T extends ApiObject>(object: T, names: readonly string[]): T {
  const missing = names.filter((name) => annotationOf(object, name) === undefined)
  if (missing.length === 0) return object
  const added = Object.fromEntries(missing.map((name) => [name, 'yes']))
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...added } } }
}

/** Capacity and attributes class are set at the moment of binding. Later, the resizer is responsible for them. */
function boundStatus({ status }: PersistentVolumeClaim, { spec }: PersistentVolume): PersistentVolumeClaim['status'] {
  const withModes = equalValues(status.accessModes, spec.accessModes)
    ? status
    : { ...status, accessModes: spec.accessModes ?? [] }
  if (status.phase === 'Bound') return withModes
  const { currentVolumeAttributesClassName: _, ...others } = withModes
  const { volumeAttributesClassName: attributesClass } = spec
  return {
    ...others,
    phase: 'Bound',
    capacity: spec.capacity ?? {},
    ...(attributesClass === undefined ? {} : { currentVolumeAttributesClassName: attributesClass }),
  }
}

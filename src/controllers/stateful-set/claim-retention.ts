// Retention of volume claims: the retention policy decides whether a claim is owned by the set, by the pod that is
// scaled down, or by neither. The garbage collector deletes it with its owner.
import type { StatefulSet } from '../../api/apps/v1/stateful-set.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { OwnerReference } from '../../api/meta/v1/object-meta.ts'
import { controllerReference, isBeingDeleted, type ApiObject } from '../../api/meta/object.ts'
import type { Change } from '../runtime/controller.ts'
import { isInRange, ordinalOf } from './pod-identity.ts'

const policyOf = ({ spec: { persistentVolumeClaimRetentionPolicy: policy } }: StatefulSet) => ({
  whenDeleted: policy?.whenDeleted === 'Delete',
  whenScaled: policy?.whenScaled === 'Delete',
})

/**
 * A claim that is owned by an earlier pod of the same name will be deleted with that pod; the new pod waits for that.
 */
export const isStale = ({ metadata: { ownerReferences = [] } }: PersistentVolumeClaim, podName: string, pod?: Pod) =>
  ownerReferences.some(({ kind, name, uid }) => kind === 'Pod' && name === podName && uid !== pod?.metadata.uid)

/** The change that sets the owners according to the policy; none if they are right. */
export function ownClaim(set: StatefulSet, pod: Pod, claim: PersistentVolumeClaim): Change[] {
  if (isBeingDeleted(claim)) return []
  const { whenDeleted, whenScaled } = policyOf(set)
  const isLeaving = whenScaled && !isInRange(set, ordinalOf(set, pod))
  const wanted = isLeaving ? controllerReference(pod) : whenDeleted ? controllerReference(set) : undefined
  const { ownerReferences = [], ...metadata } = claim.metadata
  const others = ownerReferences.filter((reference) => !isAbout(reference, set) && !isAbout(reference, pod))
  const isAlreadySo =
    ownerReferences.length === others.length + (wanted === undefined ? 0 : 1) &&
    (wanted === undefined || ownerReferences.some(({ uid }) => uid === wanted.uid))
  if (isAlreadySo) return []
  const next = wanted === undefined ? others : [...others, wanted]
  const object = { ...claim, metadata: { ...metadata, ...(next.length === 0 ? {} : { ownerReferences: next }) } }
  return [{ kind: 'update', of: persistentVolumeClaim, object }]
}

const isAbout = ({ kind, name }: OwnerReference, owner: ApiObject): boolean =>
  kind === owner.kind && name === owner.metadata.name

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

/**
 * The change that sets the owners according to the policy; none if they are right. A claim of an earlier set or pod of the
 * same name is left to the garbage collector, and a claim with another controller gets no further one.
 */
export function ownClaim(set: StatefulSet, pod: Pod, claim: PersistentVolumeClaim): Change[] {
  if (isBeingDeleted(claim)) return []
  const { ownerReferences = [], ...metadata } = claim.metadata
  const isOurs = (reference: OwnerReference) => isAbout(reference, set) || isAbout(reference, pod)
  const ours = ownerReferences.filter(isOurs)
  const others = ownerReferences.filter((reference) => !isOurs(reference))
  if (ours.some(({ uid }) => uid !== set.metadata.uid && uid !== pod.metadata.uid)) return []
  const wanted = others.some(({ controller }) => controller === true) ? undefined : wantedOwner(set, pod)
  const isRight =
    wanted === undefined
      ? ours.length === 0
      : ours.length === 1 && ours.every(({ uid, controller }) => uid === wanted.uid && controller === true)
  if (isRight) return []
  const next = wanted === undefined ? others : [...others, wanted]
  const object = { ...claim, metadata: { ...metadata, ...(next.length === 0 ? {} : { ownerReferences: next }) } }
  return [{ kind: 'update', of: persistentVolumeClaim, object }]
}

function wantedOwner(set: StatefulSet, pod: Pod): OwnerReference | undefined {
  const { whenDeleted, whenScaled } = policyOf(set)
  if (whenScaled && !isInRange(set, ordinalOf(set, pod))) return controllerReference(pod)
  return whenDeleted ? controllerReference(set) : undefined
}

const isAbout = ({ kind, name }: OwnerReference, owner: ApiObject): boolean =>
  kind === owner.kind && name === owner.metadata.name

// The binding between a PersistentVolume and a PersistentVolumeClaim: the annotations that describe it, and the class of both.
import { lookup } from '../../../../base/collections/lookup.ts'
import { namespaceOf, objectKey, type ApiObject, type ObjectKey } from '../../../meta/object.ts'
import { classAnnotation } from './persistent-volume-claim-rules.ts'
import type { PersistentVolumeClaim } from './persistent-volume-claim.ts'
import type { PersistentVolume } from './persistent-volume.ts'

export const bindingAnnotations = {
  /** On a claim: it was bound in both directions. */
  bindCompleted: 'pv.kubernetes.io/bind-completed',
  /** On both: the reference to the other was written by a controller, not by a user. */
  boundByController: 'pv.kubernetes.io/bound-by-controller',
  /** On a volume: the provisioner that created it. */
  provisionedBy: 'pv.kubernetes.io/provisioned-by',
  /** On both: the CSI driver that replaces the provisioner of the tree. */
  migratedTo: 'pv.kubernetes.io/migrated-to',
  /** On a claim: the provisioner that has to create its volume, and its former name. */
  provisioner: 'volume.kubernetes.io/storage-provisioner',
  provisionerBeta: 'volume.beta.kubernetes.io/storage-provisioner',
  /** On a claim: the node that the scheduler has chosen for its first pod. */
  selectedNode: 'volume.kubernetes.io/selected-node',
} as const

export const annotationOf = ({ metadata }: ApiObject, name: string): string | undefined =>
  lookup(metadata.annotations, name)

export const classNameOf = (object: PersistentVolume | PersistentVolumeClaim): string =>
  annotationOf(object, classAnnotation) ?? object.spec.storageClassName ?? ''

/** A claim without a class gets the default class; one with an empty class does not. */
export const namesClass = (claim: PersistentVolumeClaim): boolean =>
  annotationOf(claim, classAnnotation) !== undefined || claim.spec.storageClassName !== undefined

/** The claim that the volume is bound to, or reserved for. */
export const claimKeyOf = ({ spec: { claimRef } }: PersistentVolume): ObjectKey | undefined =>
  claimRef === undefined ? undefined : objectKey(claimRef.namespace ?? '', claimRef.name ?? '')

/** Whether the volume is bound to the claim, or reserved for a claim of that name. */
export const refersTo = ({ spec: { claimRef } }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  claimRef !== undefined &&
  claimRef.name === claim.metadata.name &&
  claimRef.namespace === namespaceOf(claim) &&
  (!claimRef.uid || claimRef.uid === claim.metadata.uid)

// The next step for a volume, as a pure function: delete its directory, give up its finalizer, or nothing.
import { hostnameLabel } from '../../api/core/v1/node/node-labels.ts'
import { annotationOf, bindingAnnotations } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { localPathProvisionerName } from './local-path-class.ts'

/** As external provisioners name it: a volume is not removed before its storage. */
export const provisionerFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer'

export type VolumeStep =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'delete'; readonly nodeName: string; readonly path: string }
  /** The volume is retained, so its deletion does not wait for its directory. */
  | { readonly kind: 'release' }

const nothing: VolumeStep = { kind: 'nothing' }

/** The node of a volume that this provisioner has created; undefined for other volumes. */
export function localPathNodeOf(volume: PersistentVolume): string | undefined {
  if (annotationOf(volume, bindingAnnotations.provisionedBy) !== localPathProvisionerName) return undefined
  const terms = volume.spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
  return terms[0]?.matchExpressions?.find(({ key }) => key === hostnameLabel)?.values?.[0]
}

export function volumeStep(volume: PersistentVolume, servesNode: (name: string) => boolean): VolumeStep {
  const nodeName = localPathNodeOf(volume)
  const { local, persistentVolumeReclaimPolicy: policy } = volume.spec
  if (nodeName === undefined || local === undefined || !servesNode(nodeName)) return nothing
  if (policy !== 'Delete')
    return volume.metadata.finalizers?.includes(provisionerFinalizer) ? { kind: 'release' } : nothing
  return volume.status.phase === 'Released' ? { kind: 'delete', nodeName, path: local.path } : nothing
}

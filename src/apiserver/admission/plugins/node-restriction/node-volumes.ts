// The PersistentVolumes that a node may write where a role permits it to provision: directories of its own, for claims of
// pods that the scheduler has placed on it. Without such a role, nodes cannot write volumes at all.
import {
  annotationOf,
  bindingAnnotations,
  classNameOf,
  refersTo,
} from '../../../../api/core/v1/volume/claim-binding.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../../../api/core/v1/volume/persistent-volume.ts'
import { hostnameLabel } from '../../../../api/core/v1/node/node-labels.ts'
import { equalValues } from '../../../../schema/json/json-value.ts'
import type { ObjectLister } from '../../../watch-cache/object-caches.ts'
import type { AdmissionAttributes } from '../../framework/admission-plugin.ts'

const { provisionedBy, provisioner, selectedNode } = bindingAnnotations

export function volumeRejection(
  node: string,
  { operation, subresource, object, old }: AdmissionAttributes,
  reads: ObjectLister,
): string | undefined {
  const quoted = JSON.stringify(node)
  if (subresource !== '') return `node ${quoted} cannot write the ${subresource} of persistentvolumes`
  const now = object as PersistentVolume | undefined
  const before = old as PersistentVolume | undefined
  for (const volume of [now, before])
    if (volume !== undefined && !isDirectoryOf(node, volume))
      return `node ${quoted} can only write persistentvolumes that are directories of itself`
  if (before === undefined) return now && newVolumeRejection(quoted, node, now, reads)
  if (operation === 'delete')
    return before.status.phase === 'Released' ? undefined : `node ${quoted} can only delete released persistentvolumes`
  return equalValues(fixedFields(now), fixedFields(before))
    ? undefined
    : `node ${quoted} is not allowed to update fields other than finalizers and spec.capacity`
}

/** A directory with the name of the volume, which only pods on the node can use. */
function isDirectoryOf(node: string, { metadata, spec }: PersistentVolume): boolean {
  const { local, nodeAffinity } = spec
  if (local === undefined || local.fsType !== undefined) return false
  const segments = local.path.split('/')
  if (segments.at(-1) !== metadata.name || segments.includes('..')) return false
  const expression = { key: hostnameLabel, operator: 'In', values: [node] }
  return equalValues(nodeAffinity, { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } })
}

/** The claim must have selected this node and the provisioner that the volume names. */
function newVolumeRejection(
  quoted: string,
  node: string,
  volume: PersistentVolume,
  reads: ObjectLister,
): string | undefined {
  const { namespace = '', name = '', uid } = volume.spec.claimRef ?? {}
  const claim = reads.get(persistentVolumeClaim, namespace, name)
  const isForClaim = claim !== undefined && uid !== undefined && refersTo(volume, claim) && isUnbound(claim, volume)
  if (!isForClaim || annotationOf(claim, selectedNode) !== node)
    return `node ${quoted} can only create persistentvolumes for unbound claims whose selected node is itself`
  const by = annotationOf(claim, provisioner)
  const suits = by !== undefined && by === annotationOf(volume, provisionedBy)
  return suits && classNameOf(volume) === classNameOf(claim) && volume.metadata.name === `pvc-${uid}`
    ? undefined
    : `node ${quoted} can only create persistentvolumes with the name, class and provisioner of their claim`
}

/** A repeated create of the volume that the claim is bound to is answered with AlreadyExists. */
const isUnbound = ({ spec }: PersistentVolumeClaim, { metadata }: PersistentVolume): boolean =>
  !spec.volumeName || spec.volumeName === metadata.name

const changeable = new Set(['finalizers', 'managedFields', 'resourceVersion', 'generation', 'capacity'])

/** The metadata and the spec without the fields that a provisioner changes. */
const fixedFields = (volume: PersistentVolume | undefined): object =>
  [volume?.metadata, volume?.spec].map((fields) =>
    Object.fromEntries(Object.entries(fields ?? {}).filter(([name]) => !changeable.has(name))),
  )

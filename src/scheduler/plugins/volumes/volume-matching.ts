// Volume matching: which volume satisfies a claim on a node, and whether one can be provisioned there.
import { lookup } from '../../../base/collections/lookup.ts'
import { matchesNodeSelector } from '../../../api/core/v1/pod-spec/node-selection.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { isBeingDeleted, namespaceOf } from '../../../api/meta/object.ts'
import { selects } from '../../../api/selectors/selectors.ts'
import { csiDriver } from '../../../api/storage/v1/csi-driver.ts'
import { csiStorageCapacity } from '../../../api/storage/v1/csi-storage-capacity.ts'
import type { StorageClass } from '../../../api/storage/v1/storage-class.ts'
import type { Informers } from '../../../client/informer/informers.ts'
import { quantityUnits } from '../../../schema/scalar/quantity.ts'
import { rejection, type Rejection } from '../../framework/framework.ts'
import { classNameOf, type StorageLookup } from './pod-claims.ts'

export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node'

const noVolume = rejection("node(s) didn't find available persistent volumes to bind", false)
const noSpace = rejection('node(s) did not have enough free storage', false)

const sizeWanted = ({ spec }: PersistentVolumeClaim): number => quantityUnits(spec.resources?.requests?.['storage'])
const sizeOf = ({ spec }: PersistentVolume): number => quantityUnits(spec.capacity?.['storage'])

/**
 * The smallest available volume of the claim's class that the node can reach. A volume that is reserved for the claim
 * is preferred.
 */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  node: Node,
  lookup: StorageLookup,
  isTaken: (name: string) => boolean,
): PersistentVolume | undefined {
  let best: PersistentVolume | undefined
  for (const volume of lookup.volumesOfClass(classNameOf(claim))) {
    if (isTaken(volume.metadata.name) || !suits(volume, claim)) continue
    const required = volume.spec.nodeAffinity?.required
    if (required !== undefined && !matchesNodeSelector(required, node)) continue
    if (volume.spec.claimRef !== undefined) return volume
    if (best === undefined || sizeOf(volume) < sizeOf(best)) best = volume
  }
  return best
}

function suits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { claimRef, accessModes = [], volumeMode } = volume.spec
  const { metadata, spec } = claim
  if (isBeingDeleted(volume) || sizeOf(volume) < sizeWanted(claim)) return false
  if (volumeMode !== spec.volumeMode) return false
  if (!(spec.accessModes ?? []).every((mode) => accessModes.includes(mode))) return false
  if (claimRef !== undefined)
    return (
      claimRef.name === metadata.name &&
      claimRef.namespace === namespaceOf(claim) &&
      (claimRef.uid === undefined || claimRef.uid === metadata.uid)
    )
  if (volume.status.phase !== undefined && !['Available', 'Pending'].includes(volume.status.phase)) return false
  return spec.selector === undefined || selects(spec.selector, volume.metadata.labels)
}

/** Why no volume can be provisioned for the claim on this node; undefined when it can. */
export function provisioningRejection(
  claim: PersistentVolumeClaim,
  node: Node,
  made: StorageClass | undefined,
  informers: Informers,
): Rejection | undefined {
  const selected = claim.metadata.annotations?.[selectedNodeAnnotation]
  if (selected !== undefined && selected !== node.metadata.name) return noVolume
  if (made === undefined || made.provisioner === 'kubernetes.io/no-provisioner') return noVolume
  if (!isAllowed(made, node)) return noVolume
  const reportsCapacity = informers.of(csiDriver).get(made.provisioner)?.spec.storageCapacity ?? false
  return !reportsCapacity || hasCapacity(claim, made, node, informers) ? undefined : noSpace
}

const isAllowed = ({ allowedTopologies = [] }: StorageClass, { metadata: { labels } }: Node): boolean =>
  allowedTopologies.length === 0 ||
  allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => {
      const value = lookup(labels, key)
      return value !== undefined && values.includes(value)
    }),
  )

function hasCapacity(
  claim: PersistentVolumeClaim,
  { metadata }: StorageClass,
  node: Node,
  informers: Informers,
): boolean {
  const capacities = informers.of(csiStorageCapacity)
  capacities.addIndex('class', ({ storageClassName }) => [storageClassName])
  const wanted = sizeWanted(claim)
  return capacities
    .byIndex('class', metadata.name)
    .some(
      ({ nodeTopology, capacity, maximumVolumeSize }) =>
        quantityUnits(maximumVolumeSize ?? capacity) >= wanted && selects(nodeTopology, node.metadata.labels),
    )
}

// The volumes that can satisfy a claim, and whether one can be provisioned on a node.
import { lookup } from '../../../base/collections/lookup.ts'
import { matchesNodeSelector } from '../../../api/core/v1/pod-spec/node-selection.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import { bindingAnnotations, refersTo } from '../../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { attributesClassOf, sizeOf, sizeWanted, suits } from '../../../api/core/v1/volume/volume-matching.ts'
import { isBeingDeleted } from '../../../api/meta/object.ts'
import { selects } from '../../../api/selectors/selectors.ts'
import { csiDriver } from '../../../api/storage/v1/csi-driver.ts'
import { csiStorageCapacity } from '../../../api/storage/v1/csi-storage-capacity.ts'
import type { StorageClass } from '../../../api/storage/v1/storage-class.ts'
import type { Informers } from '../../../client/informer/informers.ts'
import { quantityUnits } from '../../../schema/scalar/quantity.ts'
import { rejection, type Rejection } from '../../framework/framework.ts'
import type { StorageLookup } from './pod-claims.ts'

const noVolume = rejection("node(s) didn't find available persistent volumes to bind", false)
const noSpace = rejection('node(s) did not have enough free storage', false)

/**
 * The volumes of the claim's class that it can get, smallest first. A volume that is reserved for the claim is the only
 * one, whatever its access modes and labels.
 */
export function candidateVolumes(claim: PersistentVolumeClaim, storage: StorageLookup): readonly PersistentVolume[] {
  const usable = storage.volumesFor(claim).filter((volume) => isUsable(volume, claim))
  const reserved = usable.find((volume) => refersTo(volume, claim))
  if (reserved !== undefined) return [reserved]
  return usable.filter((volume) => suits(volume, claim)).toSorted((a, b) => Number(sizeOf(a) - sizeOf(b)))
}

export const reaches = (node: Node, { spec: { nodeAffinity } }: PersistentVolume): boolean =>
  nodeAffinity?.required === undefined || matchesNodeSelector(nodeAffinity.required, node)

/** Large enough, of the same kind, and not reserved for another claim. */
const isUsable = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  !isBeingDeleted(volume) &&
  sizeOf(volume) >= sizeWanted(claim) &&
  volume.spec.volumeMode === claim.spec.volumeMode &&
  attributesClassOf(volume) === attributesClassOf(claim) &&
  (volume.spec.claimRef === undefined || refersTo(volume, claim))

/** Why no volume can be provisioned for the claim on this node; undefined when it can. */
export function provisioningRejection(
  claim: PersistentVolumeClaim,
  node: Node,
  made: StorageClass | undefined,
  informers: Informers,
): Rejection | undefined {
  const selected = claim.metadata.annotations?.[bindingAnnotations.selectedNode]
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
  const wanted = quantityUnits(claim.spec.resources.requests?.['storage'])
  return capacities
    .byIndex('class', metadata.name)
    .some(
      ({ nodeTopology, capacity, maximumVolumeSize }) =>
        quantityUnits(maximumVolumeSize ?? capacity) >= wanted && selects(nodeTopology, node.metadata.labels),
    )
}

// Which pods need a volume, by node: scheduled pods that have not ended, whose claim is bound to the volume, on nodes that
// leave attaching to this controller.
import { csiDriver } from '../../api/storage/v1/csi-driver.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { managedAttachmentAnnotation } from '../../api/core/v1/node/node-labels.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { controllerOf, isBeingDeleted, keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import type { ObjectIndex, ReconcileTools } from '../runtime/controller.ts'
import type { Attachments } from './attachment.ts'
import { identityOf, volumeNameOf, type VolumeName } from './volume-identity.ts'

type Caches = Pick<ReconcileTools, 'cached' | 'byIndex'>

/** The pods of a node that need a volume. */
export interface Need {
  readonly pods: Pod[]
  /** The claims through which they need it. */
  readonly claims: Set<ObjectKey>
  /** The PersistentVolume through which it was found first. */
  readonly volume: PersistentVolume | undefined
}

export const podsByClaim: ObjectIndex<Pod> = {
  kind: pod,
  name: 'claim of a scheduled pod',
  valuesOf: (object) => (object.spec.nodeName === undefined ? [] : claimKeysOf(object)),
}

export const volumesByName: ObjectIndex<PersistentVolume> = {
  kind: persistentVolume,
  name: 'unique volume name',
  valuesOf: (object) => [volumeNameOf(object) ?? []].flat(),
}

export const volumesByDriver: ObjectIndex<PersistentVolume> = {
  kind: persistentVolume,
  name: 'driver',
  valuesOf: ({ spec }) => (spec.csi === undefined ? [] : [spec.csi.driver]),
}

interface ClaimUse {
  readonly key: ObjectKey
  /** The claim was created for the pod. */
  readonly isEphemeral: boolean
}

const claimUsesOf = (object: Pod): ClaimUse[] =>
  (object.spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim: claim, ephemeral }) => {
    const claimName = claim?.claimName ?? (ephemeral === undefined ? undefined : `${object.metadata.name}-${name}`)
    if (claimName === undefined) return []
    return [{ key: objectKey(namespaceOf(object), claimName), isEphemeral: ephemeral !== undefined }]
  })

export const claimKeysOf = (object: Pod): ObjectKey[] => claimUsesOf(object).map(({ key }) => key)

/** The CSI volume that the claim is bound to. */
export function volumeOfClaim(key: ObjectKey, { cached }: Pick<Caches, 'cached'>): VolumeName | undefined {
  const claim = cached(persistentVolumeClaim, key)
  const bound = claim?.spec.volumeName ? cached(persistentVolume, claim.spec.volumeName) : undefined
  return bound === undefined ? undefined : volumeNameOf(bound)
}

/** By node. A volume that was attached for a claim stays needed if the claim or its volume is removed. */
export function needsOf(name: VolumeName, attachments: Attachments, caches: Caches): Map<string, Need> {
  const needs = new Map<string, Need>()
  if (!needsAttachment(name, caches)) return needs
  const add = (claim: ObjectKey, volume: PersistentVolume | undefined, isOn: (nodeName: string) => boolean) => {
    for (const user of caches.byIndex(podsByClaim, claim)) {
      const { nodeName } = user.spec
      if (nodeName === undefined || !isOn(nodeName) || !needsClaim(user, claim, caches)) continue
      const need = needs.get(nodeName) ?? { pods: [], claims: new Set(), volume }
      if (!need.pods.includes(user)) need.pods.push(user)
      need.claims.add(claim)
      needs.set(nodeName, need)
    }
  }
  for (const volume of caches.byIndex(volumesByName, name)) {
    const claim = boundClaim(volume, caches)
    if (claim === undefined) continue
    add(keyOf(claim), volume, (nodeName) => isManaged(caches.cached(node, nodeName)))
  }
  for (const { claims, nodeName } of attachments.ofVolume(name))
    for (const claim of claims)
      if ((volumeOfClaim(claim, caches) ?? name) === name) add(claim, undefined, (each) => each === nodeName)
  return needs
}

/** Without a CSIDriver object, the volumes of a driver are attached. */
const needsAttachment = (name: VolumeName, { cached }: Caches): boolean =>
  cached(csiDriver, identityOf(name)?.driver ?? '')?.spec.attachRequired !== false

function boundClaim({ metadata, spec: { claimRef } }: PersistentVolume, { cached }: Caches) {
  if (claimRef === undefined) return undefined
  const claim = cached(persistentVolumeClaim, objectKey(claimRef.namespace ?? '', claimRef.name ?? ''))
  const isBound =
    claim?.status.phase === 'Bound' && claim.spec.volumeName === metadata.name && claim.metadata.uid === claimRef.uid
  return isBound ? claim : undefined
}

const isManaged = (object: Node | undefined): boolean =>
  lookup(object?.metadata.annotations, managedAttachmentAnnotation) !== undefined

/** Whether the pod may still use the volume of the claim. An ephemeral volume uses only a claim that was created for it. */
function needsClaim(object: Pod, claim: ObjectKey, { cached }: Caches): boolean {
  if (hasEnded(object)) return false
  return claimUsesOf(object).some(
    ({ key, isEphemeral }) => key === claim && (!isEphemeral || isOwn(cached(persistentVolumeClaim, key), object)),
  )
}

const isOwn = (claim: PersistentVolumeClaim | undefined, object: Pod): boolean =>
  claim === undefined || controllerOf(claim)?.uid === object.metadata.uid

/** A pod that is being deleted has ended when none of its containers runs. */
export function hasEnded(object: Pod): boolean {
  if (isPodFinished(object)) return true
  const { containerStatuses = [] } = object.status
  return (
    isBeingDeleted(object) &&
    containerStatuses.every(({ state }) => state?.terminated !== undefined || state?.waiting !== undefined)
  )
}

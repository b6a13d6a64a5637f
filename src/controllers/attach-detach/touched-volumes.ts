// touchedVolumes: the volumes whose state a change may affect. All are found by indexes.
import { isNodeReady, node, type Node } from '../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject, ObjectKey } from '../../api/meta/object.ts'
import { csiDriver, type CSIDriver } from '../../api/storage/v1/csi-driver.ts'
import { volumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import type { ObjectChange } from '../../client/informer/informer.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { ReconcileTools } from '../runtime/controller.ts'
import { podsByNode } from '../workload/pods-by-node.ts'
import type { Attachments } from './attachment.ts'
import { claimKeysOf, hasEnded, volumeOfClaim, volumesByDriver } from './needed-volumes.ts'
import { volumeNameOf, type VolumeName } from './volume-identity.ts'

type Caches = Pick<ReconcileTools, 'cached' | 'byIndex'>
type Change<T extends ApiObject> = Pick<ObjectChange<T>, 'key' | 'now' | 'before'>

export function touchedVolumes(
  kind: Kind,
  change: Change<ApiObject>,
  attachments: Attachments,
  caches: Caches,
): VolumeName[] {
  switch (kind.kind) {
    case pod.kind:
      return ofPod(change as Change<Pod>, attachments, caches)
    case persistentVolumeClaim.kind:
      return ofClaim(change as Change<PersistentVolumeClaim>, attachments, caches)
    case persistentVolume.kind:
      return both(change as Change<PersistentVolume>).flatMap((each) => volumeNameOf(each) ?? [])
    case node.kind:
      return ofNode(change as Change<Node>, attachments, caches)
    case volumeAttachment.kind:
      return [attachments.named(change.key)?.volume ?? []].flat()
    case csiDriver.kind:
      return ofDriver(change as Change<CSIDriver>, caches)
    default:
      return []
  }
}

const both = <T extends ApiObject>({ now, before }: Change<T>): T[] =>
  [now, before].filter((each) => each !== undefined)

const ofClaimKey = (key: ObjectKey, attachments: Attachments, caches: Caches): VolumeName[] => [
  ...[volumeOfClaim(key, caches) ?? []].flat(),
  ...attachments.forClaim(key).map(({ volume }) => volume),
]

/** Of a scheduled pod only its start and its end matter. */
function ofPod(change: Change<Pod>, attachments: Attachments, caches: Caches): VolumeName[] {
  const { now, before } = change
  const object = now ?? before
  if (object?.spec.volumes === undefined || object.spec.nodeName === undefined) return []
  const isSame = now !== undefined && before?.spec.nodeName !== undefined && hasEnded(now) === hasEnded(before)
  return isSame ? [] : claimKeysOf(object).flatMap((key) => ofClaimKey(key, attachments, caches))
}

function ofClaim(change: Change<PersistentVolumeClaim>, attachments: Attachments, caches: Caches): VolumeName[] {
  const bound = both(change).flatMap(({ spec: { volumeName } }) =>
    volumeName ? (caches.cached(persistentVolume, volumeName) ?? []) : [],
  )
  return [
    ...bound.flatMap((each) => volumeNameOf(each) ?? []),
    ...attachments.forClaim(change.key).map(({ volume }) => volume),
  ]
}

function ofNode(change: Change<Node>, attachments: Attachments, caches: Caches): VolumeName[] {
  const { key, now, before } = change
  const hasNewAnnotations = !equalValues(now?.metadata.annotations ?? {}, before?.metadata.annotations ?? {})
  const pods = now === undefined || !hasNewAnnotations ? [] : caches.byIndex(podsByNode, key)
  const needed = pods.flatMap((each) => claimKeysOf(each)).flatMap((claim) => ofClaimKey(claim, attachments, caches))
  const isSame = now !== undefined && before !== undefined && equalValues(stateOf(now), stateOf(before))
  return isSame ? needed : [...needed, ...attachments.onNode(key).map(({ volume }) => volume)]
}

const stateOf = (object: Node) => [isNodeReady(object), object.spec.taints ?? [], object.status.volumesInUse ?? []]

function ofDriver({ key, now, before }: Change<CSIDriver>, { byIndex }: Caches): VolumeName[] {
  if (now?.spec.attachRequired === before?.spec.attachRequired) return []
  return byIndex(volumesByDriver, key).flatMap((each) => volumeNameOf(each) ?? [])
}

// Whether the claims of a pod have been bound as the scheduler has requested, or cannot be any more, with upstream's messages.
import type { Node } from '../../../api/core/v1/node/node.ts'
import { annotationOf, bindingAnnotations } from '../../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { revisionOf, type ApiObject, type ObjectKey } from '../../../api/meta/object.ts'
import { reaches } from './node-volumes.ts'
import { isClaimBound } from './pod-claims.ts'

/** A volume that refers to the claim since this revision of the volume. */
export interface ReservedVolume {
  readonly claim: ObjectKey
  readonly volume: string
  readonly revision: number
}

/** A claim that has the node as its selected node since this revision of the claim. */
export interface SelectedNode {
  readonly claim: ObjectKey
  readonly revision: number
}

export interface RequestedBindings {
  readonly reserved: readonly ReservedVolume[]
  readonly selected: readonly SelectedNode[]
}

/** The objects as the caches have them; the node on which the pod will run. */
export interface ProgressView {
  claim(key: ObjectKey): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  readonly node: Node | undefined
}

export type Progress =
  | { readonly kind: 'bound' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'failed'; readonly why: string }

const waiting: Progress = { kind: 'waiting' }
const bound: Progress = { kind: 'bound' }
const failed = (why: string): Progress => ({ kind: 'failed', why })
const quoted = (text: string): string => JSON.stringify(text)

/** A claim that is being deleted is still waited for, as upstream does. */
export function bindingProgress({ reserved, selected }: RequestedBindings, view: ProgressView): Progress {
  for (const each of reserved) {
    const progress = reservedProgress(each, view)
    if (progress.kind !== 'bound') return progress
  }
  for (const each of selected) {
    const progress = selectedProgress(each, view)
    if (progress.kind !== 'bound') return progress
  }
  return bound
}

/** The cache may not have the result of the write yet. */
const isOlder = (object: ApiObject, revision: number): boolean => revisionOf(object) < revision

function reservedProgress({ claim: key, volume: name, revision }: ReservedVolume, view: ProgressView): Progress {
  const volume = view.volume(name)
  if (volume === undefined) return failed(`failed to check binding: persistentvolumes ${quoted(name)} not found`)
  const claim = view.claim(key)
  if (claim === undefined) return failed(`failed to check binding: persistentvolumeclaims ${quoted(key)} not found`)
  if (isOlder(volume, revision)) return waiting
  if (!volume.spec.claimRef?.uid) return failed(`ClaimRef got reset for pv ${quoted(name)}`)
  return isClaimBound(claim) ? bound : waiting
}

function selectedProgress(
  { claim: key, revision }: SelectedNode,
  { claim: find, volume, node }: ProgressView,
): Progress {
  const claim = find(key)
  if (claim === undefined)
    return failed(`failed to check provisioning pvc: persistentvolumeclaims ${quoted(key)} not found`)
  if (isOlder(claim, revision)) return waiting
  const { name, annotations } = claim.metadata
  if (annotations === undefined) return failed(`selectedNode annotation reset for PVC ${quoted(name)}`)
  // A provisioner that cannot create the volume there removes the node, so that the pod is scheduled again.
  if (annotationOf(claim, bindingAnnotations.selectedNode) !== node?.metadata.name)
    return failed(`provisioning failed for PVC ${quoted(name)}`)
  if (!claim.spec.volumeName) return waiting
  const created = volume(claim.spec.volumeName)
  if (created === undefined || node === undefined) return waiting
  if (!reaches(node, created)) {
    const [ofVolume, ofNode] = [created, node].map(({ metadata }) => quoted(metadata.name))
    return failed(`pv ${ofVolume} node affinity doesn't match node ${ofNode}: no matching NodeSelectorTerms`)
  }
  return isClaimBound(claim) ? bound : waiting
}

// NodeGraph: the objects that the pods of each node reference. It is updated by the changes of the watch caches.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import { persistentVolume, type PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { resourceSlice } from '../../../api/resource/v1/resource-slice.ts'
import { volumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { referenceKey, podReferences, haveSameReferences, type ReferenceKey } from './pod-references.ts'
import type { AuthorizerMetrics } from '../../metrics/authorizer-metrics.ts'
import type { ObjectCaches } from '../../watch-cache/object-caches.ts'

export class NodeGraph {
  readonly #caches: ObjectCaches
  readonly #metrics: AuthorizerMetrics
  /** By node: the number of its pods that reference the object. */
  readonly #needs = new Map<string, Map<ReferenceKey, number>>()
  /** Persistent volumes by the Secrets that they reference. */
  readonly #volumesBySecret = new Map<ReferenceKey, Set<string>>()

  constructor(caches: ObjectCaches, metrics: AuthorizerMetrics) {
    this.#caches = caches
    this.#metrics = metrics
    caches.observe(pod, {
      changed: (now, before) => this.#podChanged(now as Pod | undefined, before as Pod | undefined),
    })
    caches.observe(persistentVolume, {
      changed: (now, before) => {
        const startMs = metrics.startGraphAction()
        for (const secret of secretsOf(before)) this.#volumesBySecret.get(secret)?.delete(before?.metadata.name ?? '')
        for (const secret of secretsOf(now))
          getOrInsert(this.#volumesBySecret, secret, () => new Set()).add(now?.metadata.name ?? '')
        for (const secret of secretsOf(before))
          if (this.#volumesBySecret.get(secret)?.size === 0) this.#volumesBySecret.delete(secret)
        metrics.endGraphAction(now === undefined ? 'DeletePV' : 'AddPV', startMs)
      },
    })
  }

  /** Whether a pod on the node references the object, directly or through a volume. */
  isNeeded(node: string, resource: string, namespace: string, name: string): boolean {
    const key = referenceKey(resource, namespace, name)
    switch (resource) {
      case 'persistentvolumes':
        return this.#isVolumeNeeded(node, name)
      case 'volumeattachments':
        return this.#caches.get(volumeAttachment, '', name)?.spec.nodeName === node
      case 'resourceslices':
        return this.#caches.get(resourceSlice, '', name)?.spec.nodeName === node
      case 'pods':
        return this.#caches.get(pod, namespace, name)?.spec.nodeName === node
      case 'secrets':
        if (this.#has(node, key)) return true
        return [...(this.#volumesBySecret.get(key) ?? [])].some((volume) => this.#isVolumeNeeded(node, volume))
      default:
        return this.#has(node, key)
    }
  }

  #isVolumeNeeded(node: string, name: string): boolean {
    const claim = this.#caches.get(persistentVolume, '', name)?.spec.claimRef
    return (
      claim !== undefined &&
      this.#has(node, referenceKey('persistentvolumeclaims', claim.namespace ?? '', claim.name ?? ''))
    )
  }

  #has(node: string, key: ReferenceKey): boolean {
    return this.#needs.get(node)?.has(key) ?? false
  }

  #podChanged(now: Pod | undefined, before: Pod | undefined): void {
    if (now !== undefined && before !== undefined && haveSameReferences(now, before)) return
    if (!isBound(now ?? before)) return
    const startMs = this.#metrics.startGraphAction()
    this.#count(before, -1)
    this.#count(now, 1)
    this.#metrics.endGraphAction(now === undefined ? 'DeletePod' : 'AddPod', startMs)
  }

  #count(object: Pod | undefined, change: 1 | -1): void {
    const node = object?.spec.nodeName ?? ''
    if (object === undefined || node === '') return
    const needs = getOrInsert(this.#needs, node, () => new Map())
    for (const key of podReferences(object)) {
      const count = (needs.get(key) ?? 0) + change
      if (count > 0) needs.set(key, count)
      else needs.delete(key)
    }
    if (needs.size === 0) this.#needs.delete(node)
  }
}

const isBound = (object: Pod | undefined): boolean => (object?.spec.nodeName ?? '') !== ''

/** The Secrets of a persistent volume that kubelets use; the namespace defaults to that of its claim. */
function secretsOf(object: ApiObject | undefined): ReferenceKey[] {
  if (object === undefined) return []
  const { spec } = object as PersistentVolume
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, storageos } = spec
  const references = [
    cephfs?.secretRef,
    cinder?.secretRef,
    flexVolume?.secretRef,
    iscsi?.secretRef,
    rbd?.secretRef,
    scaleIO?.secretRef,
    storageos?.secretRef,
    csi?.nodeExpandSecretRef,
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace },
  ]
  return references.flatMap((reference) =>
    reference?.name === undefined || reference.name === ''
      ? []
      : [referenceKey('secrets', reference.namespace ?? spec.claimRef?.namespace ?? '', reference.name)],
  )
}

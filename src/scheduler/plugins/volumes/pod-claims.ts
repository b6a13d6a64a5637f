// The PersistentVolumeClaims of a pod's volumes, and the volumes behind them.
import { annotationOf, bindingAnnotations, claimKeyOf, classNameOf } from '../../../api/core/v1/volume/claim-binding.ts'
import { persistentVolume, type PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { keyOf, namespaceOf, objectKey, type ObjectKey } from '../../../api/meta/object.ts'
import { storageClass, type StorageClass } from '../../../api/storage/v1/storage-class.ts'
import type { Informers } from '../../../client/informer/informers.ts'

export const storageKinds = [persistentVolume, persistentVolumeClaim, storageClass]

export interface NamedClaim {
  readonly name: string
  readonly key: ObjectKey
  /** Created for this pod from a template in its volume. */
  readonly isEphemeral: boolean
}

export function claimsOf(pod: Pod): NamedClaim[] {
  const namespace = namespaceOf(pod)
  return (pod.spec.volumes ?? []).flatMap(({ name: volume, persistentVolumeClaim: source, ephemeral }) => {
    if (source === undefined && ephemeral === undefined) return []
    const name = source?.claimName ?? `${pod.metadata.name}-${volume}`
    return [{ name, key: objectKey(namespace, name), isEphemeral: ephemeral !== undefined }]
  })
}

export class StorageLookup {
  readonly #informers: Informers

  constructor(informers: Informers) {
    this.#informers = informers
  }

  claim(key: ObjectKey): PersistentVolumeClaim | undefined {
    return this.#informers.of(persistentVolumeClaim).get(key)
  }

  volume(name: string): PersistentVolume | undefined {
    return this.#informers.of(persistentVolume).get(name)
  }

  /** The volumes of the claim's class that are bound to no claim, and those that refer to a claim of its name. */
  volumesFor(claim: PersistentVolumeClaim): readonly PersistentVolume[] {
    const volumes = this.#informers.of(persistentVolume)
    volumes.addIndex('class-and-claim', (volume) => [classAndClaim(classNameOf(volume), claimKeyOf(volume))])
    const className = classNameOf(claim)
    return [undefined, keyOf(claim)].flatMap((key) => volumes.byIndex('class-and-claim', classAndClaim(className, key)))
  }

  classOf(claim: PersistentVolumeClaim): StorageClass | undefined {
    const name = classNameOf(claim)
    return name === '' ? undefined : this.#informers.of(storageClass).get(name)
  }

  /** The existing claims of a pod, each with its bound volume. */
  boundOf(pod: Pod): { claim: PersistentVolumeClaim; volume: PersistentVolume | undefined }[] {
    return claimsOf(pod).flatMap(({ key }) => {
      const claim = this.claim(key)
      if (claim === undefined) return []
      return [{ claim, volume: claim.spec.volumeName ? this.volume(claim.spec.volumeName) : undefined }]
    })
  }
}

const classAndClaim = (className: string, claim: ObjectKey = ''): string => `${className} ${claim}`

/** Bound in both directions, as the volume controller leaves a claim. */
export const isClaimBound = (claim: PersistentVolumeClaim): boolean =>
  Boolean(claim.spec.volumeName) && annotationOf(claim, bindingAnnotations.bindCompleted) !== undefined

/** Whether a change affects one of the pod's claims, or an object that no claim names yet. */
export function concernsClaims(resource: string, now: Parameters<typeof keyOf>[0] | undefined, pod: Pod): boolean {
  if (resource !== persistentVolumeClaim.plural || now === undefined) return true
  return claimsOf(pod).some(({ key }) => key === keyOf(now))
}

// WaitingClaims: the claims that wait for a volume, and which of them a volume that becomes available is offered to. Claims
// that request the same are interchangeable, so an offer compares the volume with one claim of each shape.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { annotationOf, bindingAnnotations, classNameOf } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { isBeingDeleted, keyOf, type ObjectKey } from '../../api/meta/object.ts'
import { attributesClassOf, sizeWanted, suits } from '../../api/core/v1/volume/volume-matching.ts'

const { bindCompleted } = bindingAnnotations

/** Claims of a shape that no volume is offered to, in the order in which they began to wait. */
type Shape = Map<ObjectKey, PersistentVolumeClaim>

export const isWaiting = (claim: PersistentVolumeClaim): boolean =>
  !claim.spec.volumeName && annotationOf(claim, bindCompleted) === undefined && !isBeingDeleted(claim)

interface Offer {
  readonly volume: string
  readonly claim: PersistentVolumeClaim
}

export class WaitingClaims {
  readonly #shapesByClass = new Map<string, Map<string, Shape>>()
  /** A claim is offered one volume at a time, and a volume to one claim. */
  readonly #offers = new Map<ObjectKey, Offer>()
  readonly #claimsOffered = new Map<string, ObjectKey>()

  replace(before: PersistentVolumeClaim | undefined, now: PersistentVolumeClaim | undefined): void {
    if (before !== undefined && isWaiting(before)) this.#remove(before)
    if (now !== undefined && isWaiting(now)) this.#add(now)
  }

  ofClass(name: string): ObjectKey[] {
    const offered = [...this.#offers.entries()].filter(([, { claim }]) => classNameOf(claim) === name)
    const shapes = [...(this.#shapesByClass.get(name)?.values() ?? [])]
    return [...offered.map(([key]) => key), ...shapes.flatMap((shape) => [...shape.keys()])]
  }

  /** Offers the volume to a claim that it suits; undefined if there is none. An earlier offer of the volume ends. */
  offer(volume: PersistentVolume, isDelayed: (claim: PersistentVolumeClaim) => boolean): ObjectKey | undefined {
    const { name } = volume.metadata
    const last = this.#claimsOffered.get(name)
    if (last !== undefined) this.endOffer(last)
    for (const shape of this.#shapesByClass.get(classNameOf(volume))?.values() ?? []) {
      const [claim] = shape.values()
      if (claim === undefined || !suits(volume, claim) || isDelayed(claim)) continue
      this.#remove(claim)
      this.#offers.set(keyOf(claim), { volume: name, claim })
      this.#claimsOffered.set(name, keyOf(claim))
      return keyOf(claim)
    }
    return undefined
  }

  /** Returns the volume that was offered to the claim. The claim may get another offer if it still waits. */
  endOffer(key: ObjectKey, isStillWaiting = true): string | undefined {
    const offer = this.#offers.get(key)
    if (offer === undefined) return undefined
    this.#offers.delete(key)
    this.#claimsOffered.delete(offer.volume)
    if (isStillWaiting) this.#add(offer.claim)
    return offer.volume
  }

  #add(claim: PersistentVolumeClaim): void {
    const offer = this.#offers.get(keyOf(claim))
    if (offer !== undefined) {
      this.#offers.set(keyOf(claim), { ...offer, claim })
      return
    }
    const shapes = getOrInsert(this.#shapesByClass, classNameOf(claim), () => new Map<string, Shape>())
    getOrInsert(shapes, shapeOf(claim), (): Shape => new Map()).set(keyOf(claim), claim)
  }

  #remove(claim: PersistentVolumeClaim): void {
    const shapes = this.#shapesByClass.get(classNameOf(claim))
    const shape = shapes?.get(shapeOf(claim))
    shape?.delete(keyOf(claim))
    if (shape?.size === 0) shapes?.delete(shapeOf(claim))
    if (shapes?.size === 0) this.#shapesByClass.delete(classNameOf(claim))
  }
}

const shapeOf = (claim: PersistentVolumeClaim): string =>
  JSON.stringify([
    classNameOf(claim),
    `${sizeWanted(claim)}`,
    claim.spec.accessModes,
    claim.spec.volumeMode,
    attributesClassOf(claim),
    claim.spec.selector ?? null,
  ])

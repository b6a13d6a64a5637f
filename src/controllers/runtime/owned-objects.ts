// OwnedObjects: the objects that a plan controller's objects own, from the informers' caches: lookups by owner, the owners
// that a change concerns, and pending adoptions and releases.
import type { Kind } from '../../api/kind/kind.ts'
import { controllerOf, keyOf, namespaceOf, objectKey, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import { byOwnerUid, type Informer, type ObjectChange } from '../../client/informer/informer.ts'
import type { Informers } from '../../client/informer/informers.ts'
import { byOrphanNamespace, ownershipPatches, type OwnershipPatch } from './adoption.ts'
import type { PlanController } from './controller.ts'
import { namespaceIndex } from './plan-caches.ts'

const ownerIndex = 'owner'
const orphanIndex = 'orphan'

export interface KindPatch {
  readonly kind: Kind
  readonly patch: OwnershipPatch
}

export class OwnedObjects {
  readonly #controller: PlanController
  readonly #informers: Informers

  constructor(controller: PlanController, informers: Informers) {
    this.#controller = controller
    this.#informers = informers
  }

  /** Adds the indexes, and calls back with the key of each owner that a change concerns. */
  watch(onChange: (owner: ObjectKey, change: ObjectChange<ApiObject>) => void): void {
    for (const kind of this.#controller.owns) {
      const informer = this.#informerOf(kind)
      informer.addIndex(ownerIndex, byOwnerUid)
      if (this.#controller.claims !== undefined) informer.addIndex(orphanIndex, byOrphanNamespace)
      informer.onChange((change) => {
        for (const key of this.#ownersOf(change)) onChange(key, change)
      })
    }
  }

  /** The objects of the kind that the owner controls. */
  of(owner: ApiObject, kind: Kind): ApiObject[] {
    return this.#informerOf(kind)
      .byIndex(ownerIndex, owner.metadata.uid)
      .filter((candidate) => controllerOf(candidate)?.uid === owner.metadata.uid)
  }

  /** The adoptions and releases that are due for the owner. */
  patchesFor(owner: ApiObject): KindPatch[] {
    const { claims, owns } = this.#controller
    if (claims === undefined) return []
    return owns.flatMap((kind) => {
      const orphans = this.#informerOf(kind).byIndex(orphanIndex, namespaceOf(owner))
      const patches = ownershipPatches(owner, this.of(owner, kind), orphans, (candidate) => claims(owner, candidate))
      return patches.map((patch) => ({ kind, patch }))
    })
  }

  /** The keys of the objects that own it, owned it before, or may adopt it. */
  #ownersOf({ now, before }: ObjectChange<ApiObject>): Set<ObjectKey> {
    const { claims, reconciles } = this.#controller
    const { kind, apiVersion, namespaced } = reconciles
    const keys = new Set<ObjectKey>()
    for (const object of [now, before]) {
      const owner = object === undefined ? undefined : controllerOf(object)
      if (object !== undefined && owner?.kind === kind && owner.apiVersion === apiVersion)
        keys.add(objectKey(namespaced ? namespaceOf(object) : '', owner.name))
    }
    if (claims === undefined || now === undefined || controllerOf(now) !== undefined) return keys
    for (const owner of this.#informerOf(reconciles).byIndex(namespaceIndex, namespaceOf(now)))
      if (claims(owner, now)) keys.add(keyOf(owner))
    return keys
  }

  #informerOf(kind: Kind): Informer {
    return this.#informers.of(kind)
  }
}

// Adoption: which orphans an owner adopts, and which of its objects it releases.
import { controllerOf, controllerReference, isBeingDeleted, type ApiObject } from '../../api/meta/object.ts'

export type OwnershipPatch =
  | { readonly kind: 'adopt'; readonly object: ApiObject; readonly patch: object }
  | { readonly kind: 'release'; readonly object: ApiObject; readonly patch: object }

/** The patches that adopt the matching orphans and release the owned objects that no longer match. */
export function ownershipPatches(
  owner: ApiObject,
  owned: Iterable<ApiObject>,
  orphans: Iterable<ApiObject>,
  isClaimed: (candidate: ApiObject) => boolean,
): OwnershipPatch[] {
  if (isBeingDeleted(owner)) return []
  const claims: OwnershipPatch[] = []
  for (const object of owned)
    if (!isBeingDeleted(object) && !isClaimed(object))
      claims.push({ kind: 'release', object, patch: released(object, owner) })
  for (const object of orphans)
    if (!isBeingDeleted(object) && isClaimed(object))
      claims.push({ kind: 'adopt', object, patch: adopted(object, owner) })
  return claims
}

const adopted = ({ metadata: { uid } }: ApiObject, owner: ApiObject): object => ({
  metadata: { uid, ownerReferences: [controllerReference(owner)] },
})

const released = ({ metadata: { uid } }: ApiObject, owner: ApiObject): object => ({
  metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }] },
})

/** Index function: objects without a controller, by namespace. */
export const byOrphanNamespace = (object: ApiObject): string[] =>
  controllerOf(object) === undefined ? [object.metadata.namespace ?? ''] : []

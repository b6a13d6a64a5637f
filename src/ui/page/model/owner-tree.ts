// The objects that an object owns, directly and indirectly, in the order of a tree.
import type { ClusterObject } from '../source/source.ts'

export interface OwnedObject {
  readonly resource: string
  readonly object: ClusterObject
}

export interface TreeRow extends OwnedObject {
  readonly depth: number
}

/** A tree is not followed deeper, because owner references can form a cycle. */
const depthMax = 8

export function ownerTree(all: readonly OwnedObject[], uid: string | undefined, depth = 0): TreeRow[] {
  if (uid === undefined || depth >= depthMax) return []
  return all
    .filter(({ object }) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .flatMap((owned) => [{ ...owned, depth }, ...ownerTree(all, owned.object.metadata.uid, depth + 1)])
}

// The order in which both APIs decide between objects: the oldest, then alphabetically by namespace and name.
import { keyOf, type ApiObject } from '../../api/meta/object.ts'

/** Smaller for the object that comes first. */
export const ageOrder = (object: ApiObject): string => `${object.metadata.creationTimestamp ?? ''} ${keyOf(object)}`

export const olderFirst = (a: ApiObject, b: ApiObject): number => {
  const first = ageOrder(a)
  const second = ageOrder(b)
  return first < second ? -1 : Number(first > second)
}

// The default StorageClass: the newest class that is marked as such, and of equally new ones the first by name.
import type { ApiObject } from '../../meta/object.ts'
import { isDefaultClass, type StorageClass } from './storage-class.ts'

export const defaultStorageClassOf = (classes: Iterable<StorageClass>): StorageClass | undefined =>
  [...classes]
    .filter(isDefaultClass)
    .toSorted((a, b) => newestFirst(a, b) || (a.metadata.name < b.metadata.name ? -1 : 1))[0]

const newestFirst = (a: ApiObject, b: ApiObject): number =>
  Date.parse(b.metadata.creationTimestamp ?? '') - Date.parse(a.metadata.creationTimestamp ?? '') || 0

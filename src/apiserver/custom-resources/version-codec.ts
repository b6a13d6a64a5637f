// versionCodec: the storage codec of one version of a custom resource. Stored objects are converted, pruned and defaulted
// when they are read; the result is cached as long as the stored object is.
import { thenMaybe } from '../../base/async/maybe-promise.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { StorageCodec } from '../storage/storage-codec.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { VersionConversion } from './version-conversion.ts'

export function versionCodec(kind: Kind, storageKind: Kind, conversion: VersionConversion): StorageCodec {
  /** By the stored object; the same object where it needs no change. */
  const shown = new WeakMap<StoredObject, StoredObject>()
  const converted = new WeakSet<StoredObject>()
  const show = (stored: StoredObject, object: ApiObject): void => {
    const completed = kind.custom?.complete(object) ?? object
    if (completed === stored.object) return void shown.set(stored, stored)
    const changed = StoredObject.ofObject(completed, stored.revision)
    shown.set(stored, changed)
    converted.add(changed)
  }
  return {
    fromStorage(stored, signal) {
      const unseen = stored.filter((each) => !shown.has(each))
      const all = (): readonly StoredObject[] => stored.map((each) => shown.get(each) ?? each)
      if (unseen.length === 0) return all()
      const objects = unseen.map(({ object }) => object)
      return thenMaybe(conversion.convert(objects, kind.apiVersion, signal), (results) => {
        for (const [index, each] of unseen.entries()) show(each, results[index] ?? each.object)
        return all()
      })
    },
    isConverted: (object) => converted.has(object),
    toStorage: (object, signal) =>
      thenMaybe(conversion.convert([object], storageKind.apiVersion, signal), ([result]) => result ?? object),
  }
}

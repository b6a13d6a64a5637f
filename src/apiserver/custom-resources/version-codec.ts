// versionCodec: the storage codec of one version of a custom resource. A stored object gets the defaults of the version in
// which it is stored, and is then converted. The result is cached as long as the stored object is.
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { context } from '../../base/observability/context.ts'
import type { Cause } from '../../base/observability/flow-recorder.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { StorageCodec } from '../storage/storage-codec.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { VersionConversion } from './version-conversion.ts'

export interface CodecVersions {
  /** All versions of the definition, served or not. */
  readonly kinds: readonly Kind[]
  readonly storageKind: Kind
  readonly conversion: VersionConversion
}

export function versionCodec(kind: Kind, { kinds, storageKind, conversion }: CodecVersions): StorageCodec {
  /** By the stored object; the same object where it needs no change. */
  const shown = new WeakMap<StoredObject, StoredObject>()
  const converted = new WeakSet<StoredObject>()
  /** Conversions that have not ended: the watchers of an object share one. */
  const pending = new WeakMap<StoredObject, Promise<void>>()
  const kindOf = (apiVersion: string): Kind | undefined => kinds.find((each) => each.apiVersion === apiVersion)
  const inVersion = (object: ApiObject, apiVersion: string): ApiObject =>
    kindOf(apiVersion)?.custom?.prune(object) ?? object

  const completed = ({ object }: StoredObject): ApiObject => {
    const stored = kindOf(object.apiVersion)
    if (stored === undefined)
      throw new StatusError(500, '', `request to convert CR from an invalid group/version: ${object.apiVersion}`)
    return stored.custom?.complete(object) ?? object
  }
  const show = (stored: StoredObject, object: ApiObject): void => {
    if (object === stored.object) return void shown.set(stored, stored)
    const changed = StoredObject.ofObject(object, stored.revision)
    shown.set(stored, changed)
    converted.add(changed)
  }
  const convert = (unseen: readonly StoredObject[], cause: Cause): MaybePromise<void> => {
    const objects = unseen.map(completed)
    // A conversion is shared, so the end of one request does not end it. Conversions have their own timeout.
    const shared = context(new AbortController().signal, cause)
    return thenMaybe(conversion.convert(objects, kind.apiVersion, shared), (results) => {
      for (const [index, each] of unseen.entries()) {
        const object = objects[index] ?? each.object
        const result = results[index] ?? each.object
        show(each, result === object ? object : inVersion(result, kind.apiVersion))
      }
    })
  }
  const start = (unseen: readonly StoredObject[], cause: Cause): Promise<void> | undefined => {
    const conversions = convert(unseen, cause)
    if (!(conversions instanceof Promise)) return undefined
    const forget = () => unseen.forEach((each) => pending.delete(each))
    for (const each of unseen) pending.set(each, conversions)
    conversions.then(forget, forget)
    return conversions
  }
  const convertOne: StorageCodec['convert'] = (object, apiVersion, ctx) =>
    object.apiVersion === apiVersion
      ? object
      : thenMaybe(conversion.convert([object], apiVersion, ctx), ([result]) => result ?? object)
  const toVersion: StorageCodec['toVersion'] = (object, apiVersion, ctx) =>
    object.apiVersion === apiVersion
      ? object
      : thenMaybe(convertOne(object, apiVersion, ctx), (result) => inVersion(result, apiVersion))

  return {
    fromStorage(stored, { signal, cause }) {
      const all = (): readonly StoredObject[] => stored.map((each) => shown.get(each) ?? each)
      const unseen = stored.filter((each) => !shown.has(each))
      if (unseen.length === 0) return all()
      const started = new Set(unseen.map((each) => pending.get(each)).filter((each) => each !== undefined))
      const fresh = unseen.filter((each) => !pending.has(each))
      const own = fresh.length === 0 ? undefined : start(fresh, cause)
      if (own !== undefined) started.add(own)
      return started.size === 0 ? all() : unlessAborted(Promise.all(started), signal).then(all)
    },
    isConverted: (object) => converted.has(object),
    toStorage: (object, ctx) => toVersion(object, storageKind.apiVersion, ctx),
    toVersion,
    convert: convertOne,
  }
}

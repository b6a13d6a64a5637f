// StorageCodec: converts objects of a custom kind between the version of a request and the store. Objects may have been
// stored in another version, or when the schema was a different one. Built-in kinds need no codec: their store has one
// version.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Context } from '../../base/observability/context.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { StoredObject } from './stored-object.ts'

export interface StorageCodec {
  /** The objects in the version of the codec, pruned and with the defaults of its schema. */
  fromStorage(stored: readonly StoredObject[], context: Context): MaybePromise<readonly StoredObject[]>
  /** Whether the result of `fromStorage` differs from what is stored. An update writes it, even if it changes nothing else. */
  isConverted(object: StoredObject): boolean
  /** The object in the version in which it is stored. */
  toStorage(object: ApiObject, context: Context): MaybePromise<ApiObject>
  /** An object of any version in another one, without fields that the other one does not have. */
  toVersion(object: ApiObject, apiVersion: string, context: Context): MaybePromise<ApiObject>
  /** The same with the fields that the other version does not have, unless the conversion removes them. */
  convert(object: ApiObject, apiVersion: string, context: Context): MaybePromise<ApiObject>
}

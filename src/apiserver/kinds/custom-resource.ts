// CustomResource: what a CustomResourceDefinition adds to the API: one kind for each version, over one set of stored objects.
import type { Kind } from '../../api/kind/kind.ts'
import type { StorageCodec } from '../storage/storage-codec.ts'

export interface CustomResource {
  /** `crontabs.stable.example.com`, the name of the definition. */
  readonly name: string
  /** The served versions, the preferred one first. */
  readonly versions: readonly CustomResourceVersion[]
  /** The version in which objects are written to the store. It need not be served. */
  readonly storage: CustomResourceVersion
}

export interface CustomResourceVersion {
  readonly kind: Kind
  readonly codec: StorageCodec
}

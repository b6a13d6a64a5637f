// BootstrapObject: an object that every cluster has, such as a default role.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'

/** An object without the uid and creation time, which it gets when it is created. */
export type ObjectManifest<T extends ApiObject = ApiObject> = Omit<T, 'metadata'> & {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}

export interface BootstrapObject {
  readonly kind: Kind
  readonly object: ObjectManifest
  /** The status of the object when it is created. */
  status?(created: ApiObject): unknown
  /** The existing object brought up to date; undefined leaves it as it is. */
  update?(current: ApiObject): ApiObject | undefined
}

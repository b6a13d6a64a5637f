// VersionConversion: converts objects between the versions of a custom resource.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Context } from '../../base/observability/context.ts'
import type { ApiObject } from '../../api/meta/object.ts'

export interface VersionConversion {
  /** The objects in another version, in the same order. Objects that have it already are returned as they are. */
  convert(objects: readonly ApiObject[], apiVersion: string, context: Context): MaybePromise<readonly ApiObject[]>
}

/** The strategy None: all versions have the same content. */
export const noConversion: VersionConversion = {
  convert: (objects, apiVersion) =>
    objects.map((object) => (object.apiVersion === apiVersion ? object : { ...object, apiVersion })),
}

// The objects of a request in the version that a webhook or a policy matches, where that is another version of a custom
// kind. Versions of built-in kinds are converted by convertToVersion.
import { thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { AdmissionAttributes, AdmissionHost } from './admission-plugin.ts'

type Objects = Pick<AdmissionAttributes, 'kind' | 'subresourceObject' | 'object' | 'old' | 'signal'>

/** The object of a subresource, such as a Scale, is the same for every version. */
const isSameVersion = ({ kind, subresourceObject }: Objects, matched: Kind): boolean =>
  matched.custom === undefined || matched.apiVersion === kind.apiVersion || subresourceObject !== undefined

/** The attributes with the objects in the matched version. */
export function inMatchedVersion(
  attributes: AdmissionAttributes,
  matched: Kind,
  host: AdmissionHost,
): MaybePromise<AdmissionAttributes> {
  if (isSameVersion(attributes, matched)) return attributes
  const { object, old, signal } = attributes
  const convert = (each: ApiObject | undefined) => each && host.convert(each, matched, signal)
  return thenMaybe(convert(object), (newer) =>
    thenMaybe(convert(old), (older) => ({ ...attributes, object: newer, old: older })),
  )
}

/** A changed object of the matched version in the version of the request. */
export const fromMatchedVersion = (
  object: ApiObject,
  attributes: AdmissionAttributes,
  matched: Kind,
  host: AdmissionHost,
): MaybePromise<ApiObject> =>
  isSameVersion(attributes, matched) ? object : host.convert(object, attributes.kind, attributes.signal)

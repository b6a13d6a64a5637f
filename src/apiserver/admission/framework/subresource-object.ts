// SubresourceObject: the type that a subresource takes instead of the kind: a Scale, a Binding, an Eviction, a TokenRequest,
// the options of a connection. Admission sees it under the resource and subresource of the request.
import { scale } from '../../../api/autoscaling/v1/scale.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ObjectMeta } from '../../../api/meta/v1/object-meta.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { withDefaults } from '../../../schema/decoding/defaults.ts'
import type { Message } from '../../../schema/descriptor/field.ts'
import type { JsonValue } from '../../../schema/json/json-value.ts'
import { decodeBody, decodeObject } from '../../objects/decode-object.ts'

export interface SubresourceObject {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly message: Message
}

export const scaleObject: SubresourceObject = { group: 'autoscaling', version: 'v1', kind: 'Scale', message: scale }

const known = new WeakMap<Kind, Map<string, SubresourceObject | undefined>>()

/** Undefined if the subresource takes the object itself. */
export function subresourceObjectOf(kind: Kind, subresource: string): SubresourceObject | undefined {
  if (subresource === '') return undefined
  let byName = known.get(kind)
  if (byName === undefined) known.set(kind, (byName = new Map()))
  if (!byName.has(subresource)) {
    const { response, body, options } = kind.subresources?.find(({ name }) => name === subresource) ?? {}
    const message = body ?? options
    byName.set(subresource, response === undefined || message === undefined ? undefined : { ...response, message })
  }
  return byName.get(subresource)
}

export function decodeSubresourceObject(
  { group, version, kind, message }: SubresourceObject,
  value: unknown,
): ApiObject {
  const typed = {
    kind,
    apiVersion: group === '' ? version : `${group}/${version}`,
    ...decodeBody(message, kind, value),
  }
  return withDefaults(message, typed) as unknown as ApiObject // options of a connection have no metadata: metadataOf()
}

/** The object in a version of its kind; the object of a subresource is not converted. */
export const convertToVersion = (
  kind: Kind,
  subresourceObject: SubresourceObject | undefined,
  object: ApiObject,
): ApiObject => (subresourceObject === undefined ? (kind.storedAs?.fromStored(object) ?? object) : object)

/** The inverse of convertToVersion after a change: the object is decoded and defaulted as if a client had sent it. */
export function convertToStored(
  kind: Kind,
  subresourceObject: SubresourceObject | undefined,
  changed: JsonValue,
): ApiObject {
  if (subresourceObject !== undefined) return decodeSubresourceObject(subresourceObject, changed)
  const sent = decodeObject(kind, changed, 'Ignore').object
  return kind.storedAs?.toStored(sent) ?? sent
}

/** Empty for objects without metadata, such as the options of a connection. */
export const metadataOf = (object: ApiObject | undefined): Partial<ObjectMeta> =>
  (object as { readonly metadata?: Partial<ObjectMeta> } | undefined)?.metadata ?? {}

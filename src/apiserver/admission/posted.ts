// Posted: what a subresource takes in place of the object: a Scale, a Binding, an Eviction, a TokenRequest, the options of
// a connection. Admission sees it under the resource and subresource that it was sent to.
import { scale } from '../../api/autoscaling/v1/scale.ts'
import type { Kind } from '../../api/kind.ts'
import type { ObjectMeta } from '../../api/meta/v1/object-meta.ts'
import type { ApiObject } from '../../api/object.ts'
import { withDefaults } from '../../schema/defaults.ts'
import type { Message } from '../../schema/field.ts'
import type { JsonValue } from '../../schema/json-value.ts'
import { decodeBody, ingest } from '../registry/ingest.ts'

export interface Posted {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly message: Message
}

export const postedScale: Posted = { group: 'autoscaling', version: 'v1', kind: 'Scale', message: scale }

const known = new WeakMap<Kind, Map<string, Posted | undefined>>()

/** undefined where the subresource takes the object itself. */
export function postedTo(kind: Kind, subresource: string): Posted | undefined {
  if (subresource === '') return undefined
  let byName = known.get(kind)
  if (byName === undefined) known.set(kind, (byName = new Map()))
  if (!byName.has(subresource)) {
    const { answer, body, options } = kind.subresources?.find(({ name }) => name === subresource) ?? {}
    const message = body ?? options
    byName.set(subresource, answer === undefined || message === undefined ? undefined : { ...answer, message })
  }
  return byName.get(subresource)
}

export function asPosted({ group, version, kind, message }: Posted, value: unknown): ApiObject {
  const typed = {
    kind,
    apiVersion: group === '' ? version : `${group}/${version}`,
    ...decodeBody(message, kind, value),
  }
  return withDefaults(message, typed) as unknown as ApiObject // options of a connection have no metadata: metadataOf()
}

/** How the object is shown: in a version of its kind, or as it was posted. */
export const shownAs = (kind: Kind, posted: Posted | undefined, object: ApiObject): ApiObject =>
  posted === undefined ? (kind.storedAs?.fromStored(object) ?? object) : object

/** What was shown and then changed, decoded and defaulted as if a client had sent it. */
export function takenBack(kind: Kind, posted: Posted | undefined, changed: JsonValue): ApiObject {
  if (posted !== undefined) return asPosted(posted, changed)
  const sent = ingest(kind, changed, 'Ignore').object
  return kind.storedAs?.toStored(sent) ?? sent
}

/** Empty for what has none. */
export const metadataOf = (object: ApiObject | undefined): Partial<ObjectMeta> =>
  (object as { readonly metadata?: Partial<ObjectMeta> } | undefined)?.metadata ?? {}

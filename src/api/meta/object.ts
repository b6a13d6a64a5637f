// ApiObject: what every object has, and the two types per kind: the one inside, and what may be sent.
import type { Message } from '../../schema/descriptor/field.ts'
import type { Infer, InferInput } from '../../schema/descriptor/infer.ts'
import type { objectMeta, ObjectMeta, OwnerReference } from './v1/object-meta.ts'

export interface ApiObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** The defaulted, read-only type that everything inside works with. */
export type ObjectOf<M extends Message> = ApiObject & Omit<Infer<M>, 'metadata'>

export type ObjectMetaInput = InferInput<typeof objectMeta>

/** What may be sent: defaults, kind and version may be left out. */
export type InputOf<M extends Message> = Omit<InferInput<M>, 'metadata'> & {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMetaInput
}

/** `namespace/name`, or the name alone for objects of the whole cluster. */
export type ObjectKey = string

export const keyOf = ({ metadata: { namespace, name } }: ApiObject): ObjectKey =>
  namespace === undefined ? name : `${namespace}/${name}`

export const objectKey = (namespace: string, name: string): ObjectKey =>
  namespace === '' ? name : `${namespace}/${name}`

export function splitKey(key: ObjectKey): { namespace: string; name: string } {
  const slash = key.indexOf('/')
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

export const namespaceOf = (object: ApiObject): string => object.metadata.namespace ?? ''

export const revisionOf = (object: ApiObject): number => Number(object.metadata.resourceVersion)

export const isBeingDeleted = (object: ApiObject): boolean => object.metadata.deletionTimestamp !== undefined

/** The owner that manages the object; at most one does. */
export const controllerOf = (object: ApiObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true)

/** The reference that makes `owner` the managing owner of what it creates. */
export const controllerReference = (owner: ApiObject): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
})

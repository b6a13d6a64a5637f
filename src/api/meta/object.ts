// ApiObject: the common fields of all objects, and the two types of each kind: the stored object and the input.
import type { Message } from '../../schema/descriptor/field.ts'
import type { Infer, InferInput } from '../../schema/descriptor/infer.ts'
import type { objectMeta, ObjectMeta, OwnerReference } from './v1/object-meta.ts'

export interface ApiObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** The read-only type of objects with defaults, which is used everywhere inside of the server. */
export type ObjectOf<M extends Message> = ApiObject & Omit<Infer<M>, 'metadata'>

export type ObjectMetaInput = InferInput<typeof objectMeta>

/** What a client may send: defaults, kind and version may be omitted. */
export type InputOf<M extends Message> = Omit<InferInput<M>, 'metadata'> & {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMetaInput
}

/** `namespace/name`, or the name alone for cluster-scoped objects. */
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

/** The controller of the object; there is at most one. */
export const controllerOf = (object: ApiObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true)

/** The reference that makes `owner` the controller of an object that it creates. */
export const controllerReference = (owner: ApiObject): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
})

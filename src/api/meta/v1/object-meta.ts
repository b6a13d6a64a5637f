// ObjectMeta: the metadata of all objects: names, labels, owners, versions, times.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import {
  atomicMessage,
  bool,
  fieldsV1,
  int64,
  list,
  map,
  message,
  string,
  struct,
  time,
} from '../../../schema/descriptor/field.ts'

export const managedFieldsEntry = message('io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry', {
  manager: string(1, { description: 'The name of the client that manages the fields.' }),
  operation: string(2, { description: 'How it set them: Apply or Update.' }),
  apiVersion: string(3, { description: 'The API version in which the fields are named.' }),
  time: time(4, { pointer: true, description: 'When the set of fields changed last.' }),
  fieldsType: string(6, { description: 'The format of fieldsV1; always FieldsV1.' }),
  fieldsV1: fieldsV1(7, { pointer: true, description: 'The managed fields as a tree of their names.' }),
  subresource: string(8, {
    description: 'The subresource through which the fields were set; empty for the object itself.',
  }),
})
export interface ManagedFieldsEntry extends Infer<typeof managedFieldsEntry> {}

export const ownerReference = atomicMessage('io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference', {
  kind: string(1, { required: true, description: 'The kind of the owner.' }),
  name: string(3, { required: true, description: 'The name of the owner, in the same namespace or without one.' }),
  uid: string(4, {
    required: true,
    description: 'The uid of the owner, which distinguishes it from a later object of the same name.',
  }),
  apiVersion: string(5, { required: true, description: 'The API version of the owner.' }),
  controller: bool(6, {
    pointer: true,
    description: 'Whether the owner is the controller that manages the object. At most one owner is.',
  }),
  blockOwnerDeletion: bool(7, {
    pointer: true,
    description: 'Whether a deletion of the owner in the foreground waits until this object is deleted.',
  }),
})
export interface OwnerReference extends Infer<typeof ownerReference> {}

export const objectMeta = message('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', {
  name: string(1, {
    description: 'The name, unique among the objects of its kind in a namespace. It cannot be changed.',
  }),
  generateName: string(2, {
    description: 'The beginning of the name, to which the server adds random characters if no name is given.',
  }),
  namespace: string(3, { description: 'The namespace of the object. It cannot be changed.' }),
  selfLink: string(4, { description: 'Deprecated: not set by the server.' }),
  uid: string(5, { description: 'Identifies this object, also after another one of the same name replaces it.' }),
  resourceVersion: string(6, {
    description: 'Identifies the stored version of the object. Clients compare it for equality only.',
  }),
  generation: int64(7, { description: 'Counts the changes of the desired state.' }),
  creationTimestamp: time(8, {
    omitEmpty: true,
    description: 'CreationTimestamp is a timestamp of the server, set when the object is created.',
  }),
  deletionTimestamp: time(9, {
    pointer: true,
    description: 'When the object will be or could be removed, after its deletion was requested.',
  }),
  deletionGracePeriodSeconds: int64(10, {
    pointer: true,
    description: 'The seconds between the request for deletion and the removal.',
  }),
  labels: map(11, 'string', { description: 'Keys and values by which objects are selected.' }),
  annotations: map(12, 'string', { description: 'Keys and values for tools; objects are not selected by them.' }),
  ownerReferences: list(13, ownerReference, {
    listType: 'map',
    keys: ['uid'],
    patch: 'merge',
    mergeKey: 'uid',
    description: 'The objects on which this one depends. It is deleted when all of them are.',
  }),
  finalizers: list(14, 'string', {
    listType: 'set',
    patch: 'merge',
    description: 'The object is not removed until the list is empty.',
  }),
  managedFields: list(17, managedFieldsEntry, {
    listType: 'atomic',
    description: 'Which manager has set which fields, by API version and operation.',
  }),
})

/** The metadata of an accepted object: these fields are always set. */
export interface ObjectMeta extends Infer<typeof objectMeta> {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly creationTimestamp: string
}

/** The metadata of a kind. */
export const objectMetaField = struct(1, objectMeta, {
  description: 'The name, namespace, labels, annotations and other standard metadata of the object.',
})

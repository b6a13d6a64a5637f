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
  time,
} from '../../../schema/descriptor/field.ts'

export const managedFieldsEntry = message('io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry', {
  manager: string(1),
  operation: string(2),
  apiVersion: string(3),
  time: time(4, { pointer: true }),
  fieldsType: string(6),
  fieldsV1: fieldsV1(7, { pointer: true }),
  subresource: string(8),
})
export interface ManagedFieldsEntry extends Infer<typeof managedFieldsEntry> {}

export const ownerReference = atomicMessage('io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference', {
  kind: string(1, { required: true }),
  name: string(3, { required: true }),
  uid: string(4, { required: true }),
  apiVersion: string(5, { required: true }),
  controller: bool(6, { pointer: true }),
  blockOwnerDeletion: bool(7, { pointer: true }),
})
export interface OwnerReference extends Infer<typeof ownerReference> {}

export const objectMeta = message('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', {
  name: string(1),
  generateName: string(2),
  namespace: string(3),
  selfLink: string(4),
  uid: string(5),
  resourceVersion: string(6),
  generation: int64(7),
  creationTimestamp: time(8, { omitEmpty: true }),
  deletionTimestamp: time(9, { pointer: true }),
  deletionGracePeriodSeconds: int64(10, { pointer: true }),
  labels: map(11, 'string'),
  annotations: map(12, 'string'),
  ownerReferences: list(13, ownerReference, { listType: 'map', keys: ['uid'], patch: 'merge', mergeKey: 'uid' }),
  finalizers: list(14, 'string', { listType: 'set', patch: 'merge' }),
  managedFields: list(17, managedFieldsEntry, { listType: 'atomic' }),
})

/** The metadata of an accepted object: these fields are always set. */
export interface ObjectMeta extends Infer<typeof objectMeta> {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly creationTimestamp: string
}

// References from one object to another.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, message, string } from '../../../schema/descriptor/field.ts'

export const localObjectReference = atomicMessage('io.k8s.api.core.v1.LocalObjectReference', {
  name: string(1, { description: 'The name of the object, in the same namespace.' }),
})
export interface LocalObjectReference extends Infer<typeof localObjectReference> {}

export const objectReference = atomicMessage('io.k8s.api.core.v1.ObjectReference', {
  kind: string(1, { description: 'The kind of the object.' }),
  namespace: string(2, { description: 'The namespace of the object.' }),
  name: string(3, { description: 'The name of the object.' }),
  uid: string(4, { description: 'The uid of the object.' }),
  apiVersion: string(5, { description: 'The API version of the object.' }),
  resourceVersion: string(6, { description: 'The version of the object that is meant.' }),
  fieldPath: string(7, { description: 'The part of the object that is meant, such as spec.containers{web}.' }),
})
export interface ObjectReference extends Infer<typeof objectReference> {}

export const typedLocalObjectReference = atomicMessage('io.k8s.api.core.v1.TypedLocalObjectReference', {
  apiGroup: string(1, {
    pointer: true,
    keepEmpty: true,
    description: 'The API group of the object; the core group without it.',
  }),
  kind: string(2, { required: true, description: 'The kind of the object.' }),
  name: string(3, { required: true, description: 'The name of the object, in the same namespace.' }),
})
export interface TypedLocalObjectReference extends Infer<typeof typedLocalObjectReference> {}

export const typedObjectReference = message('io.k8s.api.core.v1.TypedObjectReference', {
  apiGroup: string(1, {
    pointer: true,
    keepEmpty: true,
    description: 'The API group of the object; the core group without it.',
  }),
  kind: string(2, { required: true, description: 'The kind of the object.' }),
  name: string(3, { required: true, description: 'The name of the object.' }),
  namespace: string(4, {
    pointer: true,
    description: 'The namespace of the object; that of the claim by default. Another one requires a ReferenceGrant.',
  }),
})
export interface TypedObjectReference extends Infer<typeof typedObjectReference> {}

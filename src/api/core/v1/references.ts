// References from one object to another.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, message, string } from '../../../schema/descriptor/field.ts'

export const localObjectReference = atomicMessage('io.k8s.api.core.v1.LocalObjectReference', {
  name: string(1),
})
export interface LocalObjectReference extends Infer<typeof localObjectReference> {}

export const objectReference = atomicMessage('io.k8s.api.core.v1.ObjectReference', {
  kind: string(1),
  namespace: string(2),
  name: string(3),
  uid: string(4),
  apiVersion: string(5),
  resourceVersion: string(6),
  fieldPath: string(7),
})
export interface ObjectReference extends Infer<typeof objectReference> {}

export const typedLocalObjectReference = atomicMessage('io.k8s.api.core.v1.TypedLocalObjectReference', {
  apiGroup: string(1, { pointer: true, keepEmpty: true }),
  kind: string(2, { required: true }),
  name: string(3, { required: true }),
})
export interface TypedLocalObjectReference extends Infer<typeof typedLocalObjectReference> {}

export const typedObjectReference = message('io.k8s.api.core.v1.TypedObjectReference', {
  apiGroup: string(1, { pointer: true, keepEmpty: true }),
  kind: string(2, { required: true }),
  name: string(3, { required: true }),
  namespace: string(4, { pointer: true }),
})
export interface TypedObjectReference extends Infer<typeof typedObjectReference> {}

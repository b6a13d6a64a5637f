// Types that mutating and validating policies share.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, string, struct } from '../../../schema/descriptor/field.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const paramKind = atomicMessage('io.k8s.api.admissionregistration.v1.ParamKind', {
  apiVersion: string(1),
  kind: string(2),
})
export interface ParamKind extends Infer<typeof paramKind> {}

export const paramRef = atomicMessage('io.k8s.api.admissionregistration.v1.ParamRef', {
  name: string(1),
  namespace: string(2),
  selector: struct(3, labelSelector, { pointer: true }),
  parameterNotFoundAction: string(4, { pointer: true }),
})
export interface ParamRef extends Infer<typeof paramRef> {}

export const variable = atomicMessage('io.k8s.api.admissionregistration.v1.Variable', {
  name: string(1, { required: true }),
  expression: string(2, { required: true }),
})
export interface Variable extends Infer<typeof variable> {}

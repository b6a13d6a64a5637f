// Types that mutating and validating policies share.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, string, struct } from '../../../schema/descriptor/field.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const paramKind = atomicMessage('io.k8s.api.admissionregistration.v1.ParamKind', {
  apiVersion: string(1, { description: 'The API version of the parameters.' }),
  kind: string(2, { description: 'The kind of the parameters.' }),
})
export interface ParamKind extends Infer<typeof paramKind> {}

export const paramRef = atomicMessage('io.k8s.api.admissionregistration.v1.ParamRef', {
  name: string(1, { description: 'The name of the parameters.' }),
  namespace: string(2, { description: 'The namespace of the parameters; that of the request by default.' }),
  selector: struct(3, labelSelector, {
    pointer: true,
    description: 'The parameters by their labels, instead of a name.',
  }),
  parameterNotFoundAction: string(4, { pointer: true, description: 'What happens without parameters: Allow or Deny.' }),
})
export interface ParamRef extends Infer<typeof paramRef> {}

export const variable = atomicMessage('io.k8s.api.admissionregistration.v1.Variable', {
  name: string(1, { required: true, description: 'The name, used as variables.<name>.' }),
  expression: string(2, { required: true, description: 'The CEL expression of the value.' }),
})
export interface Variable extends Infer<typeof variable> {}

// ValidatingAdmissionPolicyBinding: where a policy applies, with which parameters, and what a violation leads to.
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { matchResources } from './match-resources.ts'
import { paramRef } from './policy-params.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { duplicate, invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { paramRefText, validatePolicyBinding } from './policy-rules.ts'

export const validatingAdmissionPolicyBindingSpec = message(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec',
  {
    policyName: string(1, { required: true, omitEmpty: true, description: 'The policy.' }),
    paramRef: struct(2, paramRef, { pointer: true, description: 'The objects with its parameters.' }),
    matchResources: struct(3, matchResources, {
      pointer: true,
      description: 'Restricts the requests that the policy applies to.',
    }),
    validationActions: list(4, 'string', {
      required: true,
      enum: ['Audit', 'Deny', 'Warn'],
      listType: 'set',
      omitEmpty: true,
      description: 'What happens on a violation: Deny, Warn, Audit.',
    }),
  },
)
export interface ValidatingAdmissionPolicyBindingSpec extends Infer<typeof validatingAdmissionPolicyBindingSpec> {}

export const validatingAdmissionPolicyBindingMessage = message(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding',
  {
    metadata: objectMetaField,
    spec: struct(2, validatingAdmissionPolicyBindingSpec, {
      required: true,
      description: 'The wanted state of the object.',
    }),
  },
  'Activates a ValidatingAdmissionPolicy.',
)
export interface ValidatingAdmissionPolicyBinding extends ObjectOf<typeof validatingAdmissionPolicyBindingMessage> {}
export type ValidatingAdmissionPolicyBindingInput = InputOf<typeof validatingAdmissionPolicyBindingMessage>

export const validatingAdmissionPolicyBinding = defineKind<
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingInput
>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  singular: 'validatingadmissionpolicybinding',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  message: validatingAdmissionPolicyBindingMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ spec }) => [...validatePolicyBinding(spec), ...validateActions(spec.validationActions ?? [])],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('PolicyName', ({ spec }) => spec.policyName),
    column('ParamRef', ({ spec }) => paramRefText(spec.paramRef)),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

function validateActions(actions: readonly string[]): FieldError[] {
  const path = 'spec.validationActions'
  if (actions.length === 0) return [required(path, 'at least one validation action is required')]
  const repeated = areRepeated(actions)
  const errors = actions.flatMap((action, index) => (repeated[index] ? [duplicate(`${path}[${index}]`, action)] : []))
  if (actions.includes('Deny') && actions.includes('Warn'))
    errors.push(
      invalid(
        path,
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    )
  return errors
}

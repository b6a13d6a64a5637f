// MutatingAdmissionPolicyBinding: where a policy applies, and with which parameters.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { matchResources } from './match-resources.ts'
import { paramRef } from './policy-params.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validateMutatingOperations } from './match-resources-rules.ts'
import { paramRefText, validatePolicyBinding } from './policy-rules.ts'

export const mutatingAdmissionPolicyBindingSpec = message(
  'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingSpec',
  {
    policyName: string(1, { description: 'The policy.' }),
    paramRef: struct(2, paramRef, { pointer: true, description: 'The objects with its parameters.' }),
    matchResources: struct(3, matchResources, {
      pointer: true,
      description: 'Restricts the requests that the policy applies to.',
    }),
  },
)
export interface MutatingAdmissionPolicyBindingSpec extends Infer<typeof mutatingAdmissionPolicyBindingSpec> {}

export const mutatingAdmissionPolicyBindingMessage = message(
  'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBinding',
  {
    metadata: objectMetaField,
    spec: struct(2, mutatingAdmissionPolicyBindingSpec, { description: 'The wanted state of the object.' }),
  },
  'Activates a MutatingAdmissionPolicy.',
)
export interface MutatingAdmissionPolicyBinding extends ObjectOf<typeof mutatingAdmissionPolicyBindingMessage> {}
export type MutatingAdmissionPolicyBindingInput = InputOf<typeof mutatingAdmissionPolicyBindingMessage>

export const mutatingAdmissionPolicyBinding = defineKind<
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBindingInput
>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
  singular: 'mutatingadmissionpolicybinding',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  message: mutatingAdmissionPolicyBindingMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ spec }) => [
    ...validatePolicyBinding(spec),
    ...validateMutatingOperations(spec.matchResources, 'spec.matchResources'),
  ],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('PolicyName', ({ spec }) => spec.policyName ?? ''),
    column('ParamRef', ({ spec }) => paramRefText(spec.paramRef)),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

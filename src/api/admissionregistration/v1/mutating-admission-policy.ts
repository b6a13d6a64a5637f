// MutatingAdmissionPolicy: expressions that modify objects during admission.
import { append } from '../../../base/collections/append.ts'
import type { Environment } from '../../../cel/environment/environment.ts'
import { listOf } from '../../../cel/types/cel-type.ts'
import {
  admissionEnvironment,
  appliedType,
  jsonPatchType,
  mutationEnvironment,
  withVariables,
} from '../../expressions/admission-environment.ts'
import { expressionErrors } from '../../expressions/compile-expression.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { matchCondition, matchResources } from './match-resources.ts'
import { paramKind, variable } from './policy-params.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import {
  validateMatchConditions,
  validateMatchConstraints,
  validateMutatingOperations,
} from './match-resources-rules.ts'
import { paramKindText, validateParamKind, validateVariables } from './policy-rules.ts'

export const applyConfiguration = message('io.k8s.api.admissionregistration.v1.ApplyConfiguration', {
  expression: string(1, { description: 'A CEL expression that returns the fields, such as Object{metadata: ...}.' }),
})
export interface ApplyConfiguration extends Infer<typeof applyConfiguration> {}

export const jsonPatch = message('io.k8s.api.admissionregistration.v1.JSONPatch', {
  expression: string(1, { description: 'A CEL expression that returns a list of JSONPatch operations.' }),
})
export interface JSONPatch extends Infer<typeof jsonPatch> {}

export const mutation = message('io.k8s.api.admissionregistration.v1.Mutation', {
  patchType: string(2, {
    required: true,
    notEmpty: true,
    enum: ['ApplyConfiguration', 'JSONPatch'],
    description: 'ApplyConfiguration or JSONPatch.',
  }),
  applyConfiguration: struct(3, applyConfiguration, {
    pointer: true,
    description: 'The fields that are applied to the object.',
  }),
  jsonPatch: struct(4, jsonPatch, { pointer: true, description: 'The JSON patch of the object.' }),
})
export interface Mutation extends Infer<typeof mutation> {}

export const mutatingAdmissionPolicySpec = message('io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec', {
  paramKind: struct(1, paramKind, { pointer: true, description: 'The kind of the parameter objects.' }),
  matchConstraints: struct(2, matchResources, {
    pointer: true,
    description: 'The requests that the policy applies to.',
  }),
  variables: list(3, variable, { listType: 'atomic', description: 'Named expressions that the others can use.' }),
  mutations: list(4, mutation, { listType: 'atomic', description: 'The mutations, applied in order.' }),
  failurePolicy: string(5, {
    pointer: true,
    default: 'Fail',
    enum: ['Fail', 'Ignore'],
    description: 'Whether an error of the policy rejects the request: Fail (the default) or Ignore.',
  }),
  matchConditions: list(6, matchCondition, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'Additional expressions that must be true.',
  }),
  reinvocationPolicy: string(7, {
    notEmpty: true,
    enum: ['IfNeeded', 'Never'],
    description: 'Whether it is evaluated again after others have changed the object.',
  }),
})
export interface MutatingAdmissionPolicySpec extends Infer<typeof mutatingAdmissionPolicySpec> {}

export const mutatingAdmissionPolicyMessage = message(
  'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicy',
  {
    metadata: objectMetaField,
    spec: struct(2, mutatingAdmissionPolicySpec, { description: 'The wanted state of the object.' }),
  },
  'Modifies objects during admission with expressions.',
)
export interface MutatingAdmissionPolicy extends ObjectOf<typeof mutatingAdmissionPolicyMessage> {}
export type MutatingAdmissionPolicyInput = InputOf<typeof mutatingAdmissionPolicyMessage>

export const mutatingAdmissionPolicy = defineKind<MutatingAdmissionPolicy, MutatingAdmissionPolicyInput>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  singular: 'mutatingadmissionpolicy',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  message: mutatingAdmissionPolicyMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate({ spec }) {
    const { paramKind: params, matchConditions = [], variables = [], mutations = [] } = spec
    const authorized = admissionEnvironment({ hasParams: params !== undefined, hasAuthorizer: true })
    const { errors, types } = validateVariables(variables, authorized)
    return [
      ...validateParamKind(params),
      ...validateMatchConstraints(spec.matchConstraints),
      ...validateMutatingOperations(spec.matchConstraints, 'spec.matchConstraints'),
      ...validateMatchConditions(matchConditions, 'spec.matchConditions', authorized),
      ...errors,
      ...validateMutations(mutations, mutationEnvironment(withVariables(authorized, types))),
    ]
  },
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Mutations', ({ spec }) => spec.mutations?.length ?? 0, { type: 'integer' }),
    column('ParamKind', ({ spec }) => paramKindText(spec.paramKind)),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const mutationType = { applyConfiguration: appliedType, jsonPatch: listOf(jsonPatchType) }
const pathOfPatchType = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const

function validateMutations(mutations: readonly Mutation[], environment: Environment): FieldError[] {
  const path = 'spec.mutations'
  if (mutations.length === 0) return [required(path, 'mutations must contain at least one item')]
  return mutations.flatMap((each, index) => validateMutation(each, `${path}[${index}]`, environment))
}

/** The expression must be in the field of its patch type, and the other field must be empty. */
function validateMutation(given: Mutation, path: string, environment: Environment): FieldError[] {
  const { patchType } = given
  if (!(patchType in pathOfPatchType)) return []
  const own = pathOfPatchType[patchType]
  const other = own === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  const errors: FieldError[] = []
  const at = `${path}.${own}.expression`
  const expression = (given[own]?.expression ?? '').trim()
  if (given[own] === undefined)
    errors.push(required(`${path}.${own}`, `must be specified when patchType is ${patchType}`))
  else if (expression === '') errors.push(required(at))
  else append(errors, expressionErrors(expression, environment, at, mutationType[own]))
  if (given[other] !== undefined)
    errors.push(invalid(`${path}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`))
  return errors
}

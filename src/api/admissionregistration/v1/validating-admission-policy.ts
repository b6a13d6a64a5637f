// ValidatingAdmissionPolicy: expressions that decide which objects are admitted.
import { append } from '../../../base/collections/append.ts'
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import type { Environment } from '../../../cel/environment/environment.ts'
import { boolType, nullType, stringType } from '../../../cel/types/cel-type.ts'
import { admissionEnvironment, withVariables } from '../../expressions/admission-environment.ts'
import { expressionErrors } from '../../expressions/compile-expression.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int64, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { matchCondition, matchResources } from './match-resources.ts'
import { paramKind, variable } from './policy-params.ts'
import { condition } from '../../meta/v1/condition.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { duplicate, invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors, qualifiedNameErrors } from '../../validation/names.ts'
import { validateMatchConditions, validateMatchConstraints } from './match-resources-rules.ts'
import { paramKindText, validateParamKind, validateVariables } from './policy-rules.ts'

export const auditAnnotation = message('io.k8s.api.admissionregistration.v1.AuditAnnotation', {
  key: string(1, {
    required: true,
    description: 'The key of the annotation; the name of the policy is put before it.',
  }),
  valueExpression: string(2, {
    required: true,
    description: 'A CEL expression that returns the value, or null for none.',
  }),
})
export interface AuditAnnotation extends Infer<typeof auditAnnotation> {}

export const validation = message('io.k8s.api.admissionregistration.v1.Validation', {
  expression: string(1, { required: true, description: 'A CEL expression that must return true.' }),
  message: string(2, { description: 'The message of a failure.' }),
  reason: string(3, {
    pointer: true,
    description: 'The reason of a failure: Invalid (the default), Unauthorized, Forbidden or RequestEntityTooLarge.',
  }),
  messageExpression: string(4, { description: 'A CEL expression that returns the message.' }),
})
export interface Validation extends Infer<typeof validation> {}

export const validatingAdmissionPolicySpec = message(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec',
  {
    paramKind: struct(1, paramKind, { pointer: true, description: 'The kind of the parameter objects.' }),
    matchConstraints: struct(2, matchResources, {
      pointer: true,
      description: 'The requests that the policy applies to.',
    }),
    validations: list(3, validation, {
      listType: 'atomic',
      description: 'Expressions that must be true, with messages for violations.',
    }),
    failurePolicy: string(4, {
      pointer: true,
      default: 'Fail',
      enum: ['Fail', 'Ignore'],
      description: 'Whether an error of the policy rejects the request: Fail (the default) or Ignore.',
    }),
    auditAnnotations: list(5, auditAnnotation, {
      listType: 'atomic',
      description: 'Annotations of the audit event.',
    }),
    matchConditions: list(6, matchCondition, {
      listType: 'map',
      keys: ['name'],
      patch: 'merge',
      mergeKey: 'name',
      description: 'Additional expressions that must be true for the policy to apply.',
    }),
    variables: list(7, variable, {
      listType: 'map',
      keys: ['name'],
      patch: 'merge',
      mergeKey: 'name',
      description: 'Named expressions that the others can use.',
    }),
  },
)
export interface ValidatingAdmissionPolicySpec extends Infer<typeof validatingAdmissionPolicySpec> {}

export const expressionWarning = message('io.k8s.api.admissionregistration.v1.ExpressionWarning', {
  fieldRef: string(2, { required: true, description: 'The path of the expression.' }),
  warning: string(3, { required: true, description: 'The error.' }),
})
export interface ExpressionWarning extends Infer<typeof expressionWarning> {}

export const typeChecking = message('io.k8s.api.admissionregistration.v1.TypeChecking', {
  expressionWarnings: list(1, expressionWarning, {
    listType: 'atomic',
    description: 'The errors that were found in expressions.',
  }),
})
export interface TypeChecking extends Infer<typeof typeChecking> {}

export const validatingAdmissionPolicyStatus = message(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus',
  {
    observedGeneration: int64(1, { description: 'The generation that this status is based on.' }),
    typeChecking: struct(2, typeChecking, {
      pointer: true,
      description: 'The results of type checking.',
    }),
    conditions: list(3, condition, { listType: 'map', keys: ['type'], description: 'Its state.' }),
  },
)
export interface ValidatingAdmissionPolicyStatus extends Infer<typeof validatingAdmissionPolicyStatus> {}

export const validatingAdmissionPolicyMessage = message(
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy',
  {
    metadata: objectMetaField,
    spec: struct(2, validatingAdmissionPolicySpec, { description: 'The wanted state of the object.' }),
    status: struct(3, validatingAdmissionPolicyStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Rejects objects during admission with expressions.',
)
export interface ValidatingAdmissionPolicy extends ObjectOf<typeof validatingAdmissionPolicyMessage> {}
export type ValidatingAdmissionPolicyInput = InputOf<typeof validatingAdmissionPolicyMessage>

export const validatingAdmissionPolicy = defineKind<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyInput>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  singular: 'validatingadmissionpolicy',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  message: validatingAdmissionPolicyMessage,
  hasStatus: true,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate({ metadata, spec }) {
    const { paramKind: params, matchConditions = [], variables = [] } = spec
    const hasParams = params !== undefined
    const authorized = admissionEnvironment({ hasParams, hasAuthorizer: true })
    const { errors, types } = validateVariables(variables, authorized)
    const messages = withVariables(admissionEnvironment({ hasParams, hasAuthorizer: false }), types)
    return [
      ...validateParamKind(params),
      ...validateMatchConstraints(spec.matchConstraints),
      ...validateMatchConditions(matchConditions, 'spec.matchConditions', authorized),
      ...errors,
      ...validateChecks(metadata.name ?? '', spec, withVariables(authorized, types), messages),
    ]
  },
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Validations', ({ spec }) => spec.validations?.length ?? 0, { type: 'integer' }),
    column('ParamKind', ({ spec }) => paramKindText(spec.paramKind)),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const auditAnnotationsMax = 20
const auditExpressionBytesMax = 5 << 10
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

/** A policy must have validations or audit annotations. Expressions of messages have no authorizer. */
function validateChecks(
  name: string,
  spec: ValidatingAdmissionPolicySpec,
  environment: Environment,
  messages: Environment,
): FieldError[] {
  const { validations = [], auditAnnotations = [] } = spec
  if (validations.length + auditAnnotations.length === 0)
    return ['spec.validations', 'spec.auditAnnotations'].map((path) =>
      required(path, 'validations or auditAnnotations must contain at least one item'),
    )
  return [
    ...validations.flatMap((check, index) =>
      validateValidation(check, `spec.validations[${index}]`, environment, messages),
    ),
    ...validateAuditAnnotations(auditAnnotations, name, environment),
  ]
}

function validateValidation(
  check: Validation,
  path: string,
  environment: Environment,
  messages: Environment,
): FieldError[] {
  const { expression, message: messageText = '', messageExpression = '', reason } = check
  const errors: FieldError[] = []
  if (expression.trim() === '') errors.push(required(`${path}.expression`, 'expression is not specified'))
  else append(errors, expressionErrors(expression.trim(), environment, `${path}.expression`, boolType))
  const messagePath = `${path}.messageExpression`
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(invalid(messagePath, messageExpression, 'must be non-empty if specified'))
  else if (messageExpression !== '')
    append(errors, expressionErrors(messageExpression.trim(), messages, messagePath, stringType))
  if (messageText !== '' && messageText.trim() === '')
    errors.push(invalid(`${path}.message`, messageText, 'must be non-empty if specified'))
  else if (/[\n\r]/.test(messageText.trim()))
    errors.push(invalid(`${path}.message`, messageText, 'must not contain line breaks'))
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(`${path}.reason`, reason, reasons))
  return errors
}

function validateAuditAnnotations(
  annotations: readonly AuditAnnotation[],
  name: string,
  environment: Environment,
): FieldError[] {
  const path = 'spec.auditAnnotations'
  const errors: FieldError[] = []
  if (annotations.length > auditAnnotationsMax)
    errors.push(invalid(path, annotations, `must not have more than ${auditAnnotationsMax} auditAnnotations`))
  const repeated = areRepeated(annotations, ({ key }) => key)
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    const at = `${path}[${index}]`
    const fullKey = `${name}/${key}`
    if (name === '') errors.push(invalid(`${at}.key`, key, 'requires metadata.name be non-empty'))
    else
      append(
        errors,
        qualifiedNameErrors(fullKey).map((detail) => invalid(`${at}.key`, fullKey, detail)),
      )
    const value = valueExpression.trim()
    const valuePath = `${at}.valueExpression`
    if (value.length === 0) errors.push(required(valuePath, 'valueExpression is not specified'))
    else if (value.length > auditExpressionBytesMax)
      errors.push(required(valuePath, `must not exceed ${auditExpressionBytesMax} bytes in length`))
    else append(errors, expressionErrors(value, environment, valuePath, stringType, nullType))
    if (repeated[index]) errors.push(duplicate(`${at}.key`, key))
  }
  return errors
}

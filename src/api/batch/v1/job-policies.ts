// Rules of the two policies of a Job: pod failure policy and success policy.
import { append } from '../../../base/collections/append.ts'
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import {
  duplicate,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  type FieldError,
} from '../../../schema/validation/field-error.ts'

import { qualifiedNameErrors } from '../../validation/names.ts'
import { parseIndexes } from './job-indexes.ts'
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from './job-spec.ts'

const succeededIndexesBytesMax = 65_536
const rulesMax = 20
const conditionPatternsMax = 20
const exitCodesMax = 255

export function validatePodFailurePolicy(spec: JobSpec, path: string): FieldError[] {
  const { containers, initContainers = [] } = spec.template.spec
  const names = [...containers, ...initContainers].map(({ name }) => name)
  const rules = spec.podFailurePolicy?.rules ?? []
  const errors = validateLength(rules, `${path}.rules`, rulesMax)
  for (const [index, rule] of rules.entries()) {
    const at = `${path}.rules[${index}]`
    append(errors, [...validateRule(rule, at, names), ...validateIndexAction(rule, at, spec)])
  }
  return errors
}

const validateLength = (items: readonly unknown[], path: string, max: number): FieldError[] =>
  items.length > max ? [tooMany(path, items.length, max)] : []

const validateIndexAction = ({ action }: PodFailurePolicyRule, path: string, spec: JobSpec): FieldError[] =>
  action === 'FailIndex' && spec.backoffLimitPerIndex === undefined
    ? [invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set')]
    : []

function validateRule(rule: PodFailurePolicyRule, path: string, containers: readonly string[]): FieldError[] {
  const { action, onExitCodes, onPodConditions = [] } = rule
  const errors = validatePresent(action, `${path}.action`, ['Count', 'FailIndex', 'FailJob', 'Ignore'])
  if (onExitCodes !== undefined) append(errors, validateExitCodes(onExitCodes, `${path}.onExitCodes`, containers))
  append(errors, validateLength(onPodConditions, `${path}.onPodConditions`, conditionPatternsMax))
  for (const [index, pattern] of onPodConditions.entries())
    append(errors, validateCondition(pattern, `${path}.onPodConditions[${index}]`))
  if (onExitCodes !== undefined && onPodConditions.length > 0)
    errors.push(invalidRule(path, 'specifying both OnExitCodes and OnPodConditions is not supported'))
  if (onExitCodes === undefined && onPodConditions.length === 0)
    errors.push(invalidRule(path, 'specifying one of OnExitCodes and OnPodConditions is required'))
  return errors
}

/** An error about the rule that does not show it. */
const invalidRule = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${detail}`,
})

/** Checks absent values only: invalid ones are rejected by the enumeration of the field. */
const validatePresent = (value: string | undefined, path: string, supported: readonly string[]): FieldError[] =>
  value ? [] : [required(path, `valid values: [${supported.map((name) => JSON.stringify(name)).join(' ')}]`)]

function validateCondition({ type, status }: PodFailurePolicyOnPodConditionsPattern, path: string): FieldError[] {
  const supported = ['False', 'True', 'Unknown']
  const errors = qualifiedNameErrors(type).map((detail) => invalid(`${path}.type`, type, detail))
  append(errors, validatePresent(status, `${path}.status`, supported))
  if (status && !supported.includes(status)) errors.push(notSupported(`${path}.status`, status, supported))
  return errors
}

function validateExitCodes(
  { operator, containerName, values }: PodFailurePolicyOnExitCodesRequirement,
  path: string,
  containers: readonly string[],
): FieldError[] {
  const errors = validatePresent(operator, `${path}.operator`, ['In', 'NotIn'])
  if (containerName !== undefined && !containers.includes(containerName))
    errors.push(
      invalid(
        `${path}.containerName`,
        containerName,
        'must be one of the container or initContainer names in the pod template',
      ),
    )
  const codes = values ?? []
  if (codes.length === 0) errors.push(invalid(`${path}.values`, values, 'at least one value is required'))
  append(errors, validateLength(codes, `${path}.values`, exitCodesMax))
  const repeated = areRepeated(codes)
  for (const [index, code] of codes.entries()) {
    const at = `${path}.values[${index}]`
    if (operator === 'In' && code === 0) errors.push(invalid(at, code, 'must not be 0 for the In operator'))
    if (repeated[index]) errors.push(duplicate(at, code))
  }
  if (codes.some((code, index) => index > 0 && (codes[index - 1] ?? 0) > code))
    errors.push(invalid(`${path}.values`, values, 'must be ordered'))
  return errors
}

export function validateSuccessPolicy({ successPolicy, completions = 0 }: JobSpec, path: string): FieldError[] {
  const rules = successPolicy?.rules ?? []
  if (rules.length === 0)
    return [required(`${path}.rules`, 'at least one rules must be specified when the successPolicy is specified')]
  return [
    ...validateLength(rules, `${path}.rules`, rulesMax),
    ...rules.flatMap((rule, index) => validateSuccessRule(rule, `${path}.rules[${index}]`, completions)),
  ]
}

function validateSuccessRule(rule: SuccessPolicyRule, path: string, completions: number): FieldError[] {
  const { succeededCount, succeededIndexes } = rule
  const errors: FieldError[] = []
  if (succeededCount === undefined && succeededIndexes === undefined)
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'))
  if (succeededCount !== undefined && succeededCount > completions)
    errors.push(notAbove(`${path}.succeededCount`, succeededCount, completions, 'specified completions'))
  if (succeededIndexes === undefined) return errors
  const at = `${path}.succeededIndexes`
  if (succeededIndexes.length > succeededIndexesBytesMax) errors.push(tooLong(at, succeededIndexesBytesMax))
  const indexes = parseIndexes(succeededIndexes, completions)
  if (indexes.kind === 'broken')
    errors.push(invalid(at, succeededIndexes, `error parsing succeededIndexes: ${indexes.why}`))
  const count = indexes.kind === 'broken' ? 0 : indexes.count
  if (succeededCount !== undefined && succeededCount > count)
    errors.push(
      notAbove(`${path}.succeededCount`, succeededCount, count, 'indexes in the specified succeededIndexes field'),
    )
  return errors
}

const notAbove = (path: string, value: number, max: number, what: string): FieldError =>
  invalid(path, value, `must be less than or equal to ${max} (the number of ${what})`)

// Rules for matching: which operations on which resources a webhook or a policy applies to, and under which conditions.
import { append } from '../../../base/collections/append.ts'
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import type { Environment } from '../../../cel/environment/environment.ts'
import { boolType } from '../../../cel/types/cel-type.ts'
import {
  duplicate,
  invalid,
  notSupported,
  required,
  tooMany,
  type FieldError,
} from '../../../schema/validation/field-error.ts'
import { expressionErrors } from '../../expressions/compile-expression.ts'
import { validateLabelSelector } from '../../validation/label-selector-rules.ts'
import { pathSegmentErrors, qualifiedNameErrors } from '../../validation/names.ts'
import type { MatchCondition, MatchResources, NamedRuleWithOperations, RuleWithOperations } from './match-resources.ts'

const matchConditionsMax = 64

// Unknown operations and scopes are rejected by the enumerations of the fields.
export function validateRule(rule: RuleWithOperations, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [] } = rule
  return [
    ...validateNames(operations, `${path}.operations`, 'operations'),
    ...validateNames(apiGroups, `${path}.apiGroups`, 'API groups'),
    ...validateNames(apiVersions, `${path}.apiVersions`, 'API versions'),
    ...validateFilled(apiVersions, `${path}.apiVersions`),
    ...validateResources(resources, `${path}.resources`),
  ]
}

/** The list must not be empty, and a wildcard must be its only entry. */
function validateNames(names: readonly string[], path: string, what: string): FieldError[] {
  if (names.length === 0) return [required(path)]
  return names.length > 1 && names.includes('*')
    ? [invalid(path, names, `if '*' is present, must not specify other ${what}`)]
    : []
}

const validateFilled = (names: readonly string[], path: string): FieldError[] =>
  names.flatMap((name, index) => (name === '' ? [required(`${path}[${index}]`)] : []))

function validateResources(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)]
  const errors = validateFilled(resources, path)
  const firstPlaces = new Map(resources.map((text, index) => [text, index] as const).toReversed())
  for (const [index, text] of resources.entries()) {
    const [resource = '', ...rest] = text.split('/')
    if (rest.length === 0) continue
    const subresource = rest.join('/')
    for (const pattern of [`${resource}/*`, `*/${subresource}`])
      if ((firstPlaces.get(pattern) ?? index) < index)
        errors.push(invalid(`${path}[${index}]`, text, `if '${pattern}' is present, must not specify ${text}`))
  }
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
  // As upstream has it, only the last resource without a subresource counts.
  const last = resources.findLast((text) => text !== '' && !text.includes('/'))
  if (resources.includes('*') && last !== '*')
    errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"))
  return errors
}

export function validateMatchResources(match: MatchResources, path: string): FieldError[] {
  const { namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = match
  return [
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
    ...validateLabelSelector(objectSelector, `${path}.objectSelector`),
    ...resourceRules.flatMap((rule, index) => validateNamedRule(rule, `${path}.resourceRules[${index}]`)),
    ...excludeResourceRules.flatMap((rule, index) => validateNamedRule(rule, `${path}.excludeResourceRules[${index}]`)),
  ]
}

/** A policy must have match constraints, with at least one rule that determines the types. */
export function validateMatchConstraints(match: MatchResources | undefined): FieldError[] {
  const path = 'spec.matchConstraints'
  if (match === undefined) return [required(path)]
  const isEmpty = (match.resourceRules ?? []).length === 0
  return [...validateMatchResources(match, path), ...(isEmpty ? [required(`${path}.resourceRules`)] : [])]
}

function validateNamedRule(rule: NamedRuleWithOperations, path: string): FieldError[] {
  const { resourceNames = [] } = rule
  const repeated = areRepeated(resourceNames)
  return [
    ...resourceNames.flatMap((name, index) => {
      const at = `${path}.resourceNames[${index}]`
      const errors = pathSegmentErrors(name).map((detail) => invalid(at, name, detail))
      return repeated[index] ? [...errors, duplicate(at, name)] : errors
    }),
    ...validateRule(rule, path),
  ]
}

export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  path: string,
  environment: Environment,
): FieldError[] {
  const names = new Set<string>()
  const errors = conditions.length > matchConditionsMax ? [tooMany(path, conditions.length, matchConditionsMax)] : []
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = `${path}[${index}]`
    if (expression.trim() === '') errors.push(required(`${at}.expression`))
    else append(errors, expressionErrors(expression.trim(), environment, `${at}.expression`, boolType))
    if (name === '') errors.push(required(`${at}.name`))
    else
      append(
        errors,
        qualifiedNameErrors(name).map((detail) => invalid(`${at}.name`, name, detail)),
      )
    if (name !== '' && names.has(name)) errors.push(duplicate(`${at}.name`, name))
    names.add(name)
  }
  return errors
}

const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

/** Deletions and connections cannot be mutated. Upstream names the field without its indices. */
export const validateMutatingOperations = (match: MatchResources | undefined, path: string): FieldError[] =>
  (match?.resourceRules ?? [])
    .flatMap(({ operations = [] }) => operations)
    .filter((operation) => !mutatingOperations.includes(operation))
    .map((operation) => notSupported(`${path}.resourceRules.operations`, operation, mutatingOperations))

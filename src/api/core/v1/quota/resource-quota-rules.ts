// Rules of a ResourceQuota: valid names and amounts, and scopes that are compatible with them and with one another.
import { lookup } from '../../../../base/collections/lookup.ts'
import { append } from '../../../../base/collections/append.ts'
import { immutable, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { isQuotaResource, validateQuotaResourceName, validateResourceAmount } from '../resources/resource-name-rules.ts'
import type {
  ResourceQuotaSpec,
  ResourceQuotaStatus,
  ScopedResourceSelectorRequirement,
} from './resource-quota-spec.ts'

const podCompute = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']

/** The standard resources that each scope supports. */
const scopeResources: Readonly<Record<string, readonly string[]>> = {
  BestEffort: ['pods'],
  CrossNamespacePodAffinity: ['pods', ...podCompute],
  NotBestEffort: ['pods', ...podCompute],
  NotTerminating: ['pods', ...podCompute],
  PriorityClass: ['pods', ...podCompute],
  Terminating: ['pods', ...podCompute],
  VolumeAttributesClass: ['persistentvolumeclaims', 'requests.storage'],
}

const conflicts = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

const onlyExists = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']

export function validateQuotaSpec(spec: ResourceQuotaSpec, path: string): FieldError[] {
  const { hard = {}, scopes = [], scopeSelector } = spec
  const errors = Object.entries(hard).flatMap(([name, amount]) => [
    ...validateQuotaResourceName(name, `${path}.hard[${name}]`),
    ...validateResourceAmount(name, amount, `${path}.hard[${name}]`),
  ])
  append(errors, validateScopes(scopes, hard, `${path}.scopes`))
  const expressions = scopeSelector?.matchExpressions ?? []
  const uncountable = uncountableScopes(hard)
  const at = `${path}.scopeSelector.matchExpressions`
  for (const requirement of expressions) {
    if (uncountable.has(requirement.scopeName))
      errors.push(invalid(at, scopeSelector, 'unsupported scope applied to resource'))
    append(errors, validateRequirement(requirement, at))
  }
  if (hasConflict(expressions.map(({ scopeName }) => scopeName))) errors.push(invalid(at, scopes, 'conflicting scopes'))
  return errors
}

function validateScopes(scopes: readonly string[], hard: object, path: string): FieldError[] {
  const errors: FieldError[] = []
  const uncountable = uncountableScopes(hard)
  for (const scope of scopes) {
    if (!Object.hasOwn(scopeResources, scope)) errors.push(invalid(path, scopes, 'unsupported scope'))
    if (uncountable.has(scope)) errors.push(invalid(path, scopes, 'unsupported scope applied to resource'))
  }
  if (hasConflict(scopes)) errors.push(invalid(path, scopes, 'conflicting scopes'))
  return errors
}

/** The scopes that do not support all of the resources. */
function uncountableScopes(hard: object): ReadonlySet<string> {
  const names = Object.keys(hard).filter(isQuotaResource)
  const scopes = Object.entries(scopeResources).filter(([, known]) => names.some((name) => !known.includes(name)))
  return new Set(scopes.map(([scope]) => scope))
}

const hasConflict = (scopes: readonly string[]): boolean =>
  conflicts.some(([one, other]) => scopes.includes(one) && scopes.includes(other))

// The paths have no index, as in upstream's messages.
function validateRequirement(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  path: string,
): FieldError[] {
  const errors = Object.hasOwn(scopeResources, scopeName)
    ? []
    : [invalid(`${path}.scopeName`, scopeName, 'unsupported scope')]
  if (onlyExists.includes(scopeName) && operator !== 'Exists')
    errors.push(
      invalid(
        `${path}.operator`,
        operator,
        "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      ),
    )
  const isSet = operator === 'In' || operator === 'NotIn'
  if (isSet && values.length === 0)
    errors.push(
      required(`${path}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
    )
  if (!isSet && operator !== 'Exists' && operator !== 'DoesNotExist')
    errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'))
  else if (!isSet && values.length > 0)
    errors.push(
      invalid(
        `${path}.values`,
        values,
        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
      ),
    )
  return errors
}

export function validateQuotaUpdate(spec: ResourceQuotaSpec, old: ResourceQuotaSpec): FieldError[] {
  const scopes = new Set(spec.scopes)
  const before = new Set(old.scopes)
  return scopes.symmetricDifference(before).size === 0 ? [] : [immutable('spec.scopes', spec.scopes)]
}

/** `pods: 1/2, requests.cpu: 0/1` */
export const quotaText = ({ hard = {}, used = {} }: ResourceQuotaStatus, isShown: (name: string) => boolean): string =>
  Object.keys(hard)
    .filter(isShown)
    .toSorted()
    .map((name) => `${name}: ${lookup(used, name) ?? '0'}/${lookup(hard, name)}`)
    .join(', ')

// Names and amounts of resources: which names limits, quotas and containers may use.
import { invalid, type FieldError } from '../../../../schema/validation/field-error.ts'
import { qualifiedNameErrors } from '../../../validation/names.ts'
import { quantityNanos } from '../../../../schema/scalar/quantity.ts'

const nanosPerUnit = 1_000_000_000n

const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage'])

const countedResources = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])

const quotaResources = new Set([
  ...containerResources,
  ...countedResources,
  ...[...containerResources].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
])

const isQuotaHugePages = (name: string): boolean => /^(requests\.)?hugepages-/.test(name)

const isQualified = (name: string): boolean => name.includes('/')

export const isQuotaResource = (name: string): boolean => quotaResources.has(name) || isQuotaHugePages(name)

const isNativeResource = (name: string): boolean => !isQualified(name) || name.includes('kubernetes.io/')

/** Resources of device plugins: they have a domain prefix and are counted in whole units. */
export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) && !name.startsWith('requests.') && qualifiedNameErrors(`requests.${name}`).length === 0

export function validateResourceName(name: string, path: string): FieldError[] {
  const errors = qualifiedNameErrors(name).map((detail) => invalid(path, name, detail))
  if (errors.length === 0 && !isQualified(name) && name !== 'storage' && !isQuotaResource(name))
    errors.push(invalid(path, name, 'must be a standard resource type or fully qualified'))
  return errors
}

export function validateContainerResourceName(name: string, path: string): FieldError[] {
  if (containerResources.has(name)) return []
  const errors = validateResourceName(name, path)
  if (!isQualified(name) && !containerResources.has(name) && !name.startsWith('hugepages-'))
    errors.push(invalid(path, name, 'must be a standard resource for containers'))
  if (!isNativeResource(name) && !isExtendedResource(name))
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"))
  return errors
}

export function validateQuotaResourceName(name: string, path: string): FieldError[] {
  const errors = validateResourceName(name, path)
  if (!isQualified(name) && !isQuotaResource(name))
    errors.push(invalid(path, name, 'must be a standard resource for quota'))
  return errors
}

/** Amounts are not negative, and integers where the resource is counted in whole units. */
export function validateResourceAmount(name: string, amount: string, path: string): FieldError[] {
  const nanos = quantityNanos(amount) ?? 0n
  const errors = nanos < 0n ? [invalid(path, amount, 'must be greater than or equal to 0')] : []
  const isCounted = countedResources.has(name) || isExtendedResource(name)
  if (isCounted && nanos % nanosPerUnit !== 0n) errors.push(invalid(path, amount, 'must be an integer'))
  return errors
}

export const validatePositiveAmount = (amount: string, path: string): FieldError[] =>
  (quantityNanos(amount) ?? 0n) > 0n ? [] : [invalid(path, amount, 'must be greater than zero')]

// Updates of a Service: secondary addresses and families may be added or removed, but not changed.
import { append } from '../../../../base/collections/append.ts'
import { forbidden, invalid, type FieldError } from '../../../../schema/validation/field-error.ts'
import type { ServiceSpec } from './service-spec.ts'
import { isHeadless } from './service-address-rules.ts'
import { needsHealthCheck } from './service-traffic-rules.ts'

export function validateServiceUpdate(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  if (spec.type !== 'ExternalName' && old.type !== 'ExternalName') {
    if (!isHeadless(spec) || !isHeadless(old)) append(errors, validateAddressChange(spec, old))
    if (!isHeadless(spec) && !isHeadless(old)) append(errors, validateFamilyChange(spec, old))
  }
  if (spec.type === 'LoadBalancer' && old.type === 'LoadBalancer' && spec.loadBalancerClass !== old.loadBalancerClass)
    errors.push(invalid('spec.loadBalancerClass', spec.loadBalancerClass, 'may not change once set'))
  if (needsHealthCheck(spec) && needsHealthCheck(old) && spec.healthCheckNodePort !== old.healthCheckNodePort)
    errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'))
  return errors
}

function validateAddressChange(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const now = spec.clusterIPs ?? []
  const before = old.clusterIPs ?? []
  if (before.length > 0 && now.length === 0)
    return [invalid('spec.clusterIPs[0]', now, 'primary clusterIP can not be unset')]
  const errors = changedIndexes(now, before).map((index) =>
    invalid(`spec.clusterIPs[${index}]`, now, 'may not change once set'),
  )
  if (before.length > now.length && spec.ipFamilyPolicy !== 'SingleStack') errors.push(releaseError(spec, 'clusterIP'))
  return errors
}

function validateFamilyChange(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const now = spec.ipFamilies ?? []
  const before = old.ipFamilies ?? []
  if (before.length > 0 && now.length === 0)
    return [invalid('spec.ipFamilies[0]', now, 'primary ipFamily can not be unset')]
  // Upstream names the first family, whichever changed.
  const errors = changedIndexes(now, before).map(() => invalid('spec.ipFamilies[0]', now, 'may not change once set'))
  if (before.length > now.length && spec.ipFamilyPolicy !== 'SingleStack') errors.push(releaseError(spec, 'ipFamily'))
  return errors
}

const changedIndexes = (now: readonly string[], before: readonly string[]): number[] =>
  [...now.keys()].filter((index) => index < before.length && now[index] !== before[index])

const releaseError = ({ ipFamilyPolicy }: ServiceSpec, what: string): FieldError =>
  invalid('spec.ipFamilyPolicy', ipFamilyPolicy, `must be set to 'SingleStack' when releasing the secondary ${what}`)

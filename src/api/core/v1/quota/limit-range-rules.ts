// Rules of a LimitRange: names of its types and resources, and the order of minimum, defaults and maximum.
import { lookup } from '../../../../base/collections/lookup.ts'
import { append } from '../../../../base/collections/append.ts'
import { duplicate, forbidden, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { qualifiedNameErrors } from '../../../validation/names.ts'
import { quantityMillis, quantityNanos } from '../../../../schema/scalar/quantity.ts'
import type { LimitRangeItem, LimitRangeSpec } from './limit-range-spec.ts'
import {
  isExtendedResource,
  validateContainerResourceName,
  validateResourceName,
} from '../resources/resource-name-rules.ts'

const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim']
const bounds = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const
type Bound = (typeof bounds)[number]

export const withLimitDefaults = (spec: LimitRangeSpec): LimitRangeSpec =>
  spec.limits ? { ...spec, limits: spec.limits.map(withItemDefaults) } : spec

// For containers, the maximum is the default limit, and the default limit (or else the minimum) is the default request.
function withItemDefaults(item: LimitRangeItem): LimitRangeItem {
  if (item.type !== 'Container') return item
  const limits = { ...item.max, ...item.default }
  const requests = { ...item.min, ...limits, ...item.defaultRequest }
  return {
    ...item,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  }
}

export function validateLimits(limits: readonly LimitRangeItem[], path: string): FieldError[] {
  const errors: FieldError[] = []
  const types = new Set<string>()
  for (const [index, item] of limits.entries()) {
    const at = `${path}[${index}]`
    append(errors, validateType(item.type, `${at}.type`))
    if (types.has(item.type)) errors.push(duplicate(`${at}.type`, item.type))
    types.add(item.type)
    append(errors, [...validateNames(item, at), ...validateShape(item, at)])
    for (const name of resourcesOf(item)) append(errors, validateOrder(item, name, at))
  }
  return errors
}

function validateType(type: string, path: string): FieldError[] {
  const errors = qualifiedNameErrors(type).map((detail) => invalid(path, type, detail))
  if (errors.length > 0 || type.includes('/') || standardTypes.includes(type)) return errors
  return [invalid(path, type, 'must be a standard limit type or fully qualified')]
}

const isForContainers = (type: string): boolean => type === 'Pod' || type === 'Container'

// Limits that do not apply to pods are rejected as a whole, not by name.
const boundsOf = ({ type }: LimitRangeItem): readonly Bound[] =>
  type === 'Pod' ? bounds.filter((bound) => !bound.startsWith('default')) : bounds

const resourcesOf = (item: LimitRangeItem): Set<string> =>
  new Set(boundsOf(item).flatMap((bound) => Object.keys(item[bound] ?? {})))

const validateNames = (item: LimitRangeItem, path: string): FieldError[] =>
  boundsOf(item).flatMap((bound) =>
    Object.keys(item[bound] ?? {}).flatMap((name) =>
      (isForContainers(item.type) ? validateContainerResourceName : validateResourceName)(
        name,
        `${path}.${bound}[${name}]`,
      ),
    ),
  )

function validateShape(item: LimitRangeItem, path: string): FieldError[] {
  if (item.type === 'Pod')
    return (['default', 'defaultRequest'] as const)
      .filter((bound) => item[bound] !== undefined)
      .map((bound) => forbidden(`${path}.${bound}`, "may not be specified when `type` is 'Pod'"))
  const hasStorage = 'storage' in (item.min ?? {}) || 'storage' in (item.max ?? {})
  return item.type === 'PersistentVolumeClaim' && !hasStorage
    ? [required(`${path}.limits`, 'either minimum or maximum storage value is required, but neither was provided')]
    : []
}

// [low, high, the bound at which the error is reported, the value it shows, the two names in the message]
const orders: readonly (readonly [Bound, Bound, Bound, Bound, string, string])[] = [
  ['min', 'max', 'min', 'min', 'min value', 'max value'],
  ['min', 'defaultRequest', 'defaultRequest', 'defaultRequest', 'min value', 'default request value'],
  ['defaultRequest', 'max', 'defaultRequest', 'defaultRequest', 'default request value', 'max value'],
  ['defaultRequest', 'default', 'defaultRequest', 'defaultRequest', 'default request value', 'default limit value'],
  ['min', 'default', 'default', 'min', 'min value', 'default value'],
  ['default', 'max', 'default', 'max', 'default value', 'max value'],
]

function validateOrder(item: LimitRangeItem, name: string, path: string): FieldError[] {
  const textOf = (bound: Bound): string | undefined =>
    boundsOf(item).includes(bound) ? lookup(item[bound], name) : undefined
  const errors: FieldError[] = []
  for (const [low, high, place, shown, lowText, highText] of orders) {
    const least = textOf(low)
    const most = textOf(high)
    if (least === undefined || most === undefined || nanos(least) <= nanos(most)) continue
    const detail = `${lowText} ${least} is greater than ${highText} ${most}`
    errors.push(invalid(`${path}.${place}[${name}]`, textOf(shown), detail))
  }
  append(errors, validateRatio(item, name, `${path}.maxLimitRequestRatio[${name}]`))
  const limit = textOf('default')
  const request = textOf('defaultRequest')
  const canOvercommit = !isExtendedResource(name) && !name.startsWith('hugepages-')
  if (!canOvercommit && limit !== undefined && request !== undefined && nanos(limit) !== nanos(request))
    errors.push(
      invalid(
        `${path}.defaultRequest[${name}]`,
        request,
        `default value ${limit} must equal to defaultRequest value ${request} in ${name}`,
      ),
    )
  return errors
}

function validateRatio({ min, max, maxLimitRequestRatio }: LimitRangeItem, name: string, path: string): FieldError[] {
  const ratio = lookup(maxLimitRequestRatio, name)
  const least = lookup(min, name)
  const most = lookup(max, name)
  if (ratio === undefined) return []
  const errors = nanos(ratio) < nanos('1') ? [invalid(path, ratio, `ratio ${ratio} is less than 1`)] : []
  if (least === undefined || most === undefined) return errors
  const bound = quantityMillis(most) / quantityMillis(least)
  if (quantityMillis(ratio) / 1000 > bound)
    errors.push(invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${bound.toFixed(6)}`))
  return errors
}

const nanos = (text: string): bigint => quantityNanos(text) ?? 0n

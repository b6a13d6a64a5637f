// Rules of requests and limits: known resources, valid amounts, no request above its limit.
import { lookup } from '../../../../base/collections/lookup.ts'
import { append } from '../../../../base/collections/append.ts'
import {
  duplicate,
  forbidden,
  invalid,
  required,
  notFound,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import { quantityNanos } from '../../../../schema/scalar/quantity.ts'
import { validateContainerResourceName, validateResourceAmount } from './resource-name-rules.ts'
import type { ResourceClaim, ResourceRequirements } from './resource-requirements.ts'

type Amounts = Readonly<Record<string, string>>

const isHugePage = (name: string): boolean => name.startsWith('hugepages-')
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
/** Resources that can be overcommitted: their requests may be below their limits. */
const isOvercommittable = (name: string): boolean => isNative(name) && !isHugePage(name)

const amountOf = (text: string | undefined): bigint => quantityNanos(text ?? '0') ?? 0n

export function validateResources(
  { limits = {}, requests = {}, claims = [] }: ResourceRequirements,
  claimNames: ReadonlySet<string>,
  path: string,
): FieldError[] {
  const errors = [...validateAmounts(limits, `${path}.limits`), ...validateAmounts(requests, `${path}.requests`)]
  for (const name in requests) append(errors, validateRequest(name, requests, limits, path))
  if (hasHugePages(limits) || hasHugePages(requests)) {
    const named = { ...limits, ...requests }
    if (!('cpu' in named || 'memory' in named)) errors.push(forbidden(path, 'HugePages require cpu or memory'))
  }
  if (claims.length > 0) append(errors, validateClaims(claims, claimNames, `${path}.claims`))
  return errors
}

function hasHugePages(amounts: Amounts): boolean {
  for (const name in amounts) if (isHugePage(name)) return true
  return false
}

export function validateAmounts(amounts: Amounts, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const name in amounts) {
    const at = `${path}[${name}]`
    append(errors, [
      ...validateContainerResourceName(name, at),
      ...validateResourceAmount(name, amounts[name] ?? '', at),
    ])
  }
  return errors
}

function validateRequest(name: string, requests: Amounts, limits: Amounts, path: string): FieldError[] {
  const request = lookup(requests, name)
  const limit = lookup(limits, name)
  if (limit === undefined)
    return isOvercommittable(name)
      ? []
      : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')]
  const difference = amountOf(request) - amountOf(limit)
  if (difference !== 0n && !isOvercommittable(name))
    return [invalid(`${path}.requests`, request, `must be equal to ${name} limit of ${limit}`)]
  return difference > 0n
    ? [invalid(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`)]
    : []
}

function validateClaims(claims: readonly ResourceClaim[], known: ReadonlySet<string>, path: string): FieldError[] {
  const seen = new Set<string>()
  return claims.flatMap(({ name, request }, index) => {
    const at = `${path}[${index}]`
    if (!name) return [required(`${at}.name`)]
    const asked = request === undefined ? name : `${name}/${request}`
    const errors = seen.has(asked) || seen.has(name) ? [duplicate(at, asked)] : []
    seen.add(asked)
    return known.has(name) ? errors : [...errors, notFound(`${at}.name`, name)]
  })
}

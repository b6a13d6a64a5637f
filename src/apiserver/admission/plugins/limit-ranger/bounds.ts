// The limits of LimitRanges: minimum, maximum and limit/request ratio of containers, pods and claims.
import { lookup } from '../../../../base/collections/lookup.ts'
import type { LimitRangeItem } from '../../../../api/core/v1/quota/limit-range-spec.ts'
import type { PersistentVolumeClaim } from '../../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PodSpec } from '../../../../api/core/v1/pod-spec/pod-spec.ts'
import { quantityNanos, quantityText } from '../../../../schema/scalar/quantity.ts'

type Amounts = Readonly<Record<string, string>>

interface Usage {
  readonly requests: Amounts
  readonly limits: Amounts
}

export function podErrors(items: readonly LimitRangeItem[], spec: PodSpec): string[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])].map(({ resources }) => ({
    requests: resources.requests ?? {},
    limits: resources.limits ?? {},
  }))
  return items.flatMap((item) => {
    if (item.type === 'Container') return containers.flatMap((usage) => usageErrors(item, usage))
    return item.type === 'Pod' ? usageErrors(item, podUsage(spec)) : []
  })
}

export function claimErrors(items: readonly LimitRangeItem[], { spec }: PersistentVolumeClaim): string[] {
  const requests = spec.resources?.requests ?? {}
  return items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => [
      ...each(item.min, (name, bound) => minimumError(item.type, name, bound, { requests, limits: {} })),
      ...each(item.max, (name, bound) => {
        const requested = lookup(requests, name)
        const most = `maximum ${name} usage per ${item.type} is ${bound}`
        if (requested === undefined) return `${most}.  No request is specified`
        return nanos(requested) > nanos(bound) ? `${most}, but request is ${requested}` : undefined
      }),
    ])
}

const usageErrors = (item: LimitRangeItem, usage: Usage): string[] => [
  ...each(item.min, (name, bound) => minimumError(item.type, name, bound, usage)),
  ...each(item.max, (name, bound) => maximumError(item.type, name, bound, usage)),
  ...each(item.maxLimitRequestRatio, (name, bound) => ratioError(item.type, name, bound, usage)),
]

const each = (bounds: Amounts | undefined, check: (name: string, bound: string) => string | undefined): string[] =>
  Object.entries(bounds ?? {})
    .map(([name, bound]) => check(name, bound))
    .filter((error) => error !== undefined)

function minimumError(type: string, name: string, bound: string, { requests, limits }: Usage): string | undefined {
  const request = lookup(requests, name)
  const limit = lookup(limits, name)
  const least = `minimum ${name} usage per ${type} is ${bound}`
  if (request === undefined) return `${least}.  No request is specified`
  if (nanos(request) < nanos(bound)) return `${least}, but request is ${request}`
  return limit !== undefined && nanos(limit) < nanos(bound) ? `${least}, but limit is ${limit}` : undefined
}

function maximumError(type: string, name: string, bound: string, { requests, limits }: Usage): string | undefined {
  const request = lookup(requests, name)
  const limit = lookup(limits, name)
  const most = `maximum ${name} usage per ${type} is ${bound}`
  if (limit === undefined) return `${most}.  No limit is specified`
  if (nanos(limit) > nanos(bound)) return `${most}, but limit is ${limit}`
  return request !== undefined && nanos(request) > nanos(bound) ? `${most}, but request is ${request}` : undefined
}

function ratioError(type: string, name: string, bound: string, { requests, limits }: Usage): string | undefined {
  const request = nanos(lookup(requests, name) ?? '0')
  const limit = nanos(lookup(limits, name) ?? '0')
  const most = `${name} max limit to request ratio per ${type} is ${bound}`
  if (request === 0n) return `${most}, but no request is specified or request is 0`
  if (limit === 0n) return `${most}, but no limit is specified or limit is 0`
  const ratio = Number(limit) / Number(request)
  return ratio > Number(nanos(bound)) / nanosPerUnit ? `${most}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}

/** The usage of a pod is the sum of its containers, or its largest init container if that is more. */
function podUsage({ containers, initContainers = [], resources }: PodSpec): Usage {
  const total = (field: 'requests' | 'limits'): Amounts => {
    const own = containers.map((container) => container.resources[field] ?? {})
    const initial = initContainers.map((container) => container.resources[field] ?? {})
    const names = new Set([...own, ...initial].flatMap((amounts) => Object.keys(amounts)))
    const computed = Object.fromEntries(
      [...names].map((name) => {
        const together = own.reduce((sum, amounts) => sum + nanos(lookup(amounts, name) ?? '0'), 0n)
        const largest = initial.reduce((most, amounts) => max(most, nanos(lookup(amounts, name) ?? '0')), 0n)
        const sample = [...own, ...initial].map((amounts) => lookup(amounts, name)).find((text) => text !== undefined)
        return [name, quantityText(max(together, largest), sample)]
      }),
    )
    return { ...computed, ...resources?.[field] }
  }
  return { requests: total('requests'), limits: total('limits') }
}

const nanosPerUnit = 1e9
const nanos = (text: string): bigint => quantityNanos(text) ?? 0n
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)

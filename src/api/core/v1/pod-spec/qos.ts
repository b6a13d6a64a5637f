// QoS: the quality of service class that follows from a pod's requests and limits.
import { quantityNanos } from '../../../../schema/scalar/quantity.ts'
import { cachedBySpec } from './bound-spec.ts'
import type { PodSpec } from './pod-spec.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const counted = ['cpu', 'memory'] as const

/** Pod-level resources determine the class if there are any, otherwise those of all containers. */
export const qosClassOf = cachedBySpec((spec: PodSpec): QosClass => {
  const own = spec.resources
  const isWhole = counted.some((name) => own?.requests?.[name] !== undefined || own?.limits?.[name] !== undefined)
  const parts =
    isWhole && own ? [own] : [...(spec.initContainers ?? []), ...spec.containers].map((one) => one.resources)
  if (parts.every(({ requests, limits }) => !isAsking(requests) && !isAsking(limits))) return 'BestEffort'
  const amounts = parts.flatMap(({ requests = {}, limits = {} }) =>
    counted.map((name) => ({ request: amountOf(requests[name]), limit: amountOf(limits[name]) })),
  )
  if (amounts.every(({ request, limit }) => request === 0n && limit === 0n)) return 'BestEffort'
  return amounts.every(({ request, limit }) => limit > 0n && request === limit) ? 'Guaranteed' : 'Burstable'
})

const isAsking = (amounts: Readonly<Record<string, string>> | undefined): boolean =>
  amounts !== undefined && counted.some((name) => amounts[name] !== undefined)

const amountOf = (quantity: string | undefined): bigint =>
  quantity === undefined ? 0n : (quantityNanos(quantity) ?? 0n)

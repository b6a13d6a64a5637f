// Quota usage: how much an object uses of the quotas of its namespace, by the names in a quota's `hard`.
// Admission charges it when an object is written; the ResourceQuota controller recounts all objects.
import { lookup, setOwn } from '../../../../base/collections/lookup.ts'
import { quantityNanos, quantityText } from '../../../../schema/scalar/quantity.ts'
import { qualifiedResource, type Kind } from '../../../kind/kind.ts'
import type { ApiObject } from '../../../meta/object.ts'
import { classAnnotation } from '../volume/persistent-volume-claim-rules.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../volume/persistent-volume-claim.ts'
import { isPodFinished } from '../pod/pod-readiness.ts'
import type { PodSpec } from '../pod-spec/pod-spec.ts'
import { pod, type Pod } from '../pod/pod.ts'
import { podLimits, podRequests, type Amounts } from '../pod/pod-requests.ts'
import { isExtendedResource } from '../resources/resource-name-rules.ts'
import { matchesQuotaScopes } from './quota-scopes.ts'
import type { ResourceQuota } from './resource-quota.ts'
import { service, type Service } from '../service/service.ts'
import { resourceClaim, type ResourceClaim } from '../../../resource/v1/resource-claim.ts'
import { secondsAsMs } from '../../../../schema/scalar/int64.ts'

/** Amounts by the names of a quota. */
export type QuotaAmounts = Readonly<Record<string, string>>

/** Kinds that a quota may also name without `count/`. */
const plainlyCounted = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
])

export function quotaUsageOf(kind: Kind, object: ApiObject, nowMs: number): QuotaAmounts {
  const counted: Record<string, string> = { [`count/${qualifiedResource(kind)}`]: '1' }
  if (kind.group === '' && plainlyCounted.has(kind.plural)) setOwn(counted, kind.plural, '1')
  if (kind === pod) return { ...counted, ...podUsage(object as Pod, nowMs) }
  if (kind === service) return { ...counted, ...serviceUsage(object as Service) }
  if (kind === persistentVolumeClaim) return { ...counted, ...claimUsage(object as PersistentVolumeClaim) }
  if (kind === resourceClaim) return { ...counted, ...deviceUsage(object as ResourceClaim) }
  return counted
}

/** Whether objects of the kind can use the resource. */
export function usesQuotaOf(kind: Kind, name: string): boolean {
  if (name === `count/${qualifiedResource(kind)}`) return true
  if (kind === resourceClaim) return name.endsWith(devicesOfClass)
  if (kind.group !== '') return false
  if (kind === pod) return isPodResource(name)
  if (plainlyCounted.has(kind.plural) && name === kind.plural) return true
  if (kind === service) return name === 'services.nodeports' || name === 'services.loadbalancers'
  if (kind !== persistentVolumeClaim) return false
  return (
    name === 'requests.storage' ||
    /\.storageclass\.storage\.k8s\.io\/(requests\.storage|persistentvolumeclaims)$/.test(name)
  )
}

function isPodResource(name: string): boolean {
  if (name === 'pods' || isCompute(name) || name.startsWith('hugepages-')) return true
  const [, field, resource = ''] = /^(requests|limits)\.(.*)$/.exec(name) ?? []
  if (isCompute(resource)) return true
  return field === 'requests' && (resource.startsWith('hugepages-') || isExtendedResource(resource))
}

/** The usage of each resource that the quota limits. */
export function quotaUsed(
  quota: Pick<ResourceQuota, 'spec'>,
  objects: Iterable<readonly [kind: Kind, object: ApiObject]>,
  nowMs: number,
): QuotaAmounts {
  const names = Object.keys(quota.spec.hard ?? {})
  let used: QuotaAmounts = Object.fromEntries(names.map((name) => [name, '0']))
  for (const [kind, object] of objects)
    if (matchesQuotaScopes(quota, kind, object))
      used = addAmounts(used, pickAmounts(quotaUsageOf(kind, object, nowMs), names))
  return used
}

/** The sum, in the suffix format of the first one. */
export function addAmounts(amounts: QuotaAmounts, more: QuotaAmounts): QuotaAmounts {
  const sums = { ...amounts }
  for (const [name, amount] of Object.entries(more)) {
    const before = lookup(sums, name) ?? '0'
    const sum = nanosOf(before) + nanosOf(amount)
    setOwn(sums, name, quantityText(sum, nanosOf(before) === 0n ? amount : before))
  }
  return sums
}

/** The part of `amounts` that exceeds `before`; other amounts are omitted. */
export function usageIncrease(amounts: QuotaAmounts, before: QuotaAmounts): QuotaAmounts {
  const grown: Record<string, string> = {}
  for (const [name, amount] of Object.entries(amounts)) {
    const more = nanosOf(amount) - nanosOf(lookup(before, name) ?? '0')
    if (more > 0n) setOwn(grown, name, quantityText(more, amount))
  }
  return grown
}

export const equalAmounts = (some: QuotaAmounts, others: QuotaAmounts): boolean => {
  const names = Object.keys(some)
  return (
    names.length === Object.keys(others).length &&
    names.every(
      (name) =>
        Object.hasOwn(others, name) && nanosOf(lookup(some, name) ?? '0') === nanosOf(lookup(others, name) ?? '0'),
    )
  )
}

export const pickAmounts = (amounts: QuotaAmounts, names: readonly string[]): QuotaAmounts =>
  Object.fromEntries(Object.entries(amounts).filter(([name]) => names.includes(name)))

export const exceeds = (amount: string, than: string): boolean => nanosOf(amount) > nanosOf(than)

const nanosOf = (amount: string): bigint => quantityNanos(amount) ?? 0n

function podUsage(object: Pod, nowMs: number): QuotaAmounts {
  if (!isRunning(object, nowMs)) return {}
  const usage: Record<string, string> = { pods: '1' }
  for (const [name, amount] of amountTexts(object.spec, 'requests', podRequests(object))) {
    if (isCompute(name) || name.startsWith('hugepages-')) setOwn(usage, name, amount)
    if (isCompute(name) || name.startsWith('hugepages-') || isExtendedResource(name)) usage[`requests.${name}`] = amount
  }
  for (const [name, amount] of amountTexts(object.spec, 'limits', podLimits(object)))
    if (isCompute(name)) usage[`limits.${name}`] = amount
  return usage
}

const isCompute = (name: string): boolean => name === 'cpu' || name === 'memory' || name === 'ephemeral-storage'

/** A terminated pod uses nothing, nor does one whose deletion is overdue: its node may never report. */
function isRunning(object: Pod, nowMs: number): boolean {
  if (isPodFinished(object)) return false
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true
  return nowMs <= Date.parse(deletionTimestamp) + secondsAsMs(deletionGracePeriodSeconds)
}

const nanosPerMilli = 1_000_000n
const nanosPerUnit = 1_000_000_000n

/** In the suffix format that the pod itself uses. */
function amountTexts(spec: PodSpec, field: 'requests' | 'limits', amounts: Amounts): [name: string, text: string][] {
  const lists = [spec, ...spec.containers, ...(spec.initContainers ?? [])].map(({ resources }) => resources?.[field])
  return [...amounts].map(([name, amount]) => [
    name,
    quantityText(
      BigInt(amount) * (name === 'cpu' ? nanosPerMilli : nanosPerUnit),
      lookup(
        lists.find((list) => lookup(list, name) !== undefined),
        name,
      ),
    ),
  ])
}

function serviceUsage({ spec: { type, ports = [], allocateLoadBalancerNodePorts } }: Service): QuotaAmounts {
  const isBalanced = type === 'LoadBalancer'
  const hasAll = type === 'NodePort' || (isBalanced && allocateLoadBalancerNodePorts !== false)
  const asked = isBalanced ? ports.filter(({ nodePort }) => nodePort !== undefined && nodePort !== 0).length : 0
  return {
    'services.nodeports': String(hasAll ? ports.length : asked),
    'services.loadbalancers': isBalanced ? '1' : '0',
  }
}

function claimUsage({ metadata, spec, status }: PersistentVolumeClaim): QuotaAmounts {
  const asked = spec.resources?.requests?.['storage']
  const promised = status.allocatedResources?.['storage']
  const larger = asked !== undefined && promised !== undefined && exceeds(promised, asked) ? promised : asked
  const storage = larger === undefined ? {} : { 'requests.storage': larger }
  const name = metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? ''
  if (name === '') return storage
  const ofClass = Object.entries({ persistentvolumeclaims: '1', ...storage }).map(([resource, amount]) => [
    `${name}.storageclass.storage.k8s.io/${resource}`,
    amount,
  ])
  return { ...storage, ...Object.fromEntries(ofClass) }
}

const devicesOfClass = '.deviceclass.resource.k8s.io/devices'
/** The largest number of devices in one claim; a request for all devices counts as this many. */
const claimDevicesMax = 32

/** The devices that a claim may get, by class. For alternatives, the maximum of each class counts. */
function deviceUsage({ spec }: ResourceClaim): QuotaAmounts {
  const counts = new Map<string, number>()
  for (const { exactly, firstAvailable = [] } of spec.devices?.requests ?? []) {
    const most = new Map<string, number>()
    for (const { deviceClassName, allocationMode, count } of exactly === undefined ? firstAvailable : [exactly]) {
      const devices = allocationMode === 'All' ? claimDevicesMax : Number(count ?? 1)
      most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, devices))
    }
    for (const [name, devices] of most) counts.set(name, (counts.get(name) ?? 0) + devices)
  }
  return Object.fromEntries([...counts].map(([name, devices]) => [name + devicesOfClass, String(devices)]))
}

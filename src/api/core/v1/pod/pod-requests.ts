// Requests of a pod, computed as the scheduler and the kubelet do.
import { equalValues } from '../../../../schema/json/json-value.ts'
import { quantityMillis, quantityUnits } from '../../../../schema/scalar/quantity.ts'
import type { Container } from '../container/container.ts'
import type { PodSpec } from '../pod-spec/pod-spec.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'

type ResourceList = Readonly<Record<string, string>>

/** By resource: cpu in millicores, everything else in whole units. */
export type Amounts = ReadonlyMap<string, number>

/** A cache of parsed quantities; few different ones occur. */
const amountsCache = { millis: new Map<string, number>(), units: new Map<string, number>() }
const amountsCacheMax = 10_000

export function amountOf(resource: string, quantity: string | undefined): number {
  if (quantity === undefined) return 0
  const known = resource === 'cpu' ? amountsCache.millis : amountsCache.units
  const before = known.get(quantity)
  if (before !== undefined) return before
  const amount = resource === 'cpu' ? quantityMillis(quantity) : quantityUnits(quantity)
  if (known.size >= amountsCacheMax) known.clear()
  known.set(quantity, amount)
  return amount
}

export function amountsFrom(list: ResourceList | undefined): Map<string, number> {
  const amounts = new Map<string, number>()
  for (const name in list) amounts.set(name, amountOf(name, list[name]))
  return amounts
}

/** The requests that are assumed for containers without requests when nodes are scored by utilization. */
export const nonZeroRequests: Amounts = new Map([
  ['cpu', 100],
  ['memory', 200 << 20],
])

const noAmounts: Amounts = new Map()

/** The fields of a Pod that are read here. The kind's own file imports this one. */
interface PodSpecAndStatus {
  readonly spec: PodSpec
  readonly status?: PodStatus
}

/**
 * The sum of all containers, or the largest demand of the init containers, whichever is larger; sidecars keep running.
 * Pod-level requests replace the sum. During a resize the larger amount counts.
 * `missing` is used for containers without a request.
 */
export function podRequests({ spec, status }: PodSpecAndStatus, missing: Amounts = noAmounts): Map<string, number> {
  const requestsOf = (container: Container) => containerRequests(container, statusOf(status, container.name), missing)
  const total = containersTogether(spec, requestsOf)
  for (const [name, amount] of amountsFrom(spec.resources?.requests)) total.set(name, amount)
  return spec.overhead === undefined ? total : add(total, amountsFrom(spec.overhead))
}

/** Like podRequests, for limits: overhead is only added to limits that are set. */
export function podLimits({ spec }: Pick<PodSpecAndStatus, 'spec'>): Map<string, number> {
  const total = containersTogether(spec, ({ resources }) => amountsFrom(resources.limits))
  for (const [name, amount] of amountsFrom(spec.resources?.limits)) total.set(name, amount)
  for (const [name, amount] of amountsFrom(spec.overhead))
    if (total.has(name)) total.set(name, (total.get(name) ?? 0) + amount)
  return total
}

function containersTogether(spec: PodSpec, amountsOf: (container: Container) => Amounts): Map<string, number> {
  const sidecars = new Map<string, number>()
  const peak = new Map<string, number>()
  for (const container of spec.initContainers ?? []) {
    const own = amountsOf(container)
    const isSidecar = container.restartPolicy === 'Always'
    if (isSidecar) add(sidecars, own)
    raise(peak, isSidecar ? sidecars : add(new Map(sidecars), own))
  }
  const total = sidecars
  for (const container of spec.containers) add(total, amountsOf(container))
  raise(total, peak)
  return total
}

function containerRequests(
  { resources }: Container,
  status: ContainerStatus | undefined,
  missing: Amounts,
): Map<string, number> {
  const amounts = amountsFrom(resources.requests)
  if (status?.resources?.requests !== undefined) raise(amounts, amountsFrom(status.resources.requests))
  if (status?.allocatedResources !== undefined) raise(amounts, amountsFrom(status.allocatedResources))
  for (const [name, amount] of missing) if (!amounts.has(name)) amounts.set(name, amount)
  return amounts
}

/** Whether a container's allocated or actual resources differ from its spec: only then the status counts. */
export const isBeingResized = ({ spec, status }: PodSpecAndStatus): boolean =>
  differ(spec.containers, status?.containerStatuses) || differ(spec.initContainers, status?.initContainerStatuses)

const differ = (containers: readonly Container[] = [], statuses: readonly ContainerStatus[] = []): boolean =>
  statuses.some(({ name, resources, allocatedResources }) => {
    const given = [resources?.requests, allocatedResources].filter((amounts) => amounts !== undefined)
    if (given.length === 0) return false
    const asked = containers.find((container) => container.name === name)?.resources.requests
    return given.some((amounts) => !equalValues(amounts, asked))
  })

const statusOf = (status: PodStatus | undefined, name: string): ContainerStatus | undefined =>
  status?.containerStatuses?.find((candidate) => candidate.name === name) ??
  status?.initContainerStatuses?.find((candidate) => candidate.name === name)

function add(target: Map<string, number>, amounts: Amounts): Map<string, number> {
  for (const [name, amount] of amounts) target.set(name, (target.get(name) ?? 0) + amount)
  return target
}

function raise(target: Map<string, number>, amounts: Amounts): void {
  for (const [name, amount] of amounts) if (amount > (target.get(name) ?? 0)) target.set(name, amount)
}

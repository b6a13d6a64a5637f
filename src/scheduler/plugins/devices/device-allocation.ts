// Device allocation: finds devices in the slices of a node that satisfy the requests of claims, by backtracking in the
// order of the pools.
import { leastOf } from '../../../base/collections/extremes.ts'
import { lookup } from '../../../base/collections/lookup.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import { keyOf } from '../../../api/meta/object.ts'
import type { DeviceClass } from '../../../api/resource/v1/device-class.ts'
import type {
  CapacityRequirements,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
} from '../../../api/resource/v1/device-requests.ts'
import { isSelected, SelectorError } from '../../../api/resource/v1/device-selector.ts'
import type {
  AllocationResult,
  DeviceRequestAllocationResult,
  ResourceClaim,
} from '../../../api/resource/v1/resource-claim.ts'
import type { Device, DeviceAttribute } from '../../../api/resource/v1/resource-slice-spec.ts'
import type { ResourceSlice } from '../../../api/resource/v1/resource-slice.ts'
import { consumedBy, hasRoom, isShareable, shareOf, type Share } from './device-capacity.ts'
import type { SearchBudget } from './search-budget.ts'
import { deviceId, devicePools, nanosOf, type CounterAmounts, type ReachableDevice } from './device-pools.ts'
import { jsonText } from '../../../schema/json/exact-json.ts'

/** The devices of one claim. */
export const devicesPerClaimMax = 32

/** One alternative of a request. */
interface DeviceDemand {
  /** `request`, or `request/subrequest`. */
  readonly name: string
  readonly request: string
  readonly deviceClassName: string
  readonly isAll: boolean
  readonly count: number
  readonly isAdmin: boolean
  readonly tolerations: readonly DeviceToleration[]
  readonly selectors: readonly DeviceSelector[]
  readonly capacity: CapacityRequirements | undefined
}

type Exactly = Omit<DeviceSubRequest, 'name'>

const demandOf = (name: string, request: string, exactly: Exactly, isAdmin: boolean): DeviceDemand => ({
  name,
  request,
  deviceClassName: exactly.deviceClassName,
  isAll: exactly.allocationMode === 'All',
  count: Number(exactly.count ?? 1),
  isAdmin,
  tolerations: exactly.tolerations ?? [],
  selectors: exactly.selectors ?? [],
  capacity: exactly.capacity,
})

/** The alternatives of a request, preferred first. */
const alternativesOf = ({ name, exactly, firstAvailable = [] }: DeviceRequest): DeviceDemand[] =>
  exactly === undefined
    ? firstAvailable.map((sub) => demandOf(`${name}/${sub.name}`, name, sub, false))
    : [demandOf(name, name, exactly, exactly.adminAccess ?? false)]

/** Devices and shares in use by allocations. Administrative access does not count. */
export class AllocatedDevices {
  readonly ids = new Set<string>()
  readonly #shares = new Map<string, Share[]>()

  add({ devices }: AllocationResult): void {
    for (const { driver, pool, device, adminAccess, consumedCapacity = {} } of devices.results ?? []) {
      if (adminAccess) continue
      const id = deviceId(driver, pool, device)
      this.ids.add(id)
      const share = new Map(Object.entries(consumedCapacity).map(([name, amount]) => [name, nanosOf(amount)]))
      if (share.size > 0) this.#shares.set(id, [...this.sharesOf(id), share])
    }
  }

  sharesOf(id: string): readonly Share[] {
    return this.#shares.get(id) ?? []
  }
}

/** Why no allocation is attempted for the claim, on any node. */
export function claimProblem(
  claim: ResourceClaim,
  classOf: (name: string) => DeviceClass | undefined,
): string | undefined {
  for (const request of claim.spec.devices.requests ?? [])
    for (const { name, deviceClassName } of alternativesOf(request))
      if (classOf(deviceClassName) === undefined)
        return `request ${name}: device class ${deviceClassName} does not exist`
  return undefined
}

/** Why the claim cannot be allocated on any node, although its classes exist; the attempt ends with this error. */
export function claimSizeProblem(claim: ResourceClaim): string | undefined {
  const counts = (claim.spec.devices.requests ?? []).map((request) =>
    leastOf(alternativesOf(request).map(({ isAll, count }) => (isAll ? 1 : count))),
  )
  const least = counts.reduce((sum, count) => sum + count, 0)
  return least > devicesPerClaimMax
    ? `claim ${keyOf(claim)}: number of requested devices ${least} exceeds the claim limit of ${devicesPerClaimMax}`
    : undefined
}

/** Evaluates the selectors of class and request. A SelectorError names the selector. */
function matchesSelectors(
  claim: ResourceClaim,
  demand: DeviceDemand,
  ofClass: DeviceClass | undefined,
  { driver, device }: ReachableDevice,
  budget: SearchBudget,
): boolean {
  const all = (selectors: readonly DeviceSelector[], owner: string): boolean =>
    selectors.every(({ cel }, index) => {
      try {
        budget.spend(1)
        return isSelected(cel?.expression ?? '', driver, device, (cost) => budget.spend(cost))
      } catch (error) {
        if (error instanceof SelectorError) throw new SelectorError(`${owner}: selector #${index}: ${error.message}`)
        throw error
      }
    })
  return (
    all(ofClass?.spec.selectors ?? [], `class ${demand.deviceClassName}`) &&
    all(demand.selectors, `claim ${keyOf(claim)}`)
  )
}

export interface AllocationDeps {
  readonly classOf: (name: string) => DeviceClass | undefined
  /** A new id for a share of a device. */
  readonly newShareId: () => string
}

/**
 * Allocates devices for all claims on this node; undefined when that is not possible. `taken` is not modified. Throws a
 * SearchTimeout when the budget is used up.
 */
export function allocate(
  claims: readonly ResourceClaim[],
  node: Node,
  slices: readonly ResourceSlice[],
  taken: AllocatedDevices,
  deps: AllocationDeps,
  budget: SearchBudget,
): Map<string, AllocationResult> | undefined {
  const { devices, left } = devicePools(slices, node, taken.ids)
  const results = new Map<string, AllocationResult>()
  let before: readonly Picked[] = []
  for (const claim of claims) {
    const stock = { devices, left, taken, before, budget }
    const picked = pickFor(claim, stock, deps.classOf)
    if (picked === undefined) return undefined
    before = [...before, ...picked]
    results.set(keyOf(claim), resultOf(claim, picked, node, deps))
  }
  return results
}

interface Picked extends ReachableDevice {
  readonly demand: DeviceDemand
  readonly share: Share
}

/** The available devices, and what is in use. */
interface DeviceStock {
  readonly devices: readonly ReachableDevice[]
  readonly left: CounterAmounts
  readonly taken: AllocatedDevices
  /** Picked for earlier claims of the pod. */
  readonly before: readonly Picked[]
  readonly budget: SearchBudget
}

function pickFor(
  claim: ResourceClaim,
  stock: DeviceStock,
  classOf: (name: string) => DeviceClass | undefined,
): readonly Picked[] | undefined {
  const requests = (claim.spec.devices.requests ?? []).map((request) =>
    alternativesOf(request).map((demand) => ({
      demand,
      usable: lazily(() => usableFor(claim, demand, stock, classOf)),
    })),
  )
  const pick = (index: number, picked: readonly Picked[]): readonly Picked[] | undefined => {
    const request = requests[index]
    if (request === undefined) return picked
    for (const { demand, usable } of request) {
      const found = fill(claim, demand, usable(), stock, picked, (more) => pick(index + 1, more))
      if (found !== undefined) return found
    }
    return undefined
  }
  return pick(0, [])
}

/** The devices that the selectors match and whose taints are tolerated. */
function usableFor(
  claim: ResourceClaim,
  demand: DeviceDemand,
  { devices, budget }: DeviceStock,
  classOf: (name: string) => DeviceClass | undefined,
): readonly ReachableDevice[] {
  const ofClass = classOf(demand.deviceClassName)
  return devices.filter(
    (each) => matchesSelectors(claim, demand, ofClass, each, budget) && tolerated(each.device, demand.tolerations),
  )
}

const lazily = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Picks the requested number of devices, then those of the later requests. Backtracks when that fails. */
function fill(
  claim: ResourceClaim,
  demand: DeviceDemand,
  usable: readonly ReachableDevice[],
  stock: DeviceStock,
  picked: readonly Picked[],
  pickRest: (picked: readonly Picked[]) => readonly Picked[] | undefined,
): readonly Picked[] | undefined {
  const { constraints = [] } = claim.spec.devices
  if (picked.length + (demand.isAll ? usable.length : demand.count) > devicesPerClaimMax) return undefined
  const taking = (candidate: ReachableDevice, now: readonly Picked[]): readonly Picked[] | undefined => {
    const compared = stock.before.length + (1 + constraints.length) * now.length
    stock.budget.spend(1 + compared * (1 + candidate.counterAmounts.size))
    const share = shareOf(candidate.device, demand.capacity)
    if (share === undefined || !isFree(candidate, demand, share, stock, now)) return undefined
    const next = [...now, { ...candidate, demand, share }]
    return meetsConstraints(claim, next) ? next : undefined
  }
  if (demand.isAll) {
    const all = usable.reduce<readonly Picked[] | undefined>((now, each) => now && taking(each, now), picked)
    return all === undefined || usable.length === 0 ? undefined : pickRest(all)
  }
  const areWhole = usable.every(({ device }) => !isShareable(device))
  const choose = (from: number, left: number, now: readonly Picked[]): readonly Picked[] | undefined => {
    if (left === 0) return pickRest(now)
    for (let index = from; index < usable.length; index++) {
      if (areWhole && usable.length - index < left) return undefined
      const candidate = usable[index] as ReachableDevice
      const next = taking(candidate, now)
      // A shareable device may be picked several times for one request.
      const found = next && choose(isShareable(candidate.device) ? index : index + 1, left - 1, next)
      if (found !== undefined) return found
    }
    return undefined
  }
  return choose(0, demand.count, picked)
}

/** Whether the device, or the share of it, is free, and its shared counters are sufficient. */
function isFree(
  { id, device, counterAmounts }: ReachableDevice,
  demand: DeviceDemand,
  share: Share,
  { left, taken, before }: DeviceStock,
  now: readonly Picked[],
): boolean {
  if (demand.isAdmin) return true
  const others = [...before, ...now].filter((other) => !other.demand.isAdmin)
  const own = others.filter((other) => other.id === id)
  const isTaken = taken.ids.has(id)
  if (!isShareable(device)) {
    if (isTaken || own.length > 0) return false
  } else if (!hasRoom(device, share, [...taken.sharesOf(id), ...own.map((other) => other.share)])) return false
  // A further share of a device consumes no counters.
  if (counterAmounts.size === 0 || isTaken || own.length > 0) return true
  const drawing = new Map(others.map((other) => [other.id, other.counterAmounts]))
  for (const shared of taken.ids) drawing.delete(shared)
  return [...counterAmounts].every(([key, amount]) => {
    let rest = left.get(key) ?? 0n
    for (const other of drawing.values()) rest -= other.get(key) ?? 0n
    return amount <= rest
  })
}

/** Whether the picked devices satisfy the constraints of the claim. */
function meetsConstraints(claim: ResourceClaim, picked: readonly Picked[]): boolean {
  return (claim.spec.devices.constraints ?? []).every(({ requests = [], matchAttribute, distinctAttribute }) => {
    const concerned = picked.filter(
      ({ demand }) => requests.length === 0 || requests.includes(demand.name) || requests.includes(demand.request),
    )
    const attribute = matchAttribute ?? distinctAttribute
    if (attribute === undefined) return true
    const values = concerned.map((each) => attributeText(each, attribute))
    if (values.includes(undefined)) return false
    const distinct = new Set(values).size
    return matchAttribute === undefined ? distinct === values.length : distinct <= 1
  })
}

function attributeText({ device, driver }: ReachableDevice, name: string): string | undefined {
  const [domain, short] = name.split('/')
  const found: DeviceAttribute | undefined =
    lookup(device.attributes, name) ?? (domain === driver ? lookup(device.attributes, short ?? '') : undefined)
  return found === undefined ? undefined : jsonText(found)
}

const tolerated = ({ taints = [] }: Device, tolerations: readonly DeviceToleration[]): boolean =>
  taints.every(
    (taint) =>
      taint.effect === 'None' ||
      tolerations.some(
        ({ key, operator, value = '', effect }) =>
          (effect === undefined || effect === taint.effect) &&
          (key === undefined || key === taint.key) &&
          (operator === 'Exists' || value === (taint.value ?? '')),
      ),
  )

function resultOf(
  claim: ResourceClaim,
  picked: readonly Picked[],
  node: Node,
  { classOf, newShareId }: AllocationDeps,
): AllocationResult {
  const results = picked.map(({ driver, pool, device, demand, share }): DeviceRequestAllocationResult => ({
    request: demand.name,
    driver,
    pool,
    device: device.name,
    ...(demand.isAdmin && { adminAccess: true }),
    ...(demand.tolerations.length > 0 && { tolerations: demand.tolerations }),
    ...(device.bindingConditions && { bindingConditions: device.bindingConditions }),
    ...(device.bindingFailureConditions && { bindingFailureConditions: device.bindingFailureConditions }),
    ...(!demand.isAdmin &&
      isShareable(device) && { shareID: newShareId(), consumedCapacity: consumedBy(device, share) }),
  }))
  const demands = [...new Map(picked.map(({ demand }) => [demand.name, demand])).values()]
  const ofClasses = demands.flatMap(({ name, deviceClassName }) =>
    (classOf(deviceClassName)?.spec.config ?? []).map((config) => ({
      source: 'FromClass',
      requests: [name],
      ...config,
    })),
  )
  const ofClaim = (claim.spec.devices.config ?? []).map((config) => ({ source: 'FromClaim', ...config }))
  const config = [...ofClasses, ...ofClaim] as NonNullable<AllocationResult['devices']['config']>
  const isTied = picked.some(({ isOnNode }) => isOnNode)
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node.metadata.name] }]
  return {
    devices: { results, ...(config.length > 0 && { config }) },
    ...(isTied && { nodeSelector: { nodeSelectorTerms: [{ matchFields }] } }),
  }
}

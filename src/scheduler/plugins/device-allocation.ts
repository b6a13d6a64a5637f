// Device allocation: which devices of the slices that a node can reach meet the requests of claims. Devices are taken
// in the order of their pools; a choice that leads nowhere is taken back.
import { matchesNodeSelector } from '../../api/core/v1/node-selection.ts'
import type { Node } from '../../api/core/v1/node.ts'
import { keyOf } from '../../api/object.ts'
import type { DeviceClass } from '../../api/resource/v1/device-class.ts'
import type {
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
} from '../../api/resource/v1/device-requests.ts'
import { isSelected, SelectorError } from '../../api/resource/v1/device-selector.ts'
import type {
  AllocationResult,
  DeviceRequestAllocationResult,
  ResourceClaim,
} from '../../api/resource/v1/resource-claim.ts'
import type { Device, DeviceAttribute } from '../../api/resource/v1/resource-slice-spec.ts'
import type { ResourceSlice } from '../../api/resource/v1/resource-slice.ts'

/** A device that the node can reach. */
interface Reachable {
  readonly id: string
  readonly driver: string
  readonly pool: string
  readonly device: Device
  readonly isOnNode: boolean
}

/** One way to meet a request. */
interface Want {
  /** `request`, or `request/subrequest`. */
  readonly name: string
  readonly request: string
  readonly deviceClassName: string
  readonly isAll: boolean
  readonly count: number
  readonly isAdmin: boolean
  readonly tolerations: readonly DeviceToleration[]
  readonly selectors: readonly DeviceSelector[]
}

type Exactly = Pick<DeviceSubRequest, 'deviceClassName' | 'allocationMode' | 'count' | 'selectors' | 'tolerations'>

const wantOf = (name: string, request: string, exactly: Exactly, isAdmin: boolean): Want => ({
  name,
  request,
  deviceClassName: exactly.deviceClassName,
  isAll: exactly.allocationMode === 'All',
  count: exactly.count ?? 1,
  isAdmin,
  tolerations: exactly.tolerations ?? [],
  selectors: exactly.selectors ?? [],
})

/** The ways to meet a request, the best first. */
const waysOf = ({ name, exactly, firstAvailable = [] }: DeviceRequest): Want[] =>
  exactly === undefined
    ? firstAvailable.map((sub) => wantOf(`${name}/${sub.name}`, name, sub, false))
    : [wantOf(name, name, exactly, exactly.adminAccess ?? false)]

export const deviceId = (driver: string, pool: string, device: string): string => `${driver}/${pool}/${device}`

/** Devices that are allocated, whoever has them; administrators only look on. */
export const devicesOf = ({ devices }: AllocationResult): string[] =>
  (devices.results ?? [])
    .filter(({ adminAccess }) => !adminAccess)
    .map(({ driver, pool, device }) => deviceId(driver, pool, device))

/** Why no allocation is tried for the claim, before any node is looked at. */
export function claimProblem(
  claim: ResourceClaim,
  classOf: (name: string) => DeviceClass | undefined,
): string | undefined {
  for (const request of claim.spec.devices.requests ?? [])
    for (const { name, deviceClassName } of waysOf(request))
      if (classOf(deviceClassName) === undefined)
        return `request ${name}: device class ${deviceClassName} does not exist`
  return undefined
}

/** What the class and the request together select; throws a SelectorError that names who asked. */
function isMeant(
  claim: ResourceClaim,
  want: Want,
  ofClass: DeviceClass | undefined,
  { driver, device }: Reachable,
): boolean {
  const all = (selectors: readonly DeviceSelector[], owner: string): boolean =>
    selectors.every(({ cel }, index) => {
      try {
        return isSelected(cel?.expression ?? '', driver, device)
      } catch (error) {
        if (error instanceof SelectorError) throw new SelectorError(`${owner}: selector #${index}: ${error.message}`)
        throw error
      }
    })
  return (
    all(ofClass?.spec.selectors ?? [], `class ${want.deviceClassName}`) && all(want.selectors, `claim ${keyOf(claim)}`)
  )
}

/** Devices for every claim, on this node; undefined when they cannot be had together. `taken` is not changed. */
export function allocate(
  claims: readonly ResourceClaim[],
  node: Node,
  slices: readonly ResourceSlice[],
  taken: ReadonlySet<string>,
  classOf: (name: string) => DeviceClass | undefined,
): Map<string, AllocationResult> | undefined {
  const devices = reachable(slices, node)
  const used = new Set(taken)
  const results = new Map<string, AllocationResult>()
  for (const claim of claims) {
    const picked = pickFor(claim, devices, used, classOf)
    if (picked === undefined) return undefined
    for (const { id, want } of picked) if (!want.isAdmin) used.add(id)
    results.set(keyOf(claim), resultOf(claim, picked, node, classOf))
  }
  return results
}

interface Picked extends Reachable {
  readonly want: Want
}

function pickFor(
  claim: ResourceClaim,
  devices: readonly Reachable[],
  used: ReadonlySet<string>,
  classOf: (name: string) => DeviceClass | undefined,
): Picked[] | undefined {
  const requests = claim.spec.devices.requests ?? []
  const pick = (index: number, picked: readonly Picked[]): Picked[] | undefined => {
    const request = requests[index]
    if (request === undefined) return [...picked]
    for (const want of waysOf(request)) {
      const ofClass = classOf(want.deviceClassName)
      const meant = devices.filter((each) => isMeant(claim, want, ofClass, each))
      const found = fill(claim, want, meant, used, picked, (more) => pick(index + 1, more))
      if (found !== undefined) return found
    }
    return undefined
  }
  return pick(0, [])
}

/** Takes as many devices as the want asks for, then goes on; tries other devices when that fails. */
function fill(
  claim: ResourceClaim,
  want: Want,
  devices: readonly Reachable[],
  used: ReadonlySet<string>,
  picked: readonly Picked[],
  goOn: (picked: readonly Picked[]) => Picked[] | undefined,
): Picked[] | undefined {
  const usable = devices.filter(({ device }) => tolerated(device, want.tolerations))
  const isFree = ({ id }: Reachable) => want.isAdmin || (!used.has(id) && !picked.some((other) => other.id === id))
  if (want.isAll) {
    if (usable.length === 0 || !usable.every(isFree)) return undefined
    const all = [...picked, ...usable.map((device) => ({ ...device, want }))]
    return agrees(claim, all) ? goOn(all) : undefined
  }
  const choose = (from: number, left: number, now: readonly Picked[]): Picked[] | undefined => {
    if (left === 0) return goOn(now)
    for (let index = from; index <= usable.length - left; index++) {
      const candidate = usable[index] as Reachable
      const next = [...now, { ...candidate, want }]
      if (!isFree(candidate) || !agrees(claim, next)) continue
      const found = choose(index + 1, left - 1, next)
      if (found !== undefined) return found
    }
    return undefined
  }
  return choose(0, want.count, picked)
}

/** Whether the devices so far have what the claim wants them to share, and differ where they must. */
function agrees(claim: ResourceClaim, picked: readonly Picked[]): boolean {
  return (claim.spec.devices.constraints ?? []).every(({ requests = [], matchAttribute, distinctAttribute }) => {
    const concerned = picked.filter(
      ({ want }) => requests.length === 0 || requests.includes(want.name) || requests.includes(want.request),
    )
    const attribute = matchAttribute ?? distinctAttribute
    if (attribute === undefined) return true
    const values = concerned.map((each) => attributeText(each, attribute))
    if (values.includes(undefined)) return false
    const distinct = new Set(values).size
    return matchAttribute === undefined ? distinct === values.length : distinct <= 1
  })
}

function attributeText({ device, driver }: Reachable, name: string): string | undefined {
  const [domain, short] = name.split('/')
  const found: DeviceAttribute | undefined =
    device.attributes?.[name] ?? (domain === driver ? device.attributes?.[short ?? ''] : undefined)
  return found === undefined ? undefined : JSON.stringify(found)
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

/** The devices of the newest generation of each pool that is complete. */
function reachable(slices: readonly ResourceSlice[], node: Node): Reachable[] {
  const pools = new Map<string, ResourceSlice[]>()
  for (const slice of slices) {
    const { driver, pool } = slice.spec
    const key = `${driver}/${pool.name}`
    const known = pools.get(key)
    const newest = known?.[0]?.spec.pool.generation ?? -1
    if (known === undefined || pool.generation > newest) pools.set(key, [slice])
    else if (pool.generation === newest) known.push(slice)
  }
  return [...pools.values()]
    .filter((members) => members.length >= (members[0]?.spec.pool.resourceSliceCount ?? 0))
    .flatMap((members) => members.flatMap((slice) => devicesIn(slice, node)))
}

function devicesIn({ spec }: ResourceSlice, node: Node): Reachable[] {
  const isAt = (place: Pick<Device, 'nodeName' | 'nodeSelector' | 'allNodes'>): boolean =>
    place.nodeName === node.metadata.name ||
    place.allNodes === true ||
    (place.nodeSelector !== undefined && matchesNodeSelector(place.nodeSelector, node))
  return (spec.devices ?? [])
    .filter((device) => isAt(spec.perDeviceNodeSelection ? device : spec))
    .map((device) => ({
      id: deviceId(spec.driver, spec.pool.name, device.name),
      driver: spec.driver,
      pool: spec.pool.name,
      device,
      isOnNode: (spec.nodeName ?? device.nodeName) !== undefined,
    }))
}

function resultOf(
  claim: ResourceClaim,
  picked: readonly Picked[],
  node: Node,
  classOf: (name: string) => DeviceClass | undefined,
): AllocationResult {
  const results = picked.map(({ driver, pool, device, want }): DeviceRequestAllocationResult => ({
    request: want.name,
    driver,
    pool,
    device: device.name,
    ...(want.isAdmin && { adminAccess: true }),
    ...(want.tolerations.length > 0 && { tolerations: want.tolerations }),
  }))
  const wants = [...new Map(picked.map(({ want }) => [want.name, want])).values()]
  const ofClasses = wants.flatMap(({ name, deviceClassName }) =>
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

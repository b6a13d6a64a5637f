// Device pools: the devices that a node can reach, and the counters that devices of a pool share.
import { matchesNodeSelector } from '../../../api/core/v1/pod-spec/node-selection.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { Device } from '../../../api/resource/v1/resource-slice-spec.ts'
import type { ResourceSlice } from '../../../api/resource/v1/resource-slice.ts'
import { quantityNanos } from '../../../schema/scalar/quantity.ts'

/** A device that the node can reach. */
export interface ReachableDevice {
  readonly id: string
  readonly driver: string
  readonly pool: string
  readonly device: Device
  readonly isOnNode: boolean
  /** Amounts of the pool's counters that the device consumes while it is allocated. */
  readonly counterAmounts: CounterAmounts
}

/** Amounts in billionths, by counter. */
export type CounterAmounts = ReadonlyMap<string, bigint>

export interface DevicePools {
  readonly devices: readonly ReachableDevice[]
  /** Remaining amounts of the counters. */
  readonly left: CounterAmounts
}

export const deviceId = (driver: string, pool: string, device: string): string => `${driver}/${pool}/${device}`

export const nanosOf = (quantity: string | undefined): bigint => quantityNanos(quantity ?? '0') ?? 0n

/** The devices of all complete pools, in their newest generation. */
export function devicePools(slices: readonly ResourceSlice[], node: Node, taken: ReadonlySet<string>): DevicePools {
  const devices: ReachableDevice[] = []
  const left = new Map<string, bigint>()
  for (const members of newestOf(slices)) {
    for (const { spec } of members)
      for (const { name, counters } of spec.sharedCounters ?? [])
        for (const [counter, { value }] of Object.entries(counters))
          left.set(counterKey(spec, name, counter), nanosOf(value))
    for (const { spec } of members)
      for (const device of spec.devices ?? []) {
        const id = deviceId(spec.driver, spec.pool.name, device.name)
        const counterAmounts = counterAmountsOf(spec, device)
        if (taken.has(id)) for (const [key, amount] of counterAmounts) left.set(key, (left.get(key) ?? 0n) - amount)
        if (!isAt(spec.perDeviceNodeSelection ? device : spec, node)) continue
        const isOnNode = (spec.nodeName ?? device.nodeName) !== undefined || device.bindsToNode === true
        devices.push({ id, driver: spec.driver, pool: spec.pool.name, device, isOnNode, counterAmounts })
      }
  }
  return { devices, left }
}

function newestOf(slices: readonly ResourceSlice[]): ResourceSlice[][] {
  const pools = new Map<string, ResourceSlice[]>()
  for (const slice of slices) {
    const { driver, pool } = slice.spec
    const key = `${driver}/${pool.name}`
    const known = pools.get(key)
    const newest = known?.[0]?.spec.pool.generation ?? -1
    if (known === undefined || pool.generation > newest) pools.set(key, [slice])
    else if (pool.generation === newest) known.push(slice)
  }
  return [...pools.values()].filter((members) => members.length >= (members[0]?.spec.pool.resourceSliceCount ?? 0))
}

const isAt = (place: Pick<Device, 'nodeName' | 'nodeSelector' | 'allNodes'>, node: Node): boolean =>
  place.nodeName === node.metadata.name ||
  place.allNodes === true ||
  (place.nodeSelector !== undefined && matchesNodeSelector(place.nodeSelector, node))

const counterKey = ({ driver, pool }: ResourceSlice['spec'], set: string, counter: string): string =>
  `${driver}/${pool.name}/${set}/${counter}`

const noCounterAmounts: CounterAmounts = new Map()

const counterAmountsOf = (spec: ResourceSlice['spec'], { consumesCounters }: Device): CounterAmounts =>
  consumesCounters === undefined
    ? noCounterAmounts
    : new Map(
        consumesCounters.flatMap(({ counterSet, counters }) =>
          Object.entries(counters).map(([name, { value }]) => [counterKey(spec, counterSet, name), nanosOf(value)]),
        ),
      )

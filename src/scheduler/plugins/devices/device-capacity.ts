// Device capacity: how much of a device a request gets. A device that allows multiple allocations is shared by
// capacity; any other device must have at least the requested capacity.
import { lookup } from '../../../base/collections/lookup.ts'
import type { CapacityRequirements } from '../../../api/resource/v1/device-requests.ts'
import type { CapacityRequestPolicy, Device } from '../../../api/resource/v1/resource-slice-spec.ts'
import { quantityText } from '../../../schema/scalar/quantity.ts'
import { nanosOf } from './device-pools.ts'

/** Amounts in billionths, by capacity name. */
export type Share = ReadonlyMap<string, bigint>

export const isShareable = ({ allowMultipleAllocations }: Device): boolean => allowMultipleAllocations === true

/** The share of the device that the request consumes, empty for a whole device; undefined when it requests too much. */
export function shareOf(device: Device, requirements: CapacityRequirements | undefined): Share | undefined {
  const requests = requirements?.requests ?? {}
  const capacity = device.capacity ?? {}
  for (const [name, wanted] of Object.entries(requests)) {
    const offered = lookup(capacity, name)
    if (offered === undefined || nanosOf(wanted) > nanosOf(offered.value)) return undefined
  }
  const share = new Map<string, bigint>()
  if (!isShareable(device)) return share
  for (const [name, { value, requestPolicy }] of Object.entries(capacity)) {
    const wanted = lookup(requests, name)
    const given =
      requestPolicy === undefined
        ? nanosOf(wanted ?? value)
        : byPolicy(requestPolicy, wanted ?? requestPolicy.default ?? undefined)
    if (given === undefined || given > nanosOf(value)) return undefined
    share.set(name, given)
  }
  return share
}

/** The smallest amount that the policy allows for the request. */
function byPolicy({ validValues, validRange }: CapacityRequestPolicy, wanted: string | undefined): bigint | undefined {
  const amount = nanosOf(wanted)
  if (validValues !== undefined && validValues.length > 0)
    return validValues
      .map(nanosOf)
      .filter((value) => value >= amount)
      .reduce<bigint | undefined>((least, value) => (least === undefined || value < least ? value : least), undefined)
  if (validRange === undefined) return amount
  const { min, max, step } = validRange
  const least = nanosOf(min)
  const over = amount - least
  const stepNanos = nanosOf(step)
  const steps = stepNanos === 0n ? 0n : (over + stepNanos - 1n) / stepNanos
  const given = amount <= least ? least : stepNanos === 0n ? amount : least + steps * stepNanos
  return max !== undefined && given > nanosOf(max) ? undefined : given
}

/** Whether the remaining capacity of the device is sufficient. */
export const hasRoom = ({ capacity = {} }: Device, share: Share, others: readonly Share[]): boolean =>
  [...share].every(([name, amount]) => {
    const used = others.reduce((sum, other) => sum + (other.get(name) ?? 0n), 0n)
    return used + amount <= nanosOf(lookup(capacity, name)?.value)
  })

export const consumedBy = ({ capacity = {} }: Device, share: Share): Record<string, string> =>
  Object.fromEntries([...share].map(([name, amount]) => [name, quantityText(amount, lookup(capacity, name)?.value)]))

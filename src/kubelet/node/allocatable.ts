// The allocatable resources of a node: its capacity minus system and kubelet reservations and hard eviction thresholds.
import { quantityNanos, quantityText } from '../../schema/scalar/quantity.ts'
import type { HugePages } from '../../machine/load/host-load.ts'
import { amountOf, type Threshold } from '../eviction/thresholds.ts'
import type { ResourceAmounts } from '../resources/resource-amounts.ts'

const signalResources = { 'memory.available': 'memory', 'nodefs.available': 'ephemeral-storage' } as const
const nanosPerUnit = 1_000_000_000n

/** Huge page capacity by page size: `hugepages-2Mi`. */
export const hugePageAmounts = (sizes: readonly HugePages[]): ResourceAmounts =>
  Object.fromEntries(
    sizes.map(({ pageBytes, pages }) => [`hugepages-${bytesText(pageBytes)}`, bytesText(pageBytes * pages)]),
  )

const bytesText = (bytes: number): string => quantityText(BigInt(bytes) * nanosPerUnit, '1Ki')

export function allocatableOf(
  capacity: ResourceAmounts,
  reservations: readonly ResourceAmounts[],
  thresholds: readonly Threshold[],
): ResourceAmounts {
  const held = new Map<string, bigint>()
  const hold = (name: string, nanos: bigint) => held.set(name, (held.get(name) ?? 0n) + nanos)
  for (const reservation of reservations)
    for (const [name, text] of Object.entries(reservation)) hold(name, quantityNanos(text) ?? 0n)
  for (const { signal, below, graceMs } of thresholds) {
    const name = signal === 'memory.available' || signal === 'nodefs.available' ? signalResources[signal] : undefined
    if (name === undefined || graceMs > 0) continue
    const units = Number((quantityNanos(capacity[name] ?? '0') ?? 0n) / nanosPerUnit)
    hold(name, BigInt(amountOf(below, units)) * nanosPerUnit)
  }
  return Object.fromEntries(
    Object.entries(capacity).map(([name, text]) => {
      const reserved = held.get(name)
      if (reserved === undefined) return [name, text]
      const left = (quantityNanos(text) ?? 0n) - reserved
      return [name, quantityText(left > 0n ? left : 0n, text)]
    }),
  )
}

// DisjointRanges: a set of ranges of which no two have addresses in common. Finding an overlap takes logarithmic time, because
// a cluster has thousands of ranges.
import { familyOf, type AddressFamily } from '../text/address-family.ts'
import { cidrBounds, prefixLengthOf, type Cidr } from './cidr.ts'

interface Entry<T> {
  readonly first: bigint
  readonly last: bigint
  readonly value: T
}

export class DisjointRanges<T> {
  readonly #entries: Readonly<Record<AddressFamily, Entry<T>[]>> = { IPv4: [], IPv6: [] }

  /** The ranges, without those that are part of another. Two CIDRs are disjoint, or one contains the other. */
  static of<T>(items: Iterable<{ readonly range: Cidr; readonly value: T }>): DisjointRanges<T> {
    const ranges = new DisjointRanges<T>()
    const widestFirst = [...items].toSorted((a, b) => prefixLengthOf(a.range) - prefixLengthOf(b.range))
    for (const { range, value } of widestFirst) if (ranges.overlapping(range) === undefined) ranges.add(range, value)
    return ranges
  }

  /** The value of a range that has addresses in common with this one. */
  overlapping(range: Cidr): T | undefined {
    const { first, last } = cidrBounds(range)
    const entries = this.#entries[familyOf(range)]
    // Entries are disjoint and in order, so those before this index end before the range begins.
    const found = entries[indexAfter(entries, first)]
    return found !== undefined && found.first <= last ? found.value : undefined
  }

  /** `range` overlaps no other. */
  add(range: Cidr, value: T): void {
    const entries = this.#entries[familyOf(range)]
    const bounds = cidrBounds(range)
    entries.splice(indexAfter(entries, bounds.first), 0, { ...bounds, value })
  }
}

/** The index of the first entry that does not end before the address. */
function indexAfter(entries: readonly Entry<unknown>[], address: bigint): number {
  let [from, to] = [0, entries.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((entries[middle]?.last ?? 0n) < address) from = middle + 1
    else to = middle
  }
  return from
}

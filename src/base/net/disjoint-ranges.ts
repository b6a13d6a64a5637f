// DisjointRanges: a set of ranges of which no two have addresses in common. Finding an overlap takes logarithmic time, because
// a cluster has thousands of ranges. The kernel rejects a set of ranges that overlap.
import { familyOf, type AddressFamily } from './address-family.ts'
import { cidrBounds, type Cidr } from './cidr.ts'

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
    const sorted = Array.from(items, ({ range, value }) => ({ family: familyOf(range), value, ...cidrBounds(range) }))
    // A range is before those that it contains.
    sorted.sort((a, b) => compare(a.first, b.first) || compare(b.last, a.last))
    for (const { family, first, last, value } of sorted) {
      const entries = ranges.#entries[family]
      const previous = entries.at(-1)
      if (previous === undefined || first > previous.last) entries.push({ first, last, value })
    }
    return ranges
  }

  /** By family, and in the order of their addresses. */
  values(): readonly T[] {
    return [...this.#entries.IPv4, ...this.#entries.IPv6].map(({ value }) => value)
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
  let from = 0
  let to = entries.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((entries[middle]?.last ?? 0n) < address) from = middle + 1
    else to = middle
  }
  return from
}

const compare = (a: bigint, b: bigint): number => (a === b ? 0 : a < b ? -1 : 1)

/** Those of the CIDRs that no other contains, in the order of their addresses. */
export const disjointCidrs = (cidrs: Iterable<Cidr>): readonly Cidr[] =>
  DisjointRanges.of(Array.from(cidrs, (cidr) => ({ range: cidr, value: cidr }))).values()

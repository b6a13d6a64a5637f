// disjointCidrs: ranges without those that others contain. The kernel rejects a set of ranges that overlap.
import { familyOf } from '../text/address-family.ts'
import { cidrBounds, prefixLengthOf, type Cidr } from './cidr.ts'

/** Those of the CIDRs that no other contains, in the order of their addresses. Two CIDRs never overlap in part. */
export function disjointCidrs(cidrs: Iterable<Cidr>): readonly Cidr[] {
  const sorted = Array.from(new Set(cidrs), (cidr) => ({ cidr, family: familyOf(cidr), ...cidrBounds(cidr) })).toSorted(
    (a, b) =>
      (a.family === b.family ? 0 : a.family < b.family ? -1 : 1) ||
      (a.first === b.first ? 0 : a.first < b.first ? -1 : 1) ||
      prefixLengthOf(a.cidr) - prefixLengthOf(b.cidr),
  )
  const kept: typeof sorted = []
  for (const each of sorted) {
    const outer = kept.at(-1)
    if (outer === undefined || outer.family !== each.family || each.first > outer.last) kept.push(each)
  }
  return kept.map(({ cidr }) => cidr)
}

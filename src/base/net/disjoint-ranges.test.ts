import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseCidr, parseCidrs } from './cidr.ts'
import { disjointCidrs, DisjointRanges } from './disjoint-ranges.ts'

const ranges = new DisjointRanges<string>()
for (const text of ['10.2.0.0/16', '10.0.0.0/24', '10.1.0.0/16', 'fd00:1::/64', '192.0.2.1/32'])
  ranges.add(mustParseCidr(text), text)

const rows: readonly [range: string, overlapping: string | undefined][] = [
  ['10.0.0.0/24', '10.0.0.0/24'],
  ['10.0.0.128/25', '10.0.0.0/24'],
  ['10.0.1.0/24', undefined],
  ['10.1.2.3/32', '10.1.0.0/16'],
  ['10.3.0.0/16', undefined],
  ['9.255.255.255/32', undefined],
  ['192.0.2.0/24', '192.0.2.1/32'],
  ['192.0.3.0/24', undefined],
  ['0.0.0.0/0', '10.0.0.0/24'],
  ['::/0', 'fd00:1::/64'],
  ['fd00:2::/64', undefined],
]

for (const [range, expected] of rows)
  test(`${range} overlaps ${expected ?? 'nothing'}`, () => equal(ranges.overlapping(mustParseCidr(range)), expected))

test('ranges that contain one another are the widest', () => {
  const nested = ['10.0.0.0/24', '10.0.0.0/8', '192.0.2.0/24'].map((value) => ({ range: mustParseCidr(value), value }))
  const found = DisjointRanges.of(nested)
  deepEqual(
    ['10.0.0.1/32', '10.1.0.0/16', '192.0.2.0/25', '172.16.0.0/12'].map((text) =>
      found.overlapping(mustParseCidr(text)),
    ),
    ['10.0.0.0/8', '10.0.0.0/8', '192.0.2.0/24', undefined],
  )
})

test('an empty set', () => deepEqual(new DisjointRanges().overlapping(mustParseCidr('0.0.0.0/0')), undefined))

const sets: readonly (readonly [string, string[], string[]])[] = [
  ['none', [], []],
  ['equal ranges', ['10.0.0.0/8', '10.1.0.0/8'], ['10.0.0.0/8']],
  ['a range in another', ['10.1.0.0/16', '10.0.0.0/8', '11.0.0.0/8'], ['10.0.0.0/8', '11.0.0.0/8']],
  ['the same first address', ['10.0.0.0/24', '10.0.0.0/8', '10.0.0.0/16'], ['10.0.0.0/8']],
  ['neighbours', ['10.0.1.0/24', '10.0.0.0/24'], ['10.0.0.0/24', '10.0.1.0/24']],
  ['families', ['::/0', '0.0.0.0/0', 'fd00::/8'], ['0.0.0.0/0', '::/0']],
]
for (const [name, cidrs, expected] of sets)
  test(`disjoint CIDRs: ${name}`, () => deepEqual(disjointCidrs(parseCidrs(cidrs)), expected))

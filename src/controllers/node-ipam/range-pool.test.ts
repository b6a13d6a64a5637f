// Which ranges are given, held and given back.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { RangePool } from './range-pool.ts'

const takeAll = (pool: RangePool): string[] => {
  const all: string[] = []
  for (let range = pool.take(); range !== undefined; range = pool.take()) all.push(range)
  return all
}

const cases: [why: string, cidr: string, maskSize: number, held: string[], given: string[]][] = [
  ['one after the other', '10.0.0.0/22', 24, [], ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']],
  ['none that is held', '10.0.0.0/23', 24, ['10.0.0.0/24'], ['10.0.1.0/24']],
  ['none that overlaps a larger one', '10.0.0.0/22', 24, ['10.0.2.0/23'], ['10.0.0.0/24', '10.0.1.0/24']],
  ['none that overlaps a smaller one', '10.0.0.0/23', 24, ['10.0.1.128/25'], ['10.0.0.0/24']],
  ['nothing from a range that belongs to another', '10.0.0.0/23', 24, ['10.0.0.0/8'], []],
  ['what others hold elsewhere is no matter', '10.0.0.0/24', 24, ['10.1.0.0/16', 'fd00::/8'], ['10.0.0.0/24']],
  ['the whole range in one', '10.9.0.0/16', 16, [], ['10.9.0.0/16']],
  [
    'of the other family',
    'fd00:1::/62',
    64,
    ['fd00:1:0:1::/64'],
    ['fd00:1::/64', 'fd00:1:0:2::/64', 'fd00:1:0:3::/64'],
  ],
]
for (const [why, cidr, maskSize, held, given] of cases)
  test(`ranges of nodes: ${why}`, () => {
    const pool = new RangePool({ cidr, maskSize })
    for (const each of held) pool.reserve(each)
    deepEqual(takeAll(pool), given)
  })

test('what is given back comes last; what two hold is free when both have let go', () => {
  const pool = new RangePool({ cidr: '10.0.0.0/22', maskSize: 24 })
  equal(pool.take(), '10.0.0.0/24')
  pool.release('10.0.0.0/24')
  pool.reserve('10.0.2.0/24')
  pool.reserve('10.0.2.0/24')
  pool.release('10.0.2.0/24')
  deepEqual(takeAll(pool), ['10.0.1.0/24', '10.0.3.0/24', '10.0.0.0/24'])
  pool.release('10.0.2.0/24')
  deepEqual(takeAll(pool), ['10.0.2.0/24'])
})

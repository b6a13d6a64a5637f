// Reserving and releasing ranges.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { RangePool } from './range-pool.ts'

const takeAll = (pool: RangePool): string[] => {
  const all: string[] = []
  for (let range = pool.take(); range !== undefined; range = pool.take()) all.push(range)
  return all
}

const cases: [why: string, cidr: string, maskSize: number, held: string[], given: string[]][] = [
  ['in order', '10.0.0.0/22', 24, [], ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']],
  ['none that is reserved', '10.0.0.0/23', 24, ['10.0.0.0/24'], ['10.0.1.0/24']],
  ['none within a larger reserved range', '10.0.0.0/22', 24, ['10.0.2.0/23'], ['10.0.0.0/24', '10.0.1.0/24']],
  ['none that contains a smaller reserved range', '10.0.0.0/23', 24, ['10.0.1.128/25'], ['10.0.0.0/24']],
  ['none if the whole pool is reserved', '10.0.0.0/23', 24, ['10.0.0.0/8'], []],
  ['reserved ranges outside the pool have no effect', '10.0.0.0/24', 24, ['10.1.0.0/16', 'fd00::/8'], ['10.0.0.0/24']],
  ['a single range', '10.9.0.0/16', 16, [], ['10.9.0.0/16']],
  ['IPv6', 'fd00:1::/62', 64, ['fd00:1:0:1::/64'], ['fd00:1::/64', 'fd00:1:0:2::/64', 'fd00:1:0:3::/64']],
]
for (const [why, cidr, maskSize, held, given] of cases)
  test(`ranges of nodes: ${why}`, () => {
    const pool = new RangePool({ cidr, maskSize })
    for (const each of held) pool.reserve(each)
    deepEqual(takeAll(pool), given)
  })

test('a released range is reused last; one with two holders is free when both have released it', () => {
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

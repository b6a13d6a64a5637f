import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { portEndpoint } from '../routing/endpoint-selection.ts'
import { endpointAt } from '../routing/routing.harness.ts'
import { inSlots } from './slot-order.ts'

const endpoints = (names: string) =>
  names === '' ? [] : names.split(' ').map((name) => portEndpoint(endpointAt(name), 80, { name: 'node-a' }))

const rows: readonly (readonly [string, before: string, now: string, expected: string])[] = [
  ['no endpoints before', '', 'a b', 'a b'],
  ['the same endpoints in another order', 'a b c', 'c b a', 'a b c'],
  ['one is replaced', 'a b c', 'a d c', 'a d c'],
  ['one is removed: the last takes its slot', 'a b c', 'b c', 'c b'],
  ['the last is removed', 'a b c', 'a b', 'a b'],
  ['one is added', 'a b', 'c a b', 'a b c'],
  ['all are replaced', 'a b', 'c d e', 'c d e'],
]

for (const [name, before, now, expected] of rows)
  test(`slots: ${name}`, () =>
    equal(
      inSlots(endpoints(before), endpoints(now))
        .map(({ address }) => address)
        .join(' '),
      expected,
    ))

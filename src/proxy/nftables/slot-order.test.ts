import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { portEndpoint } from '../routing/endpoint-selection.ts'
import { endpointAt } from '../routing/routing.harness.ts'
import { inSlots } from './slot-order.ts'

/** Endpoints by their last octets. */
const endpoints = (octets: string) =>
  octets === ''
    ? []
    : octets.split(' ').flatMap((octet) => portEndpoint(endpointAt(`10.0.0.${octet}`), 80, { name: 'node-a' }) ?? [])

const rows: readonly (readonly [string, before: string, now: string, expected: string])[] = [
  ['no endpoints before', '', '1 2', '1 2'],
  ['the same endpoints in another order', '1 2 3', '3 2 1', '1 2 3'],
  ['one is replaced', '1 2 3', '1 4 3', '1 4 3'],
  ['one is removed: the last takes its slot', '1 2 3', '2 3', '3 2'],
  ['the last is removed', '1 2 3', '1 2', '1 2'],
  ['one is added', '1 2', '3 1 2', '1 2 3'],
  ['all are replaced', '1 2', '3 4 5', '3 4 5'],
]

for (const [name, before, now, expected] of rows)
  test(`slots: ${name}`, () =>
    equal(
      inSlots(endpoints(before), endpoints(now))
        .map(({ address }) => address.split('.')[3])
        .join(' '),
      expected,
    ))

import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { nextAddress } from './simulated-addresses.ts'

const cases: [why: string, range: string, last: string, taken: string[], next: string | undefined][] = [
  ['the first one', '10.244.0.0/24', '', [], '10.244.0.2'],
  ['the one after', '10.244.0.0/24', '10.244.0.2', [], '10.244.0.3'],
  ['the next free one', '10.244.0.0/24', '10.244.0.2', ['10.244.0.3'], '10.244.0.4'],
  ['from the beginning after the last', '10.244.0.0/24', '10.244.0.254', [], '10.244.0.2'],
  ['from the beginning of another range', '10.244.3.0/24', '10.244.0.9', [], '10.244.3.2'],
  ['none when all are taken', '10.0.0.0/29', '', ['2', '3', '4', '5', '6'].map((n) => `10.0.0.${n}`), undefined],
  ['beyond the byte', '10.1.0.0/22', '10.1.0.255', [], '10.1.1.0'],
]
for (const [why, range, last, taken, next] of cases)
  test(`the next address: ${why}`, () => {
    equal(
      nextAddress(range, last, (address) => taken.includes(address)),
      next,
    )
  })

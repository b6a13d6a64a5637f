// Pairs of keys in the order of upstream.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { compareKeys } from './key-order.ts'

const ordered: [name: string, first: string, second: string][] = [
  ['the empty key is first', '', 'a'],
  ['a key is before its continuation', 'a1', 'a1-'],
  ['numbers are compared by value', '9', '10'],
  ['numbers within a key are compared by value', 'x11', 'x100'],
  ['common digits before the difference belong to the number', 'x11', 'x101'],
  ['of equal numbers, the one with fewer zeros is first', 'a9', 'a09'],
  ['a key without a number is before one with zero', 'a-', 'a0'],
  ['a number without further digits is before one with them', 'a0-', 'a00'],
  ['numbers without leading zeros are not limited to 64 bits', 'a99999999999999999999', 'a100000000000000000000'],
  ['upper case is before lower case', 'Z', 'a'],
  ['a letter is after another character', 'a_b', 'ab'],
  ['a letter is after a digit', 'a10', 'a1b'],
  ['a letter after a smaller number', 'a1b', 'a2'],
  ['other characters are compared by code', 'a-b', 'a.b'],
  ['code points are compared, not units', '\uffee', '😀'],
]
for (const [name, first, second] of ordered)
  test(name, () => {
    equal(compareKeys(first, second) < 0, true)
    equal(compareKeys(second, first) > 0, true)
    equal(compareKeys(first, first), 0)
  })

import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { macOfOctets, parseMac } from './mac-address.ts'

test('a hardware address has one spelling', () => {
  equal(parseMac('02:58:0A:f4:01:00'), '02:58:0a:f4:01:00')
  equal(macOfOctets([0x02, 0x58, 0x0a, 0xf4, 1, 0]), '02:58:0a:f4:01:00')
})

for (const text of [
  '',
  '02:58:0a:f4:01',
  '02:58:0a:f4:01:00:00',
  '2:58:0a:f4:01:00',
  '02-58-0a-f4-01-00',
  '02:58:0a:f4:01:00\n',
])
  test(`${JSON.stringify(text)} is not a hardware address`, () => equal(parseMac(text), undefined))

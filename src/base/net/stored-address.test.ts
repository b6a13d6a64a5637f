import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { parseStoredCidr, parseStoredIp } from './stored-address.ts'

const addresses: readonly (readonly [string, string | undefined])[] = [
  ['10.0.0.1', '10.0.0.1'],
  ['010.000.0.001', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['2001:DB8:0::1', '2001:db8::1'],
  ['10.0.0.256', undefined],
  ['10.0.0', undefined],
  [`10.0.0.${'0'.repeat(100)}1`, undefined],
  ['10.0.0.1\n', undefined],
  ['fe80::1%eth0', undefined],
  ['', undefined],
]
for (const [text, expected] of addresses)
  test(`the stored address ${JSON.stringify(text.slice(0, 20))}`, () => equal(parseStoredIp(text), expected))

const cidrs: readonly (readonly [string, string | undefined])[] = [
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['10.0.0.0/008', '10.0.0.0/8'],
  ['010.1.2.3/08', '10.0.0.0/8'],
  ['::ffff:10.1.0.0/104', '10.0.0.0/8'],
  ['::ffff:10.1.0.0/24', undefined],
  ['FD00:0::/064', 'fd00::/64'],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0/+8', undefined],
  ['10.0.0.0/', undefined],
  ['10.0.0.0', undefined],
  ['10.0.0.0/8\nflush ruleset', undefined],
]
for (const [text, expected] of cidrs)
  test(`the stored CIDR ${JSON.stringify(text)}`, () => equal(parseStoredCidr(text), expected))

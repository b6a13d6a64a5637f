import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isCidrSloppy, isIpSloppy, parseCidrSloppy, parseIpSloppy, parseCidrsSloppy } from './sloppy-address.ts'

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
  test(`the stored address ${JSON.stringify(text.slice(0, 20))}`, () => {
    equal(parseIpSloppy(text), expected)
    equal(isIpSloppy(text), expected !== undefined)
  })

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
  test(`the stored CIDR ${JSON.stringify(text)}`, () => equal(parseCidrSloppy(text), expected))

test('a short prefix of an IPv4 address in IPv6 notation is accepted, but is no range', () => {
  equal(isCidrSloppy('::ffff:10.1.0.0/24'), true)
  equal(isCidrSloppy('10.0.0.0/33'), false)
})

test('those of the texts that are ranges, each once', () =>
  deepEqual(parseCidrsSloppy(['10.0.0.0/08', 'x', '10.0.0.0/8', '010.1.0.0/8']), ['10.0.0.0/8']))

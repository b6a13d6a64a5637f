import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { cidrBounds, cidrContains, cidrHasAddress, cidrOfAddress, cidrsOverlap, networkAddressOf } from './cidr.ts'
import { addressAt, cidrSize, parseCidr, parseCidrs, parsePrefix, prefixLengthOf, type Cidr } from './cidr.ts'
import { parseIp, type IpAddress } from './ip-address.ts'

const rows: readonly [text: string, canonical: string | undefined][] = [
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['10.1.2.3/32', '10.1.2.3/32'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['10.0.0.0/008', undefined],
  ['10.0.0.0/08', undefined],
  ['10.0.0.0/00', undefined],
  ['010.0.0.0/8', undefined],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0/-1', undefined],
  ['10.0.0.0/+8', undefined],
  ['10.0.0.0/8.0', undefined],
  ['10.0.0.0/8/8', undefined],
  ['10.0.0.0/', undefined],
  ['10.0.0.0', undefined],
  ['10.0.0.0/8\n', undefined],
  ['10.0.0.0/8 via 10.0.0.1', undefined],
  ['/8', undefined],
  ['', undefined],
  ['FD00:0::1/64', 'fd00::/64'],
  ['::/0', '::/0'],
  ['fd00::/128', 'fd00::/128'],
  ['fd00::/129', undefined],
  ['::ffff:10.0.0.0/104', undefined],
  [`10.0.0.0/${'9'.repeat(100_000)}`, undefined],
]

for (const [text, expected] of rows)
  test(`the canonical form of ${JSON.stringify(text.slice(0, 60))}`, () => equal(parseCidr(text), expected))

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text)
  ok(parsed, text)
  return parsed
}

test('those of the texts that are ranges, each once', () =>
  deepEqual(parseCidrs(['10.0.0.1/8', '10.0.0.0/008', '10.0.0.0/8']), ['10.0.0.0/8']))

test('the parts of a range', () => {
  deepEqual([networkAddressOf(cidr('10.1.0.0/16')), prefixLengthOf(cidr('10.1.0.0/16'))], ['10.1.0.0', 16])
  deepEqual(cidrBounds(cidr('10.1.0.0/16')), { first: 0x0a010000n, last: 0x0a01ffffn })
  equal(cidrOfAddress(parseIp('fd00::1') as IpAddress), 'fd00::1/128')
})

const pairs: readonly [one: string, other: string, overlap: boolean, contains: boolean][] = [
  ['10.0.0.0/8', '10.1.0.0/16', true, true],
  ['10.1.0.0/16', '10.0.0.0/8', true, false],
  ['10.0.0.0/8', '10.0.0.0/8', true, true],
  ['10.0.0.0/9', '10.128.0.0/9', false, false],
  ['0.0.0.0/0', '10.128.0.0/9', true, true],
  ['0.0.0.0/0', 'fd00::/64', false, false],
  ['fd00::/64', 'fd00::1/128', true, true],
]

for (const [one, other, overlap, contains] of pairs)
  test(`${one} and ${other}`, () => {
    deepEqual([cidrsOverlap(cidr(one), cidr(other)), cidrContains(cidr(one), cidr(other))], [overlap, contains])
    equal(cidrHasAddress(cidr(one), networkAddressOf(cidr(other))), contains)
  })

test('a prefix has the address as it is written', () => {
  deepEqual(parsePrefix('10.1.2.3/8'), { address: '10.1.2.3', length: 8 })
  deepEqual(parsePrefix('FD00:0::1/64'), { address: 'fd00::1', length: 64 })
  equal(parsePrefix('10.1.2.3/08'), undefined)
})

test('the size of a range, and its addresses by number', () => {
  deepEqual(
    ['10.0.0.0/24', '10.0.0.1/32', '::/0'].map((text) => cidrSize(cidr(text))),
    [256n, 1n, 1n << 128n],
  )
  deepEqual([addressAt(cidr('10.0.0.0/16'), 257n), addressAt(cidr('fd00::/64'), 10n)], ['10.0.1.1', 'fd00::a'])
})

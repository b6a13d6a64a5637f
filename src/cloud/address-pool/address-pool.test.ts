// AddressPool: ranges as text, membership, the first free address.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { AddressPool } from './address-pool.ts'

const all = (text: string, family: 'IPv4' | 'IPv6' = 'IPv4'): readonly string[] => {
  const pool = AddressPool.parse(text)
  const found = new Set<string>()
  for (let next = pool.firstFree(family, () => false); next !== undefined;) {
    found.add(next)
    next = pool.firstFree(family, (address) => found.has(address))
  }
  return [...found]
}

const ranges: readonly [name: string, text: string, family: 'IPv4' | 'IPv6', addresses: readonly string[]][] = [
  ['a range has both of its ends', '10.0.0.255-10.0.1.1', 'IPv4', ['10.0.0.255', '10.0.1.0', '10.0.1.1']],
  ['a single address', '10.0.0.7', 'IPv4', ['10.0.0.7']],
  ['a CIDR lacks the addresses of network and broadcast', '10.0.0.4/30', 'IPv4', ['10.0.0.5', '10.0.0.6']],
  ['a CIDR of two addresses has both', '10.0.0.4/31', 'IPv4', ['10.0.0.4', '10.0.0.5']],
  ['a CIDR of IPv6 lacks the address of all routers', 'fd00::/126', 'IPv6', ['fd00::1', 'fd00::2', 'fd00::3']],
  ['several ranges, in order', '10.0.0.9, 10.0.0.1-10.0.0.2,fd00::1', 'IPv4', ['10.0.0.9', '10.0.0.1', '10.0.0.2']],
  ['the other family is left out', '10.0.0.9,fd00::1', 'IPv6', ['fd00::1']],
]
for (const [name, text, family, addresses] of ranges) test(name, () => deepEqual(all(text, family), addresses))

const invalid: readonly [text: string, message: RegExp][] = [
  ['', /"" is neither an address, nor two addresses a-b, nor a CIDR/],
  ['10.0.0.9-10.0.0.1', /"10.0.0.9-10.0.0.1" ends before it begins/],
  ['10.0.0.1-fd00::1', /is neither an address/],
  ['10.0.0.1-10.0.0.2-10.0.0.3', /is neither an address/],
  ['10.0.0.0/33', /"10.0.0.0\/33" is not a CIDR/],
  [Array.from({ length: 101 }, () => '10.0.0.1').join(), /there are more than 100 ranges/],
]
for (const [text, message] of invalid)
  test(`${JSON.stringify(text.slice(0, 30))} is rejected`, () => throws(() => AddressPool.parse(text), { message }))

test('a pool knows its families and addresses, also those of a range that cannot be enumerated', () => {
  const pool = AddressPool.parse('fd00::/64')
  deepEqual([pool.has('IPv4'), pool.has('IPv6')], [false, true])
  deepEqual(
    [pool.contains('fd00::ffff'), pool.contains('fd00:0:0:1::'), pool.contains('10.0.0.1')],
    [true, false, false],
  )
  equal(
    pool.firstFree('IPv6', (address) => address === 'fd00::1'),
    'fd00::2',
  )
})

test('an address has one spelling', () =>
  equal(
    AddressPool.parse('FD00:0::0F').firstFree('IPv6', () => false),
    'fd00::f',
  ))

import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { parseCidrs } from '../../base/net/cidr.ts'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { localAddressesIn } from './local-addresses.ts'

const local = ['127.0.0.1', '192.0.2.7', '198.51.100.1', '::1', '2001:db8::7', 'fe80::1']

const cases: [ranges: string[], found: string[]][] = [
  [['192.0.2.0/24'], ['192.0.2.7']],
  [
    ['198.51.100.0/24', '192.0.2.0/24'],
    ['192.0.2.7', '198.51.100.1'],
  ],
  [['0.0.0.0/0'], ['127.0.0.1', '192.0.2.7', '198.51.100.1']],
  [['::/0'], ['2001:db8::7', '::1']],
  [['10.0.0.0/8'], []],
]
for (const [ranges, found] of cases)
  test(`local addresses in ${ranges.join(', ')}`, () => deepEqual(localAddressesIn(parseCidrs(ranges), local), found))

test('the addresses of this machine', () =>
  ok(localAddressesIn(parseCidrs(['127.0.0.0/8'])).includes(mustParseIp('127.0.0.1'))))

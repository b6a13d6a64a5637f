// The addresses that requests may be proxied to. The results are those of kube-apiserver v1.36, except for the rows
// marked `stricter`, which it proxies to.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isProxyableAddress } from './proxyable-address.ts'

const addresses: [address: string, isProxyable: boolean, note?: 'stricter'][] = [
  ['10.0.0.7', true],
  ['100.64.0.1', true],
  ['192.0.2.2', true],
  ['240.0.0.1', true],
  ['fd00::1', true],
  ['2001:db8::1', true],
  ['', false],
  ['localhost', false],
  ['127.0.0.1', false],
  ['127.255.255.254', false],
  ['127.1', false],
  ['0x7f.1', false],
  ['2130706433', false],
  ['010.0.0.1', false],
  ['0.0.0.0', false],
  ['0.1.2.3', false, 'stricter'],
  ['169.254.1.1', false],
  ['169.254.169.254', false],
  ['224.0.0.1', false],
  ['239.1.2.3', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['0:0:0:0:0:0:0:1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:7f00:1', false],
  ['::FFFF:7F00:1', false],
  ['0:0:0:0:0:ffff:7f00:1', false],
  ['::127.0.0.1', false, 'stricter'],
  ['::7f00:1', false, 'stricter'],
  ['::ffff:0:7f00:1', false, 'stricter'],
  ['::ffff:10.0.0.7', false, 'stricter'],
  ['64:ff9b::7f00:1', false, 'stricter'],
  ['64:ff9b::a9fe:a9fe', false, 'stricter'],
  ['64:ff9b::a00:7', true],
  ['2002:7f00:1::', false, 'stricter'],
  ['2002:a00:7::1', true],
  ['fe80::1', false],
  ['febf::1', false],
  ['fe80::1%lo', false],
  ['fec0::1', true],
  ['ff01::1', false],
  ['ff02::1', false],
  ['ff0e::1', false],
]
for (const [address, isProxyable] of addresses)
  test(`a request is ${isProxyable ? '' : 'not '}proxied to ${JSON.stringify(address)}`, () =>
    equal(isProxyableAddress(address), isProxyable))

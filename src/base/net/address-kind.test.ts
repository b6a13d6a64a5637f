import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import * as kinds from './address-kind.ts'
import { mustParseIp } from './ip-address.ts'

const rows: readonly [text: string, ...kinds: (keyof typeof kinds)[]][] = [
  ['127.0.0.1', 'isLoopbackAddress', 'isUnicastAddress'],
  ['127.255.0.1', 'isLoopbackAddress', 'isUnicastAddress'],
  ['::1', 'isLoopbackAddress', 'isUnicastAddress'],
  ['10.0.0.1', 'isGlobalUnicastAddress', 'isUnicastAddress'],
  ['fd00::1', 'isGlobalUnicastAddress', 'isUnicastAddress'],
  ['::2', 'isGlobalUnicastAddress', 'isUnicastAddress'],
  ['0.0.0.0', 'isUnspecifiedAddress'],
  ['::', 'isUnspecifiedAddress'],
  ['169.254.0.1', 'isLinkLocalAddress', 'isUnicastAddress'],
  ['169.255.0.1', 'isGlobalUnicastAddress', 'isUnicastAddress'],
  ['fe80::1', 'isLinkLocalAddress', 'isUnicastAddress'],
  ['febf::1', 'isLinkLocalAddress', 'isUnicastAddress'],
  ['fec0::1', 'isGlobalUnicastAddress', 'isUnicastAddress'],
  ['224.0.0.1', 'isLinkLocalMulticastAddress', 'isMulticastAddress'],
  ['224.0.1.1', 'isMulticastAddress'],
  ['239.1.2.3', 'isMulticastAddress'],
  ['ff02::1', 'isLinkLocalMulticastAddress', 'isMulticastAddress'],
  ['ff32::1', 'isLinkLocalMulticastAddress', 'isMulticastAddress'],
  ['ff05::1', 'isMulticastAddress'],
  ['240.0.0.1', 'isGlobalUnicastAddress'],
  ['255.255.255.255'],
]
for (const [text, ...expected] of rows)
  test(`the kinds of ${text}`, () => {
    const address = mustParseIp(text)
    const found = Object.entries(kinds).flatMap(([name, is]) => (is(address) ? [name] : []))
    deepEqual(found.toSorted(), expected.toSorted())
  })

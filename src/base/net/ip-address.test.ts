import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { familyOf } from '../text/address-family.ts'
import {
  addressBits,
  addressOfBits,
  isIpv4Address,
  isLoopbackAddress,
  isUnicastAddress,
  isUnspecifiedAddress,
} from './ip-address.ts'
import { parseIp, parseIps } from './ip-address.ts'
import { ipBytes, ipText, isIpv4, isIpv6, maskedBytes } from './ip-bytes.ts'

const rows: readonly [text: string, canonical: string | undefined][] = [
  ['10.0.0.1', '10.0.0.1'],
  ['0.0.0.0', '0.0.0.0'],
  ['255.255.255.255', '255.255.255.255'],
  ['256.0.0.1', undefined],
  ['10.0.0', undefined],
  ['10.0.0.0.1', undefined],
  ['10.0.0.01', undefined],
  ['010.0.0.1', undefined],
  ['10.0.0.00', undefined],
  ['10..0.1', undefined],
  ['10.0.0.', undefined],
  ['.10.0.0', undefined],
  ['10.0.0.-1', undefined],
  ['10.0.0.x', undefined],
  ['10.0.0.1 ', undefined],
  ['10.0.0.1\n', undefined],
  ['10.0.0.1/32', undefined],
  ['٠.٠.٠.٠', undefined],
  ['', undefined],
  ['::', '::'],
  ['::1', '::1'],
  ['1::', '1::'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['FD00:0:0:0:1:0:0:1', 'fd00::1:0:0:1'],
  ['fd00:0:0:1:0:0:0:1', 'fd00:0:0:1::1'],
  ['2001:0db8::0001', '2001:db8::1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
  ['::ffff:10.0.0.1', undefined],
  ['::FFFF:a00:1', undefined],
  ['0:0:0:0:0:ffff:a00:1', undefined],
  ['1:2:3:4:5:6:7', undefined],
  ['1:2:3:4:5:6:7:8:9', undefined],
  ['1::2::3', undefined],
  ['1:2:3:4:5:6:7::8', undefined],
  ['10.0.0.1::', undefined],
  ['64:ff9b::192.0.2.01', undefined],
  ['fe80::1%eth0', undefined],
  [':', undefined],
  [':1::', undefined],
  ['12345::', undefined],
  ['::1\nnetns exec', undefined],
  [`::${'1'.repeat(100_000)}`, undefined],
  ['1:'.repeat(100_000), undefined],
]

for (const [text, expected] of rows) {
  const shown = JSON.stringify(text.slice(0, 60))
  test(`the canonical form of ${shown}`, () => equal(parseIp(text), expected))
  test(`an address is its bytes and its number: ${shown}`, () => {
    const address = parseIp(text)
    if (address === undefined) return equal(isIpv4(text), false)
    equal(ipText(ipBytes(address) ?? new Uint8Array()), address)
    equal(addressOfBits(familyOf(address), addressBits(address)), address)
    deepEqual([isIpv4(text), isIpv6(text)], [isIpv4Address(address), !isIpv4Address(address)])
  })
}

test('IPv4 in IPv6 notation has bytes, for certificates and records, but is not an address of a machine', () => {
  deepEqual(ipBytes('::ffff:10.0.0.1')?.toHex(), '00000000000000000000ffff0a000001')
  equal(isIpv6('::ffff:10.0.0.1'), true)
})

test('those of the texts that are addresses, each once', () =>
  deepEqual(parseIps(['10.0.0.2', 'x', '10.0.0.1', '10.0.0.2', 'FD00::1', 'fd00:0::1']), [
    '10.0.0.2',
    '10.0.0.1',
    'fd00::1',
  ]))

const kinds: readonly [text: string, isLoopback: boolean, isUnicast: boolean][] = [
  ['127.0.0.1', true, true],
  ['127.255.0.1', true, true],
  ['::1', true, true],
  ['10.0.0.1', false, true],
  ['fd00::1', false, true],
  ['::2', false, true],
  ['0.0.0.0', false, false],
  ['::', false, false],
  ['224.0.0.1', false, false],
  ['255.255.255.255', false, false],
  ['ff02::1', false, false],
]

for (const [text, isLoopback, isUnicast] of kinds)
  test(`${text}: loopback ${isLoopback}, unicast ${isUnicast}`, () => {
    const address = parseIp(text)
    deepEqual(address && [isLoopbackAddress(address), isUnicastAddress(address)], [isLoopback, isUnicast])
    equal(address && isUnspecifiedAddress(address), ['0.0.0.0', '::'].includes(text))
  })

test('the first bits of an address', () =>
  deepEqual(
    [0, 4, 8, 15, 32].map((bits) => ipText(maskedBytes(Uint8Array.of(255, 255, 255, 255), bits))),
    ['0.0.0.0', '240.0.0.0', '255.0.0.0', '255.254.0.0', '255.255.255.255'],
  ))

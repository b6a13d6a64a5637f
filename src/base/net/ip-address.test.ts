import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { familyOf } from './address-family.ts'
import { addressBits, addressBytes, addressOfBits, isIpv4Address, parseIp, parseIps } from './ip-address.ts'
import { ipBytes, ipText, isIp, isIpv4, mappedIpv4, readIp } from './ip-bytes.ts'

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
    equal(ipText(addressBytes(address)), address)
    equal(addressOfBits(familyOf(address), addressBits(address)), address)
    deepEqual([isIpv4(text), isIp(text)], [isIpv4Address(address), true])
  })
}

test('IPv4 in IPv6 notation has bytes, for certificates and records, but is not an address of a machine', () => {
  deepEqual(ipBytes('::ffff:10.0.0.1')?.toHex(), '00000000000000000000ffff0a000001')
  deepEqual(mappedIpv4(ipBytes('::ffff:10.0.0.1') ?? new Uint8Array()), Uint8Array.of(10, 0, 0, 1))
  equal(isIp('::ffff:10.0.0.1'), true)
})

test('those of the texts that are addresses, each once', () =>
  deepEqual(parseIps(['10.0.0.2', 'x', '10.0.0.1', '10.0.0.2', 'FD00::1', 'fd00:0::1']), [
    '10.0.0.2',
    '10.0.0.1',
    'fd00::1',
  ]))

const problems: readonly [text: string, problem: string][] = [
  ['', 'unable to parse IP'],
  ['%eth0', 'missing IPv6 address'],
  ['10.0.0', 'IPv4 address too short'],
  ['10.0.0.', 'IPv4 field must have at least one digit (at ".")'],
  ['10..0.1', 'IPv4 field must have at least one digit (at ".0.1")'],
  ['10.0.0.0.1', 'IPv4 address too long'],
  ['10.0.0.01', 'IPv4 field has octet with leading zero'],
  ['10.0.0.256', 'IPv4 field has value >255'],
  ['10.0.0.x', 'unexpected character (at "x")'],
  ['10.0.0.1%eth0', 'unexpected character (at "%eth0")'],
  ['fe80::1%', 'zone must be a non-empty string'],
  [':1::', 'each colon-separated field must have at least one digit (at ":1::")'],
  ['12345::', 'each group must have 4 or less digits (at "12345::")'],
  ['1g::', 'unexpected character, want colon (at "g::")'],
  ['1:', 'colon must be followed by more characters (at ":")'],
  ['1::2::3', 'multiple :: in address (at ":3")'],
  ['1:2:3:4:5:6:7:8:9', 'trailing garbage after address (at "9")'],
  ['1:2:3:4:5:6:7', 'address string too short'],
  ['1:2:3:4:5:6:7::8', 'the :: must expand to at least one field of zeros'],
  ['1:2:3:4:5:6::1.2.3.4', 'the :: must expand to at least one field of zeros'],
  ['1:1.2.3.4', 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'],
  ['1::2:3:4:5:6:7:1.2.3.4', 'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")'],
  ['::1.2.3', 'IPv4 address too short'],
]
for (const [text, problem] of problems)
  test(`why ${JSON.stringify(text)} is not an address`, () => {
    equal(readIp(text), problem)
    equal(ipBytes(text), undefined)
  })

test('the zone of an address is read and ignored, and is not part of an address of an object', () => {
  deepEqual(readIp('fe80::1%eth0'), ipBytes('fe80::1'))
  equal(ipBytes('fe80::1%eth0'), undefined)
})

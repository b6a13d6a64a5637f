import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressBytes, canonicalAddress } from './ip-address.ts'

const rows: readonly [string, string | undefined][] = [
  ['10.0.0.1', '10.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['256.0.0.1', undefined],
  ['10.0.0', undefined],
  ['10.0.0.0.1', undefined],
  ['10.0.0.01', undefined],
  ['10..0.1', undefined],
  ['', undefined],
  ['::', '::'],
  ['::1', '::1'],
  ['1::', '1::'],
  ['FD00:0:0:0:1:0:0:1', 'fd00::1:0:0:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['::ffff:10.0.0.1', '::ffff:a00:1'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ['1:2:3:4:5:6:7', undefined],
  ['1:2:3:4:5:6:7:8:9', undefined],
  ['1::2::3', undefined],
  ['1:2:3:4:5:6:7::8', undefined],
  ['10.0.0.1::', undefined],
  ['fe80::1%eth0', undefined],
  [':', undefined],
  ['12345::', undefined],
]

for (const [text, expected] of rows)
  test(`the canonical form of ${JSON.stringify(text)}`, () => assert.equal(canonicalAddress(text), expected))

test('addresses have 4 or 16 bytes', () => {
  assert.deepEqual([...(addressBytes('10.0.0.1') ?? [])], [10, 0, 0, 1])
  assert.equal(addressBytes('::1')?.length, 16)
})

for (const text of ['', '10.0.0', '10.0.0.0.1', '10..0.1', '10.0.0.01', '10.0.0.256', '10.0.0.x', '10.0.0.-1'])
  test(`${JSON.stringify(text)} has no bytes`, () => assert.equal(addressBytes(text), undefined))

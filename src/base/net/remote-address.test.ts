import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopback } from './remote-address.ts'

const addresses: [address: string, isHere: boolean][] = [
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:192.0.2.1', false],
  ['192.0.2.1', false],
  ['127.0.0.1.example', false],
  ['', false],
]

test('loopback addresses are those of this machine', () => {
  for (const [address, isHere] of addresses) equal(isLoopback(address), isHere, address)
})

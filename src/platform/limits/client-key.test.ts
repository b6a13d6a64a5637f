import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { clientKey } from './client-key.ts'

const keys: [address: string, key: string][] = [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['', ''],
  ['no:address', 'no:address'],
  ['::1', '::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8::/64'],
  ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
]
for (const [address, key] of keys)
  test(`${JSON.stringify(address)} is counted under ${JSON.stringify(key)}`, () => equal(clientKey(address), key))

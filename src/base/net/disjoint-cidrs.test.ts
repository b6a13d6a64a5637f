import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { parseCidrs } from './cidr.ts'
import { disjointCidrs } from './disjoint-cidrs.ts'

const rows: readonly (readonly [string, string[], string[]])[] = [
  ['none', [], []],
  ['equal ranges', ['10.0.0.0/8', '10.1.0.0/8'], ['10.0.0.0/8']],
  ['a range in another', ['10.1.0.0/16', '10.0.0.0/8', '11.0.0.0/8'], ['10.0.0.0/8', '11.0.0.0/8']],
  ['the same first address', ['10.0.0.0/24', '10.0.0.0/8', '10.0.0.0/16'], ['10.0.0.0/8']],
  ['neighbours', ['10.0.1.0/24', '10.0.0.0/24'], ['10.0.0.0/24', '10.0.1.0/24']],
  ['families', ['::/0', '0.0.0.0/0', 'fd00::/8'], ['0.0.0.0/0', '::/0']],
]
for (const [name, cidrs, expected] of rows)
  test(`disjoint CIDRs: ${name}`, () => deepEqual(disjointCidrs(parseCidrs(cidrs)), expected))

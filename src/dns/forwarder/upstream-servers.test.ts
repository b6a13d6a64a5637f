import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { upstreamServersOf } from './upstream-servers.ts'

const rows: readonly [string, string, readonly string[], readonly string[]][] = [
  ['servers in order', 'search a b\nnameserver 192.0.2.1\nnameserver 2001:DB8::1\n', [], ['192.0.2.1', '2001:db8::1']],
  [
    'comments and other lines',
    '# nameserver 192.0.2.9\noptions ndots:1\n  nameserver\t192.0.2.1 \n',
    [],
    ['192.0.2.1'],
  ],
  ['the same server twice', 'nameserver 192.0.2.1\nnameserver 192.0.2.1', [], ['192.0.2.1']],
  [
    'at most three',
    [1, 2, 3, 4].map((n) => `nameserver 192.0.2.${n}`).join('\n'),
    [],
    ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  ],
  ['what is not an address', 'nameserver example.com\nnameserver fe80::1%eth0\nnameserver', [], []],
  ['never this server itself', 'nameserver 10.96.0.10\nnameserver 192.0.2.1', ['10.96.0.10'], ['192.0.2.1']],
  ['never this server itself, in another form', 'nameserver FD00:0::1', ['fd00::1'], []],
]

describe('the servers of a resolv.conf', () => {
  for (const [name, text, own, expected] of rows)
    test(name, () =>
      assert.deepEqual(
        upstreamServersOf(text, own).map(({ address }) => address),
        expected,
      ),
    )
})

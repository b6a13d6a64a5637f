import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { parseCidrs } from '../../base/net/cidr.ts'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { addressTowards, localAddressesIn, peerOf } from './local-addresses.ts'

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

test('the address towards the first server that can be reached; without one, the flag is named', async () => {
  const { signal } = new AbortController()
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const open = peerOf(`https://127.0.0.1:${port}`)
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const closed = { address: '127.0.0.1', port: (other.address() as AddressInfo).port }
  other.close()
  await once(other, 'close')
  equal(await addressTowards([closed, open], '--node-ip', signal), '127.0.0.1')
  await rejects(addressTowards([closed], '--node-ip', signal), {
    message: `the API server 127.0.0.1:${closed.port} cannot be reached; name the address of this machine with --node-ip`,
  })
  await rejects(addressTowards([open], '--node-ip', AbortSignal.abort()), { name: 'AbortError' })
  server.close()
})

test('a server without a port listens on that of HTTPS', () =>
  deepEqual(peerOf('https://[2001:db8::1]'), { address: '2001:db8::1', port: 443 }))

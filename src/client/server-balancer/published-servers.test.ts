import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { parseServers, publishedServers, serversText } from './published-servers.ts'

const slice = (endpoints: object[], ports: object[] = [{ name: 'https', port: 6443 }]) =>
  ({ endpoints, ports }) as unknown as EndpointSlice
const of = (...addresses: string[]) => ({ addresses, conditions: { ready: true } })

test('the servers are the ready endpoints of all slices, each once', () => {
  const slices = [
    slice([of('192.0.2.2'), of('192.0.2.1', '192.0.2.2'), { addresses: ['192.0.2.3'], conditions: { ready: false } }]),
    slice([of('2001:db8::1'), of('not an address')]),
    slice([of('192.0.2.4')], [{ name: 'metrics', port: 1 }]),
    slice([of('192.0.2.5')], [{ name: 'https', port: 0 }]),
  ]
  const servers = publishedServers(slices)
  deepEqual(servers, [
    { address: '192.0.2.1', port: 6443 },
    { address: '192.0.2.2', port: 6443 },
    { address: '2001:db8::1', port: 6443 },
  ])
  deepEqual(parseServers(serversText(servers)), servers)
  deepEqual(publishedServers([slice(undefined as never)]), [])
})

const invalid: [text: string, error: RegExp][] = [
  ['', /JSON/],
  ['{}', /no list of servers/],
  [JSON.stringify({ servers: Array.from({ length: 33 }, () => ({ address: '192.0.2.1', port: 1 })) }), /no list/],
  ['{"servers":[{"address":"server.example","port":6443}]}', /"server\.example" is no address/],
  ['{"servers":[{"port":6443}]}', /undefined is no address/],
  ['{"servers":[{"address":"192.0.2.1","port":"6443"}]}', /"6443" is no port/],
  ['{"servers":[{"address":"192.0.2.1","port":65536}]}', /65536 is no port/],
]
for (const [text, error] of invalid)
  test(`a file of servers that is invalid: ${text.slice(0, 60)}`, () => throws(() => parseServers(text), error))

import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { PortIndex } from './port-index.ts'

test('ports are found by name and protocol; a port without a name only among all', () => {
  const http = { name: 'http', protocol: 'TCP', port: 80 }
  const index = new PortIndex([http, { ...http, protocol: 'UDP', port: 81 }, { protocol: 'SCTP', port: 82 }])
  deepEqual(
    index.all.map(({ port }) => port),
    [80, 81, 82],
  )
  deepEqual(index.named('http', 'udp'), [{ name: 'http', protocol: 'udp', port: 81 }])
  deepEqual([index.named('http', 'sctp'), index.named('https', 'tcp')], [[], []])
  equal(index.hasProtocol('sctp'), false)
})

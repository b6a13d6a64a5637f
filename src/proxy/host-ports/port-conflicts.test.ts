import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { ListeningSocket } from '../../machine/listening-ports/listening-ports.ts'
import { podWith, portWithHostPort } from './host-ports.harness.ts'
import { hostPortsOf } from './host-ports.ts'
import { isUsedBy } from './port-conflicts.ts'

const socket = (port: number, address?: string, protocol: 'TCP' | 'UDP' = 'TCP'): ListeningSocket => ({
  port,
  address,
  protocol,
})

const rows: readonly [name: string, port: object, socket: ListeningSocket, isUsed: boolean][] = [
  ['another port', portWithHostPort(6443), socket(6444), false],
  ['all addresses', portWithHostPort(6443), socket(6443), true],
  ['a socket on loopback', portWithHostPort(6443), socket(6443, '127.0.0.1'), true],
  ['a socket on an address of the node', portWithHostPort(6443), socket(6443, '192.0.2.1'), true],
  ['a socket on loopback of the other family', portWithHostPort(6443), socket(6443, '::1'), false],
  ['a host port on loopback', portWithHostPort(6443, { hostIP: '127.0.0.1' }), socket(6443), true],
  ['a host port on another address', portWithHostPort(6443, { hostIP: '192.0.2.1' }), socket(6443, '127.0.0.1'), false],
  ['the same address', portWithHostPort(6443, { hostIP: '192.0.2.1' }), socket(6443, '192.0.2.1'), true],
  ['another protocol', portWithHostPort(6443, { protocol: 'UDP' }), socket(6443), false],
  ['UDP', portWithHostPort(53, { protocol: 'UDP' }), socket(53, '127.0.0.1', 'UDP'), true],
  ['a UDP port of clients', portWithHostPort(40_000, { protocol: 'UDP' }), socket(40_000, undefined, 'UDP'), false],
  ['a TCP port above those of servers', portWithHostPort(40_000), socket(40_000), true],
]

for (const [name, port, used, isUsed] of rows)
  test(`a port of the machine: ${name}`, () => {
    const [found] = hostPortsOf(podWith({ ports: [port] })).ports
    equal(found && isUsedBy(found)(used), isUsed)
  })

import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { reachableServer, type ReachableServer } from './reachable-server.ts'

const here = 'https://127.0.0.1:6443'
const found = (server: string): ReachableServer => ({ kind: 'found', server })

interface Machine {
  readonly addresses?: readonly string[]
  readonly routed?: readonly string[]
  readonly listens?: readonly string[]
}

const cases: readonly (readonly [situation: string, server: string, machine: Machine, expected: ReachableServer])[] = [
  ['a server at an address', 'https://192.0.2.1:6443', {}, found('https://192.0.2.1:6443')],
  ['a name', 'https://cluster.example', {}, found('https://cluster.example')],
  [
    'the address of the default route',
    here,
    { addresses: ['172.17.0.1', '192.0.2.2'], routed: ['192.0.2.2'], listens: ['172.17.0.1', '192.0.2.2'] },
    found('https://192.0.2.2:6443'),
  ],
  [
    'the second family',
    here,
    { addresses: ['192.0.2.2', '2001:db8::2'], routed: ['192.0.2.2', '2001:db8::2'], listens: ['2001:db8::2'] },
    found('https://[2001:db8::2]:6443'),
  ],
  [
    'a route from a device of the cluster',
    here,
    { addresses: [], routed: ['10.244.0.1'], listens: ['10.244.0.1'] },
    { kind: 'none' },
  ],
  [
    'one address without a default route',
    here,
    { addresses: ['192.0.2.2'], listens: ['192.0.2.2'] },
    found('https://192.0.2.2:6443'),
  ],
  [
    'several addresses without a default route',
    'https://localhost:7443',
    { addresses: ['192.0.2.2', '192.0.2.3', '198.51.100.2'], listens: ['192.0.2.2', '198.51.100.2'] },
    { kind: 'several', servers: ['https://192.0.2.2:7443', 'https://198.51.100.2:7443'] },
  ],
  [
    'a server that listens on loopback only',
    'https://[::1]:6443',
    { addresses: ['192.0.2.2'], routed: ['192.0.2.2'] },
    { kind: 'none' },
  ],
]
for (const [situation, server, { addresses = [], routed = [], listens = [] }, expected] of cases)
  test(`other machines reach ${situation}`, async () => {
    const hosts = new Set(listens.map((host) => (host.includes(':') ? `[${host}]` : host)))
    const deps = {
      addresses,
      routed: () => Promise.resolve(routed),
      serves: (url: string) => Promise.resolve(hosts.has(new URL(url).hostname)),
    }
    deepEqual(await reachableServer(server, deps), expected)
  })

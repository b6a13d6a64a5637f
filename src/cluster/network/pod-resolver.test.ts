// Names as pods resolve them: search paths, ndots, headless Services, pods of StatefulSets, ExternalName, and errors.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { DnsConfig } from '../../machine/runtime/runtime-config.ts'
import { serviceOf, sliceOf, zoneOf } from '../../dns/records/zone.harness.ts'
import { candidateNames, resolveName } from './pod-resolver.ts'

const clusterServer = '10.96.0.10'
const pod: DnsConfig = {
  servers: [clusterServer],
  searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
  options: ['ndots:5'],
}
const node: DnsConfig = { servers: ['192.0.2.53'], searches: [], options: [] }

const names: readonly (readonly [name: string, config: DnsConfig, candidates: readonly string[]])[] = [
  ['web.', pod, ['web']],
  ['Web', node, ['web']],
  ['web', { ...pod, searches: ['blue.'] }, ['web.blue', 'web']],
  ['a.b.c.d.e.f', { ...pod, searches: ['blue'] }, ['a.b.c.d.e.f', 'a.b.c.d.e.f.blue']],
  ['a.b', { ...pod, searches: ['blue'], options: ['ndots:5', 'ndots:1'] }, ['a.b', 'a.b.blue']],
]
for (const [name, config, candidates] of names)
  test(`${name} is tried as ${candidates.join(', ')}`, () => deepEqual(candidateNames(name, config), candidates))

const zone = zoneOf(
  serviceOf('web', { clusterIP: '10.96.0.20' }),
  serviceOf('db', { clusterIP: 'None' }),
  sliceOf('db', [
    { addresses: ['10.0.0.1'], conditions: { ready: true }, hostname: 'db-0' },
    { addresses: ['10.0.0.2'], conditions: { ready: true }, hostname: 'db-1' },
  ]),
  serviceOf('pay', { type: 'ExternalName', externalName: 'pay.example.com' }),
  serviceOf('alias', { type: 'ExternalName', externalName: 'web.default.svc.cluster.local' }),
  serviceOf('loop', { type: 'ExternalName', externalName: 'loop.default.svc.cluster.local' }),
)
const outside = (name: string) => (name === 'pay.example.com' ? ['198.51.100.1'] : undefined)
const deps = { zone, clusterServer, outside }

const rows: readonly (readonly [name: string, config: DnsConfig, addresses: readonly string[]])[] = [
  ['web', pod, ['10.96.0.20']],
  ['web.default', pod, ['10.96.0.20']],
  ['web.default.svc', pod, ['10.96.0.20']],
  ['web.default.svc.cluster.local', pod, ['10.96.0.20']],
  ['web.default.svc.cluster.local.', pod, ['10.96.0.20']],
  ['db', pod, ['10.0.0.1', '10.0.0.2']],
  ['db-1.db', pod, ['10.0.0.2']],
  ['pay', pod, ['198.51.100.1']],
  ['alias', pod, ['10.96.0.20']],
  ['pay.example.com', pod, ['198.51.100.1']],
  ['pay.example.com', node, ['198.51.100.1']],
]
for (const [name, config, addresses] of rows)
  test(`${name} resolves to ${addresses.join(', ')} at ${config.servers.join()}`, () =>
    deepEqual(resolveName(name, config, deps), addresses))

const errors: readonly (readonly [name: string, config: DnsConfig, code: string, message: string])[] = [
  ['missing', pod, 'ENOTFOUND', 'lookup missing on 10.96.0.10:53: no such host'],
  ['web.blue', pod, 'ENOTFOUND', 'lookup web.blue on 10.96.0.10:53: no such host'],
  [
    'web.default.svc.cluster.local',
    node,
    'ENOTFOUND',
    'lookup web.default.svc.cluster.local on 192.0.2.53:53: no such host',
  ],
  ['other.example.com', pod, 'ENOTFOUND', 'lookup other.example.com on 10.96.0.10:53: no such host'],
  ['loop', pod, 'EAI_AGAIN', 'lookup loop on 10.96.0.10:53: server misbehaving'],
]
for (const [name, config, code, message] of errors)
  test(`${name} does not resolve: ${message}`, () => throws(() => resolveName(name, config, deps), { code, message }))

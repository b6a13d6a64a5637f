// Repairs of addresses and ports: the decisions as a table, and what a running server does.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../../api/core/v1/service/service.ts'
import type { IPAddress } from '../../../api/networking/v1/ip-address.ts'
import { objectKey } from '../../../api/meta/object.ts'
import { parseCidrs } from '../../../base/net/cidr.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { MemoryStore } from '../../../store/memory-store.ts'
import type { Transaction } from '../../../store/store.ts'
import { startServer, type Harness } from '../../server.harness.ts'
import { serviceRangesDefault } from './service-ranges.ts'
import { repairsOf, type Repair } from './service-repairs.ts'

const key = objectKey('default', 'a')
const nowMs = Date.UTC(2030, 0, 1, 0, 1, 0)
const labels = {
  'ipaddress.kubernetes.io/ip-family': 'IPv4',
  'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
}
const address = (name: string, owner = 'a', creationTimestamp = '2030-01-01T00:00:00Z') =>
  ({
    metadata: { name, labels, creationTimestamp },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: owner } },
  }) as unknown as IPAddress
const serviceOf = (spec: object) => ({ metadata: { name: 'a', namespace: 'default' }, spec }) as unknown as Service
const textOf = (repair: Repair): string =>
  repair.kind === 'wait' ? `wait ${repair.ms}` : `${repair.kind} ${repair.note.reason}: ${repair.note.message}`

const cases: [what: string, object: Service | undefined, addresses: IPAddress[], repairs: string[]][] = [
  ['nothing is wrong', serviceOf({ clusterIPs: ['10.96.0.7'] }), [address('10.96.0.7')], []],
  ['a headless Service has no address', serviceOf({ clusterIPs: ['None'] }), [], []],
  [
    'a missing address',
    serviceOf({ clusterIPs: ['10.96.0.7'] }),
    [],
    ['allocate ClusterIPNotAllocated: Cluster IP [IPv4]: 10.96.0.7 is not allocated; repairing'],
  ],
  [
    'an address of another Service',
    serviceOf({ clusterIPs: ['10.96.0.7'] }),
    [address('10.96.0.7', 'b')],
    [
      'report ClusterIPAlreadyAllocated: Cluster IP [IPv4]:10.96.0.7 was assigned to multiple services; please recreate service',
    ],
  ],
  [
    'an address outside of all ranges',
    serviceOf({ clusterIPs: ['10.1.0.7'] }),
    [address('10.1.0.7')],
    [
      'report ClusterIPOutOfRange: Cluster IP [IPv4]: 10.1.0.7 is not within any configured Service CIDR; please recreate service',
    ],
  ],
  [
    'text that is not an address',
    serviceOf({ clusterIPs: ['here'] }),
    [],
    ['report ClusterIPNotValid: Cluster IP here is not a valid IP; please recreate service'],
  ],
  [
    'an address that the Service does not have',
    serviceOf({ clusterIPs: ['10.96.0.7'] }),
    [address('10.96.0.7'), address('10.96.0.8')],
    ['release IPAddressWrongReference: IPAddress: 10.96.0.8 for Service default/a has a wrong reference; cleaning up'],
  ],
  ['a new address without a Service', undefined, [address('10.96.0.7', 'a', '2030-01-01T00:00:30Z')], ['wait 30000']],
  [
    'an old address without a Service',
    undefined,
    [address('10.96.0.7')],
    ['release IPAddressNotAllocated: IPAddress: 10.96.0.7 for Service default/a appears to have leaked: cleaning up'],
  ],
  [
    'a node port outside of the range',
    serviceOf({ clusterIPs: ['None'], ports: [{ port: 80, nodePort: 80 }] }),
    [],
    ['report PortOutOfRange: Port 80 is not within the port range 30000-32767; please recreate service'],
  ],
]
for (const [what, object, addresses, repairs] of cases)
  test(`repairs: ${what}`, () => {
    const found = repairsOf(key, object, {
      nowMs,
      ranges: serviceRangesDefault,
      cidrs: parseCidrs(['10.96.0.0/12']),
      find: (name) => addresses.find(({ metadata }) => metadata.name === name),
      owned: addresses.filter(({ spec }) => spec.parentRef?.name === 'a'),
    })
    deepEqual(found.map(textOf), repairs)
  })

const services = '/api/v1/namespaces/default/services'
const addressesPath = '/apis/networking.k8s.io/v1/ipaddresses'

interface SeenEvent {
  readonly reason: string
  readonly reportingComponent: string
  readonly involvedObject: { readonly kind: string; readonly name: string }
}

const eventsOf = async (server: Harness): Promise<string[]> =>
  ((await server.call('GET', '/api/v1/namespaces/default/events')).body.items as SeenEvent[])
    .map(({ reason, involvedObject: { kind, name } }) => `${reason} ${kind}/${name}`)
    .toSorted()

test('a running server recreates deleted addresses and removes leaked ones, and no others', async () => {
  await using server = await startServer()
  const spec = { ports: [{ port: 80 }], clusterIP: '10.96.0.7' }
  equal((await server.call('POST', services, { metadata: { name: 'a' }, spec })).status, 201)
  await server.clock.settle()
  await server.call('DELETE', `${addressesPath}/10.96.0.7`)
  const make = (name: string, owner: string, withLabels: boolean) =>
    server.call('POST', addressesPath, {
      metadata: { name, ...(withLabels ? { labels } : {}) },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: owner } },
    })
  await make('10.96.0.8', 'a', true)
  await make('10.96.0.9', 'gone', true)
  await make('10.96.0.10', 'gone', false)
  await server.clock.settle()
  const names = async () =>
    ((await server.call('GET', addressesPath)).body.items as IPAddress[]).map(({ metadata }) => metadata.name)
  deepEqual((await names()).toSorted(), ['10.96.0.10', '10.96.0.7', '10.96.0.9'])
  await server.clock.advance(61_000)
  deepEqual((await names()).toSorted(), ['10.96.0.10', '10.96.0.7'])
  deepEqual(await eventsOf(server), [
    'ClusterIPNotAllocated Service/a',
    'IPAddressNotAllocated IPAddress/10.96.0.9',
    'IPAddressWrongReference IPAddress/10.96.0.8',
  ])
})

test('a repair that fails is tried again', async () => {
  const clock = new VirtualClock()
  const store = new MemoryStore(clock)
  const commit = store.commit.bind(store)
  let isBroken = false
  const isRepair = ({ operations }: Transaction) =>
    operations.some((operation) => operation.kind === 'put' && operation.key.startsWith('/registry/ipaddresses/'))
  store.commit = (transaction, signal) =>
    isBroken && isRepair(transaction) ? Promise.reject(new Error('no disk')) : commit(transaction, signal)
  await using server = await startServer(undefined, { clock, store })
  const spec = { ports: [{ port: 80 }], clusterIP: '10.96.0.7' }
  equal((await server.call('POST', services, { metadata: { name: 'a' }, spec })).status, 201)
  await clock.settle()
  isBroken = true
  await server.call('DELETE', `${addressesPath}/10.96.0.7`)
  await clock.settle()
  equal((await server.call('GET', `${addressesPath}/10.96.0.7`)).status, 404)
  isBroken = false
  await clock.advance(11_000)
  equal((await server.call('GET', `${addressesPath}/10.96.0.7`)).status, 200)
})

test('writes of Services cause no repair', async () => {
  await using server = await startServer()
  for (const name of ['a', 'b', 'c']) {
    await server.call('POST', services, { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } })
    await server.clock.settle()
    await server.call('DELETE', `${services}/${name}`)
  }
  await server.clock.advance(120_000)
  deepEqual(await eventsOf(server), [])
  deepEqual((await server.call('GET', addressesPath)).body.items, [])
})

test('an address that no range contains is reported once, also if the Service is written again', async () => {
  await using server = await startServer()
  const spec = { ports: [{ port: 80 }], clusterIP: '10.96.0.7' }
  await server.call('POST', services, { metadata: { name: 'a' }, spec })
  const ranges = '/apis/networking.k8s.io/v1/servicecidrs'
  await server.call('POST', ranges, { metadata: { name: 'other' }, spec: { cidrs: ['10.1.0.0/16'] } })
  await server.clock.settle()
  const labelled = { metadata: { labels: { a: 'b' } } }
  await server.call('PATCH', `${services}/a`, labelled, { 'content-type': 'application/merge-patch+json' })
  await server.clock.settle()
  deepEqual(await eventsOf(server), ['ClusterIPOutOfRange Service/a'])
})

// Repairs of node ports: the decisions as a table, and what a running server does.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../../api/core/v1/service/service.ts'
import { keyOf } from '../../../api/meta/object.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { MemoryStore } from '../../../store/memory-store.ts'
import type { Transaction } from '../../../store/store.ts'
import { startServer, type Harness } from '../../server.harness.ts'
import { portRepairsOf, type PortRepair } from './node-port-repair.ts'
import { holderOf, portKey } from './node-ports.ts'

const serviceAt = (name: string, ...nodePorts: readonly number[]) =>
  ({
    metadata: { name, namespace: 'default' },
    spec: { ports: nodePorts.map((nodePort) => ({ nodePort })) },
  }) as unknown as Service
const textOf = (repair: PortRepair): string =>
  `${repair.kind} ${repair.port}${repair.kind === 'leaked' ? '' : ` ${keyOf(repair.object)}`}`

const cases: [what: string, services: Service[], held: [port: number, holder: string][], repairs: string[]][] = [
  ['nothing is wrong', [serviceAt('a', 30_001)], [[30_001, 'default/a']], []],
  ['a Service has a port twice', [serviceAt('a', 30_001, 30_001)], [[30_001, 'default/a']], []],
  ['a port without a key', [serviceAt('a', 30_001)], [], ['allocate 30001 default/a']],
  ['a key of a deleted Service', [serviceAt('a', 30_001)], [[30_001, 'default/gone']], ['allocate 30001 default/a']],
  ['a key without a Service', [], [[30_001, 'default/a']], ['leaked 30001']],
  [
    'two Services with the same port: the holder keeps it',
    [serviceAt('a', 30_001), serviceAt('b', 30_001)],
    [[30_001, 'default/b']],
    ['duplicate 30001 default/a'],
  ],
  [
    'two Services with the same port, without a holder',
    [serviceAt('a', 30_001), serviceAt('b', 30_001)],
    [],
    ['allocate 30001 default/a', 'duplicate 30001 default/b'],
  ],
]
for (const [what, services, held, repairs] of cases)
  test(`repairs of node ports: ${what}`, () => {
    const keys = new Map(held.map(([port, holder]) => [port, { holder, revision: 1 }]))
    deepEqual(portRepairsOf(services, keys).map(textOf), repairs)
  })

const services = '/api/v1/namespaces/default/services'
const { signal } = new AbortController()
const commit = ({ store }: Harness, operation: Transaction['operations'][number]) =>
  store.commit({ conditions: [], operations: [operation] }, signal)
const holders = async ({ store }: Harness, ports: readonly number[]) =>
  Promise.all(
    ports.map(async (port) => {
      const found = await store.get(portKey(port), signal)
      return found && holderOf(found.value)
    }),
  )
const events = async (server: Harness): Promise<string[]> => {
  const { body } = await server.call('GET', '/api/v1/namespaces/default/events')
  const items = body.items as { reason: string; message: string; reportingComponent: string }[]
  return items.map(({ reason, message, reportingComponent }) => `${reportingComponent} ${reason}: ${message}`)
}

test('a running server restores lost keys of node ports with an event, and releases leaked ones', async () => {
  await using server = await startServer()
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] }
  equal((await server.call('POST', services, { metadata: { name: 'a' }, spec })).status, 201)
  await server.clock.advance(200_000)
  deepEqual(await events(server), [])
  await commit(server, { kind: 'delete', key: portKey(30_001) })
  const value = new TextEncoder().encode('{"holder":"default/gone"}')
  await commit(server, { kind: 'put', key: portKey(30_002), value })
  await server.clock.advance(180_000)
  deepEqual(await holders(server, [30_001, 30_002]), ['default/a', 'default/gone'])
  await server.clock.advance(360_000)
  deepEqual(await holders(server, [30_001, 30_002]), ['default/a', undefined])
  deepEqual(await events(server), [
    'portallocator-repair-controller PortNotAllocated: Port 30001 is not allocated; repairing',
  ])
})

test('a port of two Services is reported once', async () => {
  await using server = await startServer()
  const create = (name: string, nodePort: number) =>
    server.call('POST', services, { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80, nodePort }] } })
  await create('a', 30_001)
  await create('b', 30_002)
  const key = '/registry/services/specs/default/b'
  const stored = await server.store.get(key, signal)
  const text = new TextDecoder().decode(stored?.value).replaceAll('30002', '30001')
  await commit(server, { kind: 'put', key, value: new TextEncoder().encode(text) })
  await server.clock.advance(600_000)
  deepEqual(await events(server), [
    'portallocator-repair-controller PortAlreadyAllocated: Port 30001 was assigned to multiple services; please recreate service',
  ])
})

test('a repair that fails is counted, and made three minutes later', async () => {
  const clock = new VirtualClock()
  const store = new MemoryStore(clock)
  const range = store.range.bind(store)
  let isBroken = false
  store.range = (options, stop) =>
    isBroken && options.start.includes('servicenodeports') ? Promise.reject(new Error('no disk')) : range(options, stop)
  await using server = await startServer(undefined, { clock, store })
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] }
  equal((await server.call('POST', services, { metadata: { name: 'a' }, spec })).status, 201)
  await commit(server, { kind: 'delete', key: portKey(30_001) })
  isBroken = true
  await clock.advance(190_000)
  deepEqual(await holders(server, [30_001]), [undefined])
  match((await server.call('GET', '/metrics')).body, /^apiserver_nodeport_repair_reconcile_errors_total 1$/m)
  isBroken = false
  await clock.advance(180_000)
  deepEqual(await holders(server, [30_001]), ['default/a'])
})

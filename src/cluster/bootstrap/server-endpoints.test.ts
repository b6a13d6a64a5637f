// The endpoints of the Service `kubernetes`: one server, several over one store, and what is restored.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { endpoints } from '../../api/core/v1/service/endpoints.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceRangesDefault } from '../../apiserver/strategies/service/service-ranges.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { Client } from '../../client/client.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { ServerEndpoints } from './server-endpoints.ts'

const { signal } = new AbortController()
const called = context(signal)

const writing = ['create', 'delete', 'patch', 'update', 'updateStatus']

/** The client, with the names of the calls that it sends, and of those that write. */
const recording = (client: Client, writes: string[], calls: string[]): Client =>
  ({
    of: (kind: Kind) =>
      new Proxy(client.of(kind), {
        get(target, name) {
          const value: unknown = Reflect.get(target, name)
          if (typeof value !== 'function') return value
          return (...args: unknown[]): unknown => {
            calls.push(`${String(name)} ${kind.plural}`)
            if (writing.includes(String(name))) writes.push(`${String(name)} ${kind.plural}`)
            return Reflect.apply(value, target, args)
          }
        },
      }),
  }) as unknown as Client

async function withServers(count: number) {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  // The leases are in a store of the test; the objects are in the cluster.
  const store = new MemoryStore(clock)
  const writes: string[] = []
  const calls: string[] = []
  const servers = Array.from({ length: count }, () => {
    const server = new ServerEndpoints({
      store,
      clock,
      log: silentLog,
      serviceRanges: serviceRangesDefault,
      client: recording(client, writes, calls),
    })
    const tasks = new TaskGroup()
    tasks.start('run', (stop) => server.run(stop))
    return { server, stop: () => tasks[Symbol.asyncDispose]() }
  })
  const addresses = async () => {
    const object = await client.of(endpoints).find('kubernetes', 'default', called)
    const slice = await client.of(endpointSlice).find('kubernetes', 'default', called)
    return {
      endpoints: object?.subsets?.flatMap((subset) => subset.addresses?.map(({ ip }) => ip) ?? []),
      slice: slice?.endpoints?.flatMap(({ addresses: all }) => all),
      type: slice?.addressType,
    }
  }
  const dispose = async () => {
    for (const { stop } of servers) await stop()
    await cluster.stop()
  }
  return {
    client,
    clock,
    writes,
    calls,
    servers: servers.map(({ server }) => server),
    stops: servers.map(({ stop }) => stop),
    addresses,
    [Symbol.asyncDispose]: dispose,
  }
}

test('a server at a loopback address, which has no endpoints, sends no request that fails', async () => {
  await using setup = await withServers(1)
  await setup.servers[0]?.publish('127.0.0.1', 6443, signal)
  setup.calls.length = 0
  await setup.clock.advance('10s')
  deepEqual(setup.calls, ['list services', 'list endpoints'])
  deepEqual(await setup.addresses(), { endpoints: undefined, slice: undefined, type: undefined })
})

test('a server is listed with its address and port', async () => {
  await using setup = await withServers(1)
  await setup.servers[0]?.publish('192.0.2.1', 6443, signal)
  deepEqual(await setup.addresses(), { endpoints: ['192.0.2.1'], slice: ['192.0.2.1'], type: 'IPv4' })
  const object = await setup.client.of(endpoints).get('kubernetes', 'default', called)
  deepEqual(object.subsets?.[0]?.ports, [{ name: 'https', port: 6443, protocol: 'TCP' }])
  deepEqual(object.metadata.labels, { 'endpointslice.kubernetes.io/skip-mirror': 'true' })
  const { spec } = await setup.client.of(service).get('kubernetes', 'default', called)
  deepEqual([spec.clusterIP, spec.ports?.[0]?.targetPort], ['10.96.0.1', 6443])
})

test('a loopback address is not published; an address of the other family replaces the slice', async () => {
  await using setup = await withServers(1)
  await setup.servers[0]?.publish('127.0.0.1', 6443, signal)
  deepEqual(await setup.addresses(), { endpoints: undefined, slice: undefined, type: undefined })
  await setup.servers[0]?.publish('192.0.2.1', 6443, signal)
  await setup.servers[0]?.publish('2001:db8::1', 6443, signal)
  deepEqual(await setup.addresses(), { endpoints: ['2001:db8::1'], slice: ['2001:db8::1'], type: 'IPv6' })
})

test('all servers are listed, and one that has ended is removed after its lease', async () => {
  await using setup = await withServers(2)
  await setup.servers[1]?.publish('192.0.2.2', 6443, signal)
  await setup.servers[0]?.publish('192.0.2.1', 6443, signal)
  deepEqual((await setup.addresses()).slice, ['192.0.2.1', '192.0.2.2'])
  await setup.clock.advance(60_000)
  deepEqual((await setup.addresses()).endpoints, ['192.0.2.1', '192.0.2.2'])
  await setup.stops[1]?.()
  await setup.clock.advance(30_000)
  deepEqual(await setup.addresses(), { endpoints: ['192.0.2.1'], slice: ['192.0.2.1'], type: 'IPv4' })
})

test('a server that stops is removed at once; the last one stays listed', async () => {
  await using setup = await withServers(2)
  const [one, other] = setup.servers
  await one?.publish('192.0.2.1', 6443, signal)
  await other?.publish('192.0.2.2', 6443, signal)
  await one?.withdraw(signal)
  const listed = { endpoints: ['192.0.2.2'], slice: ['192.0.2.2'], type: 'IPv4' }
  deepEqual(await setup.addresses(), listed)
  await setup.clock.advance(30_000)
  deepEqual(await setup.addresses(), listed)
  const before = [...setup.writes]
  await one?.withdraw(signal)
  await other?.withdraw(signal)
  deepEqual([await setup.addresses(), setup.writes], [listed, before])
})

test('a server at a loopback address has nothing to withdraw', async () => {
  await using setup = await withServers(1)
  await setup.servers[0]?.publish('127.0.0.1', 6443, signal)
  setup.calls.length = 0
  await setup.servers[0]?.withdraw(signal)
  deepEqual(setup.calls, [])
})

test('deleted objects are restored', async () => {
  await using setup = await withServers(1)
  const { client, clock } = setup
  await setup.servers[0]?.publish('192.0.2.1', 6443, signal)
  await client.of(endpoints).delete('kubernetes', 'default', {}, called)
  await client.of(endpointSlice).delete('kubernetes', 'default', {}, called)
  await client.of(service).delete('kubernetes', 'default', {}, called)
  await clock.advance(10_000)
  deepEqual((await setup.addresses()).slice, ['192.0.2.1'])
  equal((await client.of(service).get('kubernetes', 'default', called)).spec.clusterIP, '10.96.0.1')
})

test('no write is sent while nothing changes', async () => {
  await using setup = await withServers(1)
  await setup.servers[0]?.publish('192.0.2.1', 6443, signal)
  equal(setup.writes.length > 0, true)
  const before = [...setup.writes]
  await setup.clock.advance(60_000)
  deepEqual(setup.writes, before)
})

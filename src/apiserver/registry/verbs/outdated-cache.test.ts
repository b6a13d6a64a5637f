// Writes through an API server whose cache lags behind the store, because another server has changed the object.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Channel } from '../../../base/async/channel.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { MemoryStore } from '../../../store/memory-store.ts'
import {
  StoreUnavailable,
  type CommitResult,
  type StoreBatch,
  type Transaction,
  type WatchOptions,
} from '../../../store/store.ts'
import { openPolicies } from '../../open-policies.ts'
import { startServer, type Harness } from '../../server.harness.ts'

const collection = '/api/v1/namespaces/default/configmaps'
const path = `${collection}/a`
const merge = { 'content-type': 'application/merge-patch+json' }
const json = { 'content-type': 'application/json-patch+json' }
const replacing = (value: string) => ({ op: 'replace', path: '/data/value', value })
const expecting = (value: string) => ({ op: 'test', path: '/data/value', value })
const configMap = (value: string, rest: object = {}) => ({ metadata: { name: 'a' }, data: { value }, ...rest })

class FaultyStore extends MemoryStore {
  readonly channels: Channel<StoreBatch>[] = []
  losesResponses = false

  override async commit(transaction: Transaction, signal: AbortSignal): Promise<CommitResult> {
    const result = await super.commit(transaction, signal)
    if (this.losesResponses) throw new StoreUnavailable('no response')
    return result
  }

  override watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    const channel = super.watch(options, signal)
    this.channels.push(channel)
    return channel
  }
}

interface Versions {
  /** The metadata of the object that the outdated cache has, and of the newest one. */
  readonly cached: { readonly resourceVersion: string; readonly uid: string }
  readonly newest: { readonly resourceVersion: string; readonly uid: string }
}

type Row = readonly [
  name: string,
  call: (server: Harness, versions: Versions) => ReturnType<Harness['call']>,
  status: number,
  /** What the object contains afterwards. */
  value: string | undefined,
]

const deleteIf = (server: Harness, preconditions: object) => server.call('DELETE', path, { preconditions })

const rows: readonly Row[] = [
  [
    'a deletion of the newest version',
    (server, { newest: { resourceVersion } }) => deleteIf(server, { resourceVersion }),
    200,
    undefined,
  ],
  [
    'a deletion of the cached version',
    (server, { cached: { resourceVersion } }) => deleteIf(server, { resourceVersion }),
    409,
    'y',
  ],
  ['a deletion of the newest object', (server, { newest: { uid } }) => deleteIf(server, { uid }), 200, undefined],
  ['a deletion of the object before it', (server, { cached: { uid } }) => deleteIf(server, { uid }), 409, 'y'],
  ['an update to what the cached version contains', (server) => server.call('PUT', path, configMap('x')), 200, 'x'],
  [
    'an update of what was immutable in the cached version',
    (server) => server.call('PUT', path, configMap('z')),
    200,
    'z',
  ],
  [
    'a patch with a test that the newest version passes',
    (server) => server.call('PATCH', path, JSON.stringify([expecting('y'), replacing('z')]), json),
    200,
    'z',
  ],
  [
    'a patch with a test that the cached version passes',
    (server) => server.call('PATCH', path, JSON.stringify([expecting('x'), replacing('z')]), json),
    422,
    'y',
  ],
  [
    'a dry run',
    async (server) => {
      const response = await server.call('PATCH', `${path}?dryRun=All`, '{"data":{"more":"z"}}', merge)
      deepEqual(response.body.data, { value: 'y', more: 'z' })
      return response
    },
    200,
    'y',
  ],
]

for (const [name, call, status, value] of rows)
  test(`with an outdated cache: ${name} → ${status}`, async () => {
    const clock = new VirtualClock()
    const store = new FaultyStore(clock)
    await using ahead = await startServer(openPolicies, { store, clock })
    const watched = store.channels.length
    await using behind = await startServer(openPolicies, { store, clock })
    const { metadata: cached } = (await ahead.call('POST', collection, configMap('x', { immutable: true }))).body
    equal((await behind.call('GET', path)).body.metadata.uid, cached.uid)
    for (const channel of store.channels.slice(watched)) channel.mute()
    await ahead.call('DELETE', path)
    const { metadata: newest } = (await ahead.call('POST', collection, configMap('y'))).body

    equal((await call(behind, { cached, newest })).status, status)
    equal((await ahead.call('GET', path)).body.data?.value, value)
  })

test('with an outdated cache: an object that is gone → 404', async () => {
  const clock = new VirtualClock()
  const store = new FaultyStore(clock)
  await using ahead = await startServer(openPolicies, { store, clock })
  const watched = store.channels.length
  await using behind = await startServer(openPolicies, { store, clock })
  await ahead.call('POST', collection, configMap('x'))
  await behind.call('GET', path)
  for (const channel of store.channels.slice(watched)) channel.mute()
  await ahead.call('DELETE', path)
  equal((await behind.call('DELETE', path, { preconditions: { resourceVersion: '1' } })).status, 404)
  equal((await behind.call('PATCH', path, '{"data":{"value":"x"}}', merge)).status, 404)
})

for (const [verb, method, body, headers] of [
  ['an update', 'PUT', configMap('y'), {}],
  ['a patch', 'PATCH', '{"data":{"value":"y"}}', merge],
  ['a deletion', 'DELETE', undefined, {}],
] as const)
  test(`${verb} whose result is unknown is not repeated`, async () => {
    const clock = new VirtualClock()
    const store = new FaultyStore(clock)
    await using server = await startServer(openPolicies, { store, clock })
    await server.call('POST', collection, configMap('x'))
    const { revision } = store
    store.losesResponses = true
    equal((await server.call(method, path, body, headers)).status, 503)
    equal(store.revision, revision + 1)
  })

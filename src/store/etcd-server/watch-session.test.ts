// Watches beyond what the contract of stores covers: progress, fragments, slow clients.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { noMetadata, type GrpcChannel } from '../../wire/grpc/grpc-channel.ts'
import type { Proto, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import type { LocalStore } from '../local-store.ts'
import { MemoryStore } from '../memory-store.ts'
import type { Operation } from '../store.ts'
import { watchMethod, type watchResponse } from './etcd-api.ts'
import { serveEtcd } from './etcd-server.harness.ts'

const { signal } = new AbortController()
type Response = Proto<typeof watchResponse>

const put = (key: string, size = 1): Operation => ({ kind: 'put', key, value: new Uint8Array(size) })
const write = (store: LocalStore, ...operations: Operation[]) =>
  store.transact(() => ({ operations, result: undefined }), signal)

/** A stream of watches, and its next responses. */
async function openStream(channel: GrpcChannel) {
  const { send, messages } = await channel.duplex(watchMethod, noMetadata, signal)
  const responses = messages[Symbol.asyncIterator]()
  return {
    create: (options: ProtoInput<(typeof watchMethod)['request']>['createRequest']) => send({ createRequest: options }),
    send,
    async next(): Promise<Response> {
      const { value, done } = await responses.next()
      if (done === true) throw new Error('the stream has ended')
      return value
    },
    end: () => responses.return?.(),
  }
}

const everything = { key: '\0', rangeEnd: '\0' }

test('a progress request is answered when all watches have received what was there before it', async () => {
  const store = new MemoryStore(realClock)
  await using served = await serveEtcd(store)
  const stream = await openStream(served.channel)
  // Without watches there is no progress, as in etcd.
  await stream.send({ progressRequest: {} })
  await stream.create({ ...everything, watchId: 5 })
  equal((await stream.next()).created, true)
  await stream.create({ key: 'other', startRevision: 1_000, watchId: 6 })
  equal((await stream.next()).created, true)
  for (const key of ['a', 'b', 'c']) await write(store, put(key))
  await stream.send({ progressRequest: {} })
  const keys: (string | undefined)[] = []
  for (;;) {
    const { events, watchId, header } = await stream.next()
    keys.push(...events.map(({ kv }) => kv?.key))
    if (watchId !== -1) continue
    equal(header?.revision, store.revision)
    break
  }
  deepEqual(keys, ['a', 'b', 'c'])
  await stream.end()
})

test('idle watches that have asked for it are notified of their progress', async () => {
  const clock = new VirtualClock()
  const store = new MemoryStore(realClock)
  await using served = await serveEtcd(store, { clock, progressMs: 60_000 })
  const stream = await openStream(served.channel)
  await stream.create({ key: 'a', watchId: 1, progressNotify: true })
  await stream.create({ key: 'a', watchId: 2 })
  await Promise.all([stream.next(), stream.next()])
  await write(store, put('b'))
  // A watch that was created in this interval is not idle.
  await clock.advance(60_000)
  await clock.advance(60_000)
  const { watchId, events, header } = await stream.next()
  deepEqual([watchId, events.length, header?.revision], [1, 0, store.revision])
  await stream.end()
})

test('a large revision comes in fragments if the watch allows them', async () => {
  const store = new MemoryStore(realClock)
  await using served = await serveEtcd(store)
  const keys = ['a', 'b', 'c', 'd', 'e']
  for (const key of keys) await write(store, put(key, 1_000_000))
  const stream = await openStream(served.channel)
  await stream.create({ ...everything, watchId: 1, prevKv: true, fragment: true })
  await stream.create({ ...everything, watchId: 2, prevKv: true })
  await Promise.all([stream.next(), stream.next()])
  await write(store, ...keys.map((key) => ({ kind: 'delete', key }) as const))
  const seen: Record<number, { readonly keys: (string | undefined)[]; readonly fragments: boolean[] }> = {
    1: { keys: [], fragments: [] },
    2: { keys: [], fragments: [] },
  }
  while (Object.values(seen).some((watch) => watch.keys.length < keys.length)) {
    const { watchId, events, fragment } = await stream.next()
    seen[watchId]?.keys.push(...events.map(({ kv }) => kv?.key))
    seen[watchId]?.fragments.push(fragment)
  }
  deepEqual(seen[1], { keys, fragments: [true, true, false] })
  deepEqual(seen[2], { keys, fragments: [false] })
  await stream.end()
})

const large = 100_000
const count = 400

/** A stream whose client reads nothing while this much is written. */
async function behind(channel: GrpcChannel, store: LocalStore) {
  const stream = await openStream(channel)
  await stream.create({ ...everything, watchId: 1 })
  equal((await stream.next()).created, true)
  for (let index = 0; index < count; index++) await write(store, put(`k/${index}`, large))
  return stream
}

test('a slow client receives everything once it reads', async () => {
  const store = new MemoryStore(realClock)
  await using served = await serveEtcd(store)
  const stream = await behind(served.channel, store)
  const keys: (string | undefined)[] = []
  while (keys.length < count) keys.push(...(await stream.next()).events.map(({ kv }) => kv?.key))
  deepEqual(
    keys,
    Array.from({ length: count }, (_, index) => `k/${index}`),
  )
  await stream.end()
})

test('the watch of a slow client ends if what it has not received is compacted', async () => {
  const store = new MemoryStore(realClock)
  await using served = await serveEtcd(store)
  const stream = await behind(served.channel, store)
  await store.compact(store.revision, signal)
  let received = 0
  for (;;) {
    const { canceled, compactRevision, events } = await stream.next()
    received += events.length
    if (!canceled) continue
    equal(compactRevision, store.revision)
    break
  }
  ok(received < count, `${received} events`)
  await stream.end()
})

test('a key on which a watch waits is not affected by others', async () => {
  const store = new MemoryStore(realClock)
  await using served = await serveEtcd(store)
  const stream = await openStream(served.channel)
  await stream.create({ key: 'b', startRevision: 4, watchId: 1 })
  equal((await stream.next()).created, true)
  for (const key of ['b', 'b', 'a', 'b']) await write(store, put(key))
  const { events } = await stream.next()
  deepEqual(
    events.map(({ kv }) => `${kv?.key} ${kv?.modRevision}`),
    ['b 5'],
  )
  await stream.end()
})

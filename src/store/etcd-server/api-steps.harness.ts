// Requests to etcd's API, in order, for comparisons of servers that start empty.
import {
  compactMethod,
  deleteRangeMethod,
  leaseGrantMethod,
  leaseKeepAliveMethod,
  leaseLeasesMethod,
  leaseRevokeMethod,
  leaseTimeToLiveMethod,
  putMethod,
  rangeMethod,
  txnMethod,
  watchMethod,
} from './etcd-api.ts'
import { noMetadata, type GrpcChannel, type GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { Message, ProtoInput } from '../../wire/protobuf/proto-message.ts'

const { signal } = new AbortController()
const bytes = (text: string) => new TextEncoder().encode(text)

/** Without the ids of the cluster, which differ; values as text. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const {
    clusterId: _clusterId,
    memberId: _memberId,
    raftTerm: _raftTerm,
    ...others
  } = value as Record<string, unknown>
  return Object.fromEntries(Object.entries(others).map(([name, inner]) => [name, plain(inner)]))
}

type Call = (channel: GrpcChannel) => Promise<unknown>

const unary =
  <Q extends Message, A extends Message>(method: GrpcMethod<Q, A>, request: ProtoInput<Q>): Call =>
  async (channel) => {
    try {
      return plain(await channel.unary(method, request, noMetadata, signal))
    } catch (error) {
      if (error instanceof GrpcError) return `${error.code}: ${error.details}`
      throw error
    }
  }

type Put = ProtoInput<(typeof putMethod)['request']>
const put = (key: string, value: string, options: Put = {}) =>
  unary(putMethod, { key, value: bytes(value), ...options })
const range = (key: string, rangeEnd = '', options: ProtoInput<(typeof rangeMethod)['request']> = {}) =>
  unary(rangeMethod, { key, rangeEnd, ...options })
const remove = (key: string, rangeEnd = '', prevKv = false) => unary(deleteRangeMethod, { key, rangeEnd, prevKv })
/** The types of transactions are recursive, which descriptors do not express. */
const txn = (compare: readonly object[], success: readonly object[], failure: readonly object[] = []) =>
  unary(txnMethod, { compare, success, failure })
const inTxn = {
  put: (key: string, value: string, options: object = {}) => ({ requestPut: { key, value: bytes(value), ...options } }),
  range: (key: string, rangeEnd = '', options: object = {}) => ({ requestRange: { key, rangeEnd, ...options } }),
  remove: (key: string, rangeEnd = '', prevKv = false) => ({ requestDeleteRange: { key, rangeEnd, prevKv } }),
  txn: (compare: readonly object[], success: readonly object[], failure: readonly object[] = []) => ({
    requestTxn: { compare, success, failure },
  }),
}
const all = '\0'

/** Keep-alive messages and their responses. */
const keepAlive =
  (...ids: number[]): Call =>
  async (channel) => {
    const { send, endSending, messages } = await channel.duplex(leaseKeepAliveMethod, noMetadata, signal)
    const seen: unknown[] = []
    for (const id of ids) await send({ id })
    endSending()
    for await (const response of messages) seen.push(plain(response))
    return seen
  }

type WatchRequest = ProtoInput<(typeof watchMethod)['request']>

/**
 * What the watches of one stream receive, until each has received so many events of the key `end`, and so many watches
 * are canceled. Events of several revisions may come in one response or in several, so they are listed for each watch.
 */
const watch =
  (
    requests: readonly WatchRequest[],
    expected: { readonly ends?: Readonly<Record<number, number>>; readonly canceled?: number },
    writes: readonly Call[] = [],
  ): Call =>
  async (channel) => {
    const { send, messages } = await channel.duplex(watchMethod, noMetadata, signal)
    for (const request of requests) await send(request)
    const missing = new Map(Object.entries(expected.ends ?? {}).map(([id, count]) => [Number(id), count]))
    let { canceled = 0 } = expected
    let uncreated = requests.filter(({ createRequest }) => createRequest !== undefined).length
    const events: Record<string, unknown[]> = {}
    const others: unknown[] = []
    for await (const { events: received, header, ...response } of messages) {
      for (const event of received) {
        ;(events[response.watchId] ??= []).push(plain(event))
        if (event.kv?.key === 'end') missing.set(response.watchId, (missing.get(response.watchId) ?? 0) - 1)
      }
      if (response.canceled) canceled--
      if (received.length === 0) others.push({ ...(plain(response) as object), at: header?.revision })
      if (response.created && --uncreated === 0) for (const write of writes) await write(channel)
      if (uncreated === 0 && canceled === 0 && [...missing.values()].every((count) => count === 0)) break
    }
    return { events, others }
  }

export const apiSteps: readonly [name: string, call: Call][] = [
  ['an empty store', range('a')],
  ['an empty key', range('')],
  ['put', put('a', '1')],
  ['put again, with the previous value', put('a', '2', { prevKv: true })],
  ['put an empty key', put('', 'x')],
  ['put keeping the value of no key', put('none', '', { ignoreValue: true })],
  ['put keeping a value while giving one', put('a', 'x', { ignoreValue: true })],
  ['put keeping the value', put('a', '', { ignoreValue: true, prevKv: true })],
  ['put keeping a lease while giving one', put('a', 'x', { ignoreLease: true, lease: 5 })],
  ['put with a lease that does not exist', put('a', 'x', { lease: 5 })],
  ...['b', 'b\u00ff', 'b\u00ff\u0000', 'c', 'p/1', 'p/2', 'p/3', 'q'].map(
    (key, index) => [`put ${index}`, put(key, `${9 - index}`)] as [string, Call],
  ),
  ['put p/2 again', put('p/2', 'changed')],
  ['one key', range('a')],
  ['a prefix', range('p/', 'p0')],
  ['all', range(all, all)],
  ['from a key on', range('b\u00ff', all)],
  ['an empty range', range('p', 'b')],
  ['a limit', range('p/', 'p0', { limit: 2 })],
  ['a limit of all', range('p/', 'p0', { limit: 3 })],
  ['the count', range('p/', 'p0', { countOnly: true })],
  ['the keys', range('p/', 'p0', { keysOnly: true })],
  ['an old revision', range(all, all, { revision: 4 })],
  ['a negative revision', range('a', '', { revision: -1 })],
  ['a future revision', range('a', '', { revision: 1_000 })],
  ['descending', range('p/', 'p0', { sortOrder: 'DESCEND' })],
  ['by value', range(all, all, { sortTarget: 'VALUE' })],
  ['by value, descending, limited', range(all, all, { sortTarget: 'VALUE', sortOrder: 'DESCEND', limit: 3 })],
  ['by version, descending', range('p/', 'p3', { sortTarget: 'VERSION', sortOrder: 'DESCEND', limit: 1 })],
  ['by creation', range(all, all, { sortTarget: 'CREATE', sortOrder: 'ASCEND' })],
  ['by change, descending', range(all, all, { sortTarget: 'MOD', sortOrder: 'DESCEND' })],
  ['at least this change', range(all, all, { minModRevision: 8 })],
  ['at most this change', range(all, all, { maxModRevision: 6, limit: 2 })],
  ['between creations', range(all, all, { minCreateRevision: 5, maxCreateRevision: 7 })],
  ['delete nothing', remove('none')],
  ['delete an empty key', remove('')],
  ['delete one', remove('c', '', true)],
  ['delete a range', remove('p/2', 'p/9', true)],
  ['put a deleted key', put('c', 'again')],
  ['after the deletions', range(all, all)],
  ...(
    [
      ['version', { target: 'VERSION', key: 'a', version: 3 }],
      ['version of no key', { target: 'VERSION', key: 'none', version: 0 }],
      ['creation', { target: 'CREATE', key: 'a', createRevision: 2 }],
      ['creation, greater', { target: 'CREATE', result: 'GREATER', key: 'a', createRevision: 2 }],
      ['change, less', { target: 'MOD', result: 'LESS', key: 'a', modRevision: 100 }],
      ['change, not equal', { target: 'MOD', result: 'NOT_EQUAL', key: 'a', modRevision: 100 }],
      ['value', { target: 'VALUE', key: 'a', value: '2' }],
      ['value, greater', { target: 'VALUE', result: 'GREATER', key: 'a', value: '1\u00ff' }],
      ['value of no key', { target: 'VALUE', key: 'none', value: '' }],
      ['value of no key, not equal', { target: 'VALUE', result: 'NOT_EQUAL', key: 'none', value: 'x' }],
      ['lease', { target: 'LEASE', key: 'a', lease: 0 }],
      ['a range', { target: 'CREATE', result: 'GREATER', key: 'a', rangeEnd: 'd', createRevision: 1 }],
      ['a range without keys', { target: 'CREATE', key: 'x', rangeEnd: 'y', createRevision: 0 }],
      ['all keys', { target: 'VERSION', key: all, rangeEnd: all, version: 1 }],
      ['an empty key', { target: 'VERSION', key: '', version: 1 }],
    ] as const
  ).map(
    ([name, compare]) => [`compare ${name}`, txn([compare], [inTxn.range('a')], [inTxn.range('b')])] as [string, Call],
  ),
  ['an empty transaction', txn([], [])],
  [
    'put, read, delete in one transaction',
    txn(
      [],
      [
        inTxn.range('t/', 't0'),
        inTxn.put('t/1', 'x', { prevKv: true }),
        inTxn.put('t/2', 'y'),
        inTxn.range('t/', 't0'),
        inTxn.remove('b', 'c', true),
        inTxn.remove('b', 'c'),
        inTxn.range(all, all, { countOnly: true }),
      ],
    ),
  ],
  [
    'a transaction in a transaction',
    txn(
      [{ target: 'VERSION', key: 't/1', version: 1 }],
      [
        inTxn.put('t/3', 'z'),
        inTxn.txn(
          [{ target: 'VERSION', key: 't/3', version: 1 }],
          [inTxn.put('t/4', 'then'), inTxn.range('t/3')],
          [inTxn.put('t/4', 'else')],
        ),
        inTxn.txn(
          [{ target: 'VERSION', key: 't/9', version: 1 }],
          [inTxn.put('t/5', 'then')],
          [inTxn.range('t/', 't0')],
        ),
      ],
    ),
  ],
  ['a transaction that only reads', txn([], [inTxn.range('a'), inTxn.range('none')])],
  ['an old revision in a transaction', txn([], [inTxn.range('a', '', { revision: 3 })])],
  ['a future revision in a transaction', txn([], [inTxn.put('t/6', 'x'), inTxn.range('a', '', { revision: 1_000 })])],
  ['a key twice', txn([], [inTxn.put('t/7', 'x'), inTxn.put('t/7', 'y')])],
  ['a key put and deleted', txn([], [inTxn.put('t/7', 'x'), inTxn.remove('t/', 't0')])],
  ['a key twice, in an inner transaction', txn([], [inTxn.put('t/7', 'x'), inTxn.txn([], [inTxn.put('t/7', 'y')])])],
  [
    'a key in both branches of an inner transaction',
    txn([], [inTxn.txn([], [inTxn.put('t/7', 'x')], [inTxn.put('t/7', 'y')])]),
  ],
  ['an operation without content', txn([], [{}])],
  ['an empty key in a transaction', txn([], [], [inTxn.put('', 'x')])],
  ['keeping the value of no key in a transaction', txn([], [inTxn.put('t/8', '', { ignoreValue: true })])],
  [
    'a lease that does not exist in a transaction',
    txn([], [inTxn.put('t/8', 'x'), inTxn.put('t/9', 'x', { lease: 99 })]),
  ],
  [
    '128 operations',
    txn(
      [],
      Array.from({ length: 128 }, (_, index) => inTxn.put(`m/${index}`, 'x')),
    ),
  ],
  [
    '129 operations',
    txn(
      [],
      Array.from({ length: 129 }, (_, index) => inTxn.put(`n/${index}`, 'x')),
    ),
  ],
  [
    '129 comparisons',
    txn(
      Array.from({ length: 129 }, () => ({ key: 'a', version: 1 })),
      [],
    ),
  ],
  ['delete 128 keys', remove('m/', 'm0')],
  ['a request that is too large', put('large', 'x'.repeat(1_600_000))],
  ['nothing has changed', range(all, all, { countOnly: true })],
  ['grant a lease', unary(leaseGrantMethod, { id: 77, ttlSeconds: 3_600 })],
  ['grant it again', unary(leaseGrantMethod, { id: 77, ttlSeconds: 3_600 })],
  ['grant a short one', unary(leaseGrantMethod, { id: 78, ttlSeconds: 1 })],
  ['grant one that is too long', unary(leaseGrantMethod, { id: 79, ttlSeconds: 9_000_000_001 })],
  ['revoke the short one', unary(leaseRevokeMethod, { id: 78 })],
  ['revoke it again', unary(leaseRevokeMethod, { id: 78 })],
  ['put with a lease', put('l/2', 'x', { lease: 77 })],
  ['put another', put('l/1', 'x', { lease: 77 })],
  ['the lease is shown', range('l/', 'l0')],
  ['put keeping the lease', put('l/2', 'y', { ignoreLease: true, prevKv: true })],
  ['a put without the lease', put('l/1', 'y', { prevKv: true })],
  ['time to live of no lease', unary(leaseTimeToLiveMethod, { id: 1_000 })],
  ['leases', unary(leaseLeasesMethod, {})],
  ['keep alive', keepAlive(77, 1_000, 77)],
  ['revoke a lease with a key', unary(leaseRevokeMethod, { id: 77 })],
  ['its key is gone', range('l/', 'l0')],
  [
    'watches from the past, with filters and previous values',
    watch(
      [
        { createRequest: { key: all, rangeEnd: all, startRevision: 2, prevKv: true } },
        { createRequest: { key: 'a', rangeEnd: 'f', startRevision: 2, watchId: 7 } },
        { createRequest: { key: 'a', watchId: 7 } },
        { createRequest: { key: 'z', rangeEnd: 'a' } },
        { createRequest: { key: 'd', rangeEnd: 'p0', startRevision: 2, filters: ['NOPUT'] } },
        { createRequest: { key: all, rangeEnd: all, startRevision: 2, filters: ['NODELETE'] } },
        { createRequest: { key: '', rangeEnd: all } },
        { createRequest: { key: 'end', watchId: 50, progressNotify: true } },
      ],
      { ends: { 0: 2, 7: 2, 1: 1, 2: 1, 3: 2, 50: 2 }, canceled: 2 },
      [put('w/1', 'x'), txn([], [inTxn.put('w/2', 'y'), inTxn.remove('w/1')]), put('end', '1'), remove('end')],
    ),
  ],
  [
    'a canceled watch, and one of an unknown id',
    watch(
      [
        { createRequest: { key: 'a', watchId: 3 } },
        { cancelRequest: { watchId: 9 } },
        { cancelRequest: { watchId: 3 } },
      ],
      { canceled: 1 },
    ),
  ],
  ['compact the future', unary(compactMethod, { revision: 10_000 })],
  ['compact', unary(compactMethod, { revision: 12 })],
  ['compact the same', unary(compactMethod, { revision: 12 })],
  ['compact the past', unary(compactMethod, { revision: 11 })],
  ['the compacted revision', range(all, all, { revision: 12 })],
  ['an older revision', range('a', '', { revision: 11 })],
  ['an older revision in a transaction', txn([], [inTxn.range('a', '', { revision: 11 })])],
  ['a watch from an older revision', watch([{ createRequest: { key: 'a', startRevision: 5 } }], { canceled: 1 })],
  [
    'a watch from the compacted revision',
    watch([{ createRequest: { key: all, rangeEnd: all, startRevision: 12, prevKv: true } }], { ends: { 0: 2 } }),
  ],
]

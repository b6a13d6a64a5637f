// The parts of the etcd driver that need no etcd. The whole driver is tested with real ones in test/store/.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { GrpcError, type GrpcCode } from '../../wire/grpc/grpc-status.ts'
import {
  Compacted,
  FutureRevision,
  LeaseNotFound,
  StoreUnavailable,
  TransactionInvalid,
  TransactionTooLarge,
  type CommitResult,
} from '../store.ts'
import { BatchAssembler } from './batch-assembler.ts'
import { toStoreError, classifyFailure } from './etcd-failure.ts'
import { contains, etcdRange, allKeys } from './etcd-range.ts'
import type { EtcdEvent, WatchResponse } from './etcd-messages.ts'
import { OwnWrites } from './own-writes.ts'
import { hasReliableProgress, ProgressRequester } from './watch-progress.ts'

const ranges: readonly [name: string, args: Parameters<typeof etcdRange>, key: string, rangeEnd: string][] = [
  ['a prefix', ['', '/a/', '/a0'], '/a/', '/a0'],
  ['no end', ['', '/a/', ''], '/a/', '\0'],
  ['everything', ['', '', ''], '\0', '\0'],
  ['behind a prefix', ['/mine', '/a/', '/a0'], '/mine/a/', '/mine/a0'],
  ['no end behind a prefix', ['/mine', '', ''], '/mine', '/minf'],
]
for (const [name, args, key, rangeEnd] of ranges)
  test(`a range: ${name}`, () => deepEqual(etcdRange(...args), { key, rangeEnd }))

test('a range contains its start, not its end', () => {
  const range = etcdRange('', '/a/', '/a0')
  deepEqual(
    ['/a', '/a/', '/a/x', '/a0'].map((key) => contains(range, key)),
    [false, true, true, false],
  )
  equal(contains(allKeys, '/z'), true)
})

const kv = (key: string, modRevision: number, createRevision = modRevision) => ({
  key: `/p${key}`,
  value: new Uint8Array(),
  createRevision,
  modRevision,
  version: 1,
})
const created = (key: string, revision: number): EtcdEvent => ({
  type: 'PUT',
  kv: kv(key, revision),
  prevKv: undefined,
})
const removed = (key: string, revision: number, before?: number): EtcdEvent => ({
  type: 'DELETE',
  kv: kv(key, revision, 0),
  prevKv: before === undefined ? undefined : kv(key, before),
})
const response = (events: readonly EtcdEvent[], fragment = false): WatchResponse => ({
  header: { revision: 9, raftTerm: 1 },
  watchId: 1,
  created: false,
  canceled: false,
  compactRevision: 0,
  cancelReason: '',
  fragment,
  events,
})

const streams: readonly [name: string, responses: readonly WatchResponse[], batches: readonly string[]][] = [
  ['one revision', [response([created('/a', 2)])], ['2 put /a']],
  ['several revisions at once', [response([created('/a', 2), created('/b', 3)])], ['2 put /a', '3 put /b']],
  ['one revision with several keys', [response([created('/a', 2), removed('/b', 2, 1)])], ['2 put /a, delete /b']],
  [
    'a revision in fragments',
    [
      response([created('/a', 2), created('/b', 3)], true),
      response([created('/c', 3)], true),
      response([created('/d', 4)]),
    ],
    ['2 put /a', '3 put /b, put /c', '4 put /d'],
  ],
  [
    'changes of other keys only report progress',
    [response([created('/other', 2), created('/a', 3)])],
    ['2 ', '3 put /a'],
  ],
]
for (const [name, responses, expected] of streams)
  test(`batches: ${name}`, () => {
    const batches = new BatchAssembler(2)
    const seen = responses.flatMap((one) => batches.add(one, (key) => key !== '/p/other'))
    deepEqual(
      seen.map(({ revision, events }) => {
        const shown = events.map((event) => (event.kind === 'put' ? `put ${event.item.key}` : `delete ${event.key}`))
        return `${revision} ${shown.join(', ')}`
      }),
      expected,
    )
  })

test('batches: an event whose previous value was compacted ends the watch', () => {
  throws(() => new BatchAssembler(2).add(response([removed('/a', 2)]), () => true), Compacted)
  const updated = { ...created('/a', 3), kv: kv('/a', 3, 2) }
  throws(() => new BatchAssembler(2).add(response([updated]), () => true), Compacted)
})

const failures: readonly [code: GrpcCode, details: string, unprocessed: boolean, kind: string][] = [
  ['UNAVAILABLE', 'cannot connect', true, 'retryable'],
  ['UNAVAILABLE', 'etcdserver: no leader', false, 'retryable'],
  ['UNAVAILABLE', 'the connection was lost', false, 'ambiguous'],
  ['UNAVAILABLE', 'etcdserver: server stopped', false, 'ambiguous'],
  ['UNAVAILABLE', 'etcdserver: request timed out, possibly due to previous leader failure', false, 'ambiguous'],
  ['DEADLINE_EXCEEDED', 'no response: etcdserver: no leader', false, 'ambiguous'],
  ['NOT_FOUND', 'etcdserver: requested lease not found', false, 'final'],
  ['RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded', false, 'final'],
]
for (const [code, details, unprocessed, kind] of failures)
  test(`a failure: ${code} ${details}: ${kind}`, () =>
    equal(classifyFailure(new GrpcError('call', code, details, unprocessed)).kind, kind))

const meanings: readonly [code: GrpcCode, details: string, type: new (...args: never[]) => Error][] = [
  ['OUT_OF_RANGE', 'etcdserver: mvcc: required revision has been compacted', Compacted],
  ['OUT_OF_RANGE', 'etcdserver: mvcc: required revision is a future revision', FutureRevision],
  ['NOT_FOUND', 'etcdserver: requested lease not found', LeaseNotFound],
  ['INVALID_ARGUMENT', 'etcdserver: request is too large', TransactionTooLarge],
  ['INVALID_ARGUMENT', 'etcdserver: duplicate key given in txn request', TransactionInvalid],
  ['RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded', StoreUnavailable],
  ['PERMISSION_DENIED', 'etcdserver: permission denied', StoreUnavailable],
]
for (const [code, details, type] of meanings)
  test(`an error: ${details} is ${type.name}`, () =>
    equal(toStoreError(new GrpcError('call', code, details), 5) instanceof type, true))

const versions: readonly [version: string, isReliable: boolean][] = [
  ['3.4.23', false],
  ['3.4.31', true],
  ['3.5.12', false],
  ['3.5.16', true],
  ['3.6.0-rc.1', true],
  ['3.3.99', false],
  ['4.0.0', true],
]
for (const [version, isReliable] of versions)
  test(`the progress responses of etcd ${version} are ${isReliable ? '' : 'not '}reliable`, () =>
    equal(hasReliableProgress(version), isReliable))

test('progress is requested until every watch has reached the revision; lost responses time out', async () => {
  const clock = new VirtualClock()
  let requests = 0
  let delivered = 1
  const requester = new ProgressRequester(
    clock,
    () => requests++,
    (revision) => delivered < revision,
  )
  requester.requireRevision(1)
  await clock.advance(1_000)
  equal(requests, 0, 'no watch is behind')
  delivered = 0
  requester.recheck()
  await clock.advance(5)
  equal(requests, 1, 'a new watch is behind')
  ;[requests, delivered] = [0, 1]
  requester.onResponse()
  await clock.advance(1_000)
  requester.requireRevision(5)
  await clock.advance(4)
  equal(requests, 0, 'the events may arrive first')
  await clock.advance(1)
  equal(requests, 1)
  await clock.advance(200)
  equal(requests, 3)
  equal(requester.outstanding, 3)
  requester.onResponse()
  equal(requester.outstanding, 2)
  delivered = 5
  await clock.advance(1_000)
  equal(requests, 3)
  await clock.advance(5_000)
  equal(requester.outstanding, 0)
})

const transaction = { conditions: [], operations: [{ kind: 'put', key: '/a', value: new Uint8Array() } as const] }

test('events wait for the writes in flight that may have caused them, not for others', async () => {
  const own = new OwnWrites()
  const pending = Promise.withResolvers<CommitResult>()
  const order: string[] = []
  const commit = async () => own.run(transaction, () => pending.promise)
  const writer = (async () => {
    await commit()
    order.push('writer')
  })()
  equal(own.whenDeliverable(5, ['/b']), undefined)
  const deliverable = own.whenDeliverable(5, ['/b', '/a'])
  const watcher = (async () => {
    await deliverable
    order.push('watcher')
  })()
  pending.resolve({ kind: 'conflict', revision: 7 })
  await Promise.all([writer, watcher])
  deepEqual(order, ['writer', 'watcher'])
  equal(own.whenDeliverable(8, ['/a']), undefined)
})

test('a revision whose writer has its response does not wait for other writes of the key', async () => {
  const own = new OwnWrites()
  const later = Promise.withResolvers<CommitResult>()
  const earlier = Promise.withResolvers<CommitResult>()
  const writing = own.run(transaction, () => later.promise)
  const written = own.run(transaction, () => earlier.promise)
  const deliverable = own.whenDeliverable(5, ['/a'])
  earlier.resolve({ kind: 'committed', revision: 5 })
  await Promise.all([written, deliverable])
  equal(own.whenDeliverable(5, ['/a']), undefined)
  later.resolve({ kind: 'committed', revision: 6 })
  await writing
})

test('a response with the revision of another write does not release its events', async () => {
  const own = new OwnWrites()
  const pending = Promise.withResolvers<CommitResult>()
  const writing = own.run(transaction, () => pending.promise)
  await own.run(transaction, () => Promise.resolve({ kind: 'conflict', revision: 5 }))
  let isDeliverable = false
  const deliverable = own.whenDeliverable(5, ['/a'])?.then(() => (isDeliverable = true))
  await new VirtualClock().advance(1)
  equal(isDeliverable, false)
  pending.resolve({ kind: 'committed', revision: 5 })
  await Promise.all([writing, deliverable])
})

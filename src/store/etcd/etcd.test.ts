// The parts of the etcd driver that need no etcd. The driver itself is tested on real ones in test/store/.
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
  ['foreign keys only show progress', [response([created('/other', 2), created('/a', 3)])], ['2 ', '3 put /a']],
]
for (const [name, responses, expected] of streams)
  test(`batches: ${name}`, () => {
    const batches = new BatchAssembler(2)
    const seen = responses.flatMap((one) => batches.add(one, (key) => key !== '/p/other'))
    deepEqual(
      seen.map(({ revision, events }) => {
        const told = events.map((event) => (event.kind === 'put' ? `put ${event.item.key}` : `delete ${event.key}`))
        return `${revision} ${told.join(', ')}`
      }),
      expected,
    )
  })

test('batches: a value before an event that was compacted away ends the watch', () => {
  throws(() => new BatchAssembler(2).add(response([removed('/a', 2)]), () => true), Compacted)
  const updated = { ...created('/a', 3), kv: kv('/a', 3, 2) }
  throws(() => new BatchAssembler(2).add(response([updated]), () => true), Compacted)
})

const failures: readonly [code: GrpcCode, details: string, unprocessed: boolean, kind: string][] = [
  ['UNAVAILABLE', 'cannot connect', true, 'elsewhere'],
  ['UNAVAILABLE', 'etcdserver: no leader', false, 'elsewhere'],
  ['UNAVAILABLE', 'the connection was lost', false, 'unknown'],
  ['UNAVAILABLE', 'etcdserver: server stopped', false, 'unknown'],
  ['UNAVAILABLE', 'etcdserver: request timed out, possibly due to previous leader failure', false, 'unknown'],
  ['DEADLINE_EXCEEDED', 'no answer: etcdserver: no leader', false, 'unknown'],
  ['NOT_FOUND', 'etcdserver: requested lease not found', false, 'answer'],
  ['RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded', false, 'answer'],
]
for (const [code, details, unprocessed, kind] of failures)
  test(`a failure: ${code} ${details}: ${kind}`, () =>
    equal(classifyFailure(new GrpcError('call', code, details, unprocessed)).kind, kind))

const meanings: readonly [code: GrpcCode, details: string, type: new (...args: never[]) => Error][] = [
  ['OUT_OF_RANGE', 'etcdserver: mvcc: required revision has been compacted', Compacted],
  ['OUT_OF_RANGE', 'etcdserver: mvcc: required revision is a future revision', FutureRevision],
  ['NOT_FOUND', 'etcdserver: requested lease not found', LeaseNotFound],
  ['INVALID_ARGUMENT', 'etcdserver: request is too large', TransactionInvalid],
  ['RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded', StoreUnavailable],
  ['PERMISSION_DENIED', 'etcdserver: permission denied', StoreUnavailable],
]
for (const [code, details, type] of meanings)
  test(`an error: ${details} is ${type.name}`, () =>
    equal(toStoreError(new GrpcError('call', code, details), 5) instanceof type, true))

const versions: readonly [version: string, right: boolean][] = [
  ['3.4.23', false],
  ['3.4.31', true],
  ['3.5.12', false],
  ['3.5.16', true],
  ['3.6.0-rc.1', true],
  ['3.3.99', false],
  ['4.0.0', true],
]
for (const [version, right] of versions)
  test(`progress of etcd ${version} is ${right ? 'right' : 'not to be trusted'}`, () =>
    equal(hasReliableProgress(version), right))

test('progress is asked for until every watch is there; answers that do not come are given up', async () => {
  const clock = new VirtualClock()
  let [asked, told] = [0, 1]
  const asker = new ProgressRequester(
    clock,
    () => asked++,
    (revision) => told < revision,
  )
  asker.requireRevision(1)
  await clock.advance(1_000)
  equal(asked, 0, 'nobody is behind')
  told = 0
  asker.recheck()
  await clock.advance(5)
  equal(asked, 1, 'a new watch is')
  ;[asked, told] = [0, 1]
  asker.onResponse()
  await clock.advance(1_000)
  asker.requireRevision(5)
  await clock.advance(4)
  equal(asked, 0, 'the events may be on their way')
  await clock.advance(1)
  equal(asked, 1)
  await clock.advance(200)
  equal(asked, 3)
  equal(asker.outstanding, 3)
  asker.onResponse()
  equal(asker.outstanding, 2)
  told = 5
  await clock.advance(1_000)
  equal(asked, 3)
  await clock.advance(5_000)
  equal(asker.outstanding, 0)
})

const transaction = { conditions: [], operations: [{ kind: 'put', key: '/a', value: new Uint8Array() } as const] }

test('what a watch brings waits for the writes under way that it may come from, not for others', async () => {
  const own = new OwnWrites()
  const answer = Promise.withResolvers<CommitResult>()
  const order: string[] = []
  const commit = async () => own.run(transaction, () => answer.promise)
  const writer = (async () => {
    await commit()
    order.push('writer')
  })()
  equal(own.whenDeliverable(5, ['/b']), undefined)
  const told = own.whenDeliverable(5, ['/b', '/a'])
  const watcher = (async () => {
    await told
    order.push('watcher')
  })()
  answer.resolve({ kind: 'refused', revision: 7 })
  await Promise.all([writer, watcher])
  deepEqual(order, ['writer', 'watcher'])
  equal(own.whenDeliverable(8, ['/a']), undefined)
})

test('a revision whose writer has heard of it waits for no other write of the key', async () => {
  const own = new OwnWrites()
  const later = Promise.withResolvers<CommitResult>()
  const earlier = Promise.withResolvers<CommitResult>()
  const writing = own.run(transaction, () => later.promise)
  const written = own.run(transaction, () => earlier.promise)
  const told = own.whenDeliverable(5, ['/a'])
  earlier.resolve({ kind: 'committed', revision: 5 })
  await Promise.all([written, told])
  equal(own.whenDeliverable(5, ['/a']), undefined)
  later.resolve({ kind: 'committed', revision: 6 })
  await writing
})

test('an answer that names a revision of somebody else lets nobody hear of it', async () => {
  const own = new OwnWrites()
  const answer = Promise.withResolvers<CommitResult>()
  const writing = own.run(transaction, () => answer.promise)
  await own.run(transaction, () => Promise.resolve({ kind: 'refused', revision: 5 }))
  let isTold = false
  const told = own.whenDeliverable(5, ['/a'])?.then(() => (isTold = true))
  await new VirtualClock().advance(1)
  equal(isTold, false)
  answer.resolve({ kind: 'committed', revision: 5 })
  await Promise.all([writing, told])
})

// The order of responses on the stream of watches, as far as a real etcd cannot be made to show it.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Channel } from '../../base/async/channel.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { StoreBatch } from '../store.ts'
import type { EtcdMembers } from './etcd-members.ts'
import { allKeys } from './etcd-range.ts'
import type { WatchResponse } from './etcd-messages.ts'
import { OwnWrites } from './own-writes.ts'
import { WatchStream } from './watch-stream.ts'

const header = (revision: number) => ({ revision, raftTerm: 1 })
const empty = { canceled: false, compactRevision: 0, cancelReason: '', fragment: false, events: [] }
const confirmation: WatchResponse = { ...empty, header: header(4), watchId: 1, created: true }
const progressOfAll = (revision: number): WatchResponse => ({
  ...empty,
  header: header(revision),
  watchId: -1,
  created: false,
})
const creation = (key: string, revision: number): WatchResponse => {
  const kv = { key, value: new Uint8Array(), createRevision: revision, modRevision: revision, version: 1 }
  const event = { type: 'PUT', kv, prevKv: undefined } as const
  return { ...empty, header: header(revision), watchId: 1, created: false, events: [event] }
}

test('progress that etcd reports before it has confirmed a watch does not count for the watch', async () => {
  const responses = new Channel<WatchResponse>(10)
  const duplex = { send: () => Promise.resolve(), endSending() {}, messages: responses }
  const status = { header: { ...header(4), clusterId: 1n }, version: '3.5.16' }
  const channel = { endpoint: 'a', unary: () => Promise.resolve(status), duplex: () => Promise.resolve(duplex) }
  const members = { channel, switchFrom() {} } as unknown as EtcdMembers
  const stream = new WatchStream(members, new VirtualClock(), new OwnWrites(), 0, () => {})
  const batches: StoreBatch[] = []
  const watched = stream.watch(allKeys, 5, new AbortController().signal)
  // etcd holds back the events of revision 5 until it has confirmed the watch.
  for (const response of [progressOfAll(5), confirmation, creation('/a', 5), progressOfAll(6)]) responses.push(response)
  for await (const batch of watched) if (batches.push(batch) === 2) break
  deepEqual(
    batches.map(({ revision, events }) => [revision, events.length]),
    [
      [5, 1],
      [6, 0],
    ],
  )
  responses.end()
  await stream.close()
})

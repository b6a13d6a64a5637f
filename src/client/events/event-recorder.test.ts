// Events: written asynchronously, counted when they repeat, combined when only their messages differ.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { event } from '../../api/core/v1/event.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { EventRecorder, type EventNote, type EventRecorderDeps } from './event-recorder.ts'

const ctx = context(new AbortController().signal)
const note = { type: 'Normal', reason: 'Tested', message: 'all is well' } as const

/** A running recorder and an object to record events about. */
async function recording(deps: Partial<EventRecorderDeps> = {}) {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const about = await client.of(configMap).create({ metadata: { name: 'a' } }, 'default', ctx)
  const recorder = new EventRecorder(client, 'tester', { clock, random: seededRandom(1), log: silentLog, ...deps })
  const tasks = new TaskGroup()
  tasks.start('events', (signal) => recorder.run(signal))
  return {
    cluster,
    events: client.of(event),
    record: (content: EventNote) => recorder.record(about, content, ctx),
    recordOf: (object: ApiObject, content: EventNote) => recorder.record(object, content, ctx),
    /** The written events, once nothing is pending. */
    written: async () => {
      await clock.settle()
      return (await client.of(event).list({ namespace: 'default' }, ctx)).items
    },
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await cluster.stop()
    },
  }
}

test('a repeated event increments the count; a deleted Event is created again', async () => {
  await using recorder = await recording({ host: 'h' })
  recorder.record(note)
  await recorder.cluster.clock.advance('5s')
  recorder.record(note)
  recorder.record({ ...note, message: 'other' })
  const events = await recorder.written()
  deepEqual(events.map(({ message, count, lastTimestamp }) => [message, count, lastTimestamp]).toSorted(), [
    ['all is well', 2, '2030-01-01T00:00:05Z'],
    ['other', 1, '2030-01-01T00:00:05Z'],
  ])
  deepEqual([events[0]?.source, events[0]?.involvedObject.kind], [{ component: 'tester', host: 'h' }, 'ConfigMap'])
  await recorder.events.delete(events[0]?.metadata.name ?? '', 'default', {}, ctx)
  recorder.record({ ...note, message: events[0]?.message ?? '' })
  equal((await recorder.written()).length, 2)
})

test('events recorded at the same time are listed in the order of recording', async () => {
  await using recorder = await recording()
  const messages = Array.from({ length: 12 }, (_, index) => `step ${index}`)
  for (const message of messages) recorder.record({ ...note, message, reason: message.replace(' ', '') })
  deepEqual(
    (await recorder.written()).map(({ message }) => message),
    messages,
  )
})

test('repetitions before the first write are written once', async () => {
  await using recorder = await recording()
  const { revision } = await recorder.events.list({}, ctx)
  for (let times = 0; times < 3; times++) recorder.record(note)
  deepEqual(
    (await recorder.written()).map(({ count }) => count),
    [3],
  )
  equal((await recorder.events.list({}, ctx)).revision, revision + 1)
})

test('a failed write is logged, and the next event is created again', async () => {
  const warned: string[] = []
  await using recorder = await recording({ log: { ...silentLog, warn: (message) => warned.push(message) } })
  await recorder.cluster.kill('apiserver')
  recorder.record(note)
  await recorder.cluster.clock.settle()
  match(warned.join(), /^an event could not be written$/)
  recorder.cluster.start('apiserver')
  await recorder.cluster.clock.advance('1s')
  recorder.record(note)
  deepEqual(
    (await recorder.written()).map(({ count }) => count),
    [1],
  )
})

test('similar events with different messages are combined, and events about one object are rate limited', async () => {
  await using recorder = await recording()
  for (let index = 1; index <= 14; index++)
    recorder.record({ type: 'Normal', reason: 'Scaled', message: `to ${index}` })
  const written = async () => (await recorder.written()).map(({ message, count }) => `${count} ${message}`)
  deepEqual((await written()).toSorted(), [
    ...Array.from({ length: 9 }, (_, index) => `1 to ${index + 1}`),
    '5 (combined from similar events): to 14',
  ])
  const same = { type: 'Warning', reason: 'Again', message: 'same' } as const
  for (let index = 0; index < 30; index++) recorder.record(same)
  ok((await written()).includes('11 same'), 'twenty-five in all')
  await recorder.cluster.clock.advance('5m')
  recorder.record(same)
  ok((await written()).includes('12 same'), 'one more after five minutes')
})

test('events.k8s.io: repetitions are counted in a series, whatever their messages', async () => {
  await using recorder = await recording({ apiVersion: 'events.k8s.io/v1' })
  const failed = { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling' } as const
  for (const message of ['first', 'second', 'third']) {
    recorder.record({ ...failed, message })
    await recorder.cluster.clock.settle()
  }
  deepEqual(
    (await recorder.written()).map(({ message, count, series, reportingComponent, action }) => [
      message,
      count,
      series?.count,
      reportingComponent,
      action,
    ]),
    [['first', undefined, 2, 'tester', 'Scheduling']],
  )
  await recorder.cluster.clock.advance('7m')
  recorder.record({ ...failed, message: 'later' })
  equal((await recorder.written()).length, 2, 'a new series')
})

test('events.k8s.io: the related object is recorded, and long notes are truncated', async () => {
  await using recorder = await recording({ apiVersion: 'events.k8s.io/v1', host: 'tester-1' })
  const related = await recorder.cluster.client.of(configMap).create({ metadata: { name: 'b' } }, 'default', ctx)
  recorder.record({ ...note, message: 'x'.repeat(1025), related })
  const [written] = await recorder.written()
  deepEqual([written?.related?.name, written?.reportingInstance], ['b', 'tester-1'])
  equal(written?.message, `${'x'.repeat(1020)} ...`)
})

test('events.k8s.io: each version of an object has its own series', async () => {
  await using recorder = await recording({ apiVersion: 'events.k8s.io/v1' })
  recorder.record(note)
  const [written] = await recorder.written()
  const later = await recorder.cluster.client.of(configMap).patch('a', 'default', { data: { k: 'v' } }, 'merge', ctx)
  recorder.recordOf(later, note)
  const names = (await recorder.written()).map(({ involvedObject: { resourceVersion } }) => resourceVersion)
  deepEqual(names.toSorted(), [written?.involvedObject.resourceVersion, later.metadata.resourceVersion].toSorted())
})

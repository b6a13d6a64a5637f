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
    record: (told: EventNote) => recorder.record(about, told, ctx),
    recordOf: (object: ApiObject, told: EventNote) => recorder.record(object, told, ctx),
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
  await using told = await recording({ host: 'h' })
  told.record(note)
  await told.cluster.clock.advance('5s')
  told.record(note)
  told.record({ ...note, message: 'other' })
  const events = await told.written()
  deepEqual(events.map(({ message, count, lastTimestamp }) => [message, count, lastTimestamp]).toSorted(), [
    ['all is well', 2, '2030-01-01T00:00:05Z'],
    ['other', 1, '2030-01-01T00:00:05Z'],
  ])
  deepEqual([events[0]?.source, events[0]?.involvedObject.kind], [{ component: 'tester', host: 'h' }, 'ConfigMap'])
  await told.events.delete(events[0]?.metadata.name ?? '', 'default', {}, ctx)
  told.record({ ...note, message: events[0]?.message ?? '' })
  equal((await told.written()).length, 2)
})

test('events of one moment are listed in the order of recording', async () => {
  await using told = await recording()
  const messages = Array.from({ length: 12 }, (_, index) => `step ${index}`)
  for (const message of messages) told.record({ ...note, message, reason: message.replace(' ', '') })
  deepEqual(
    (await told.written()).map(({ message }) => message),
    messages,
  )
})

test('repetitions before the first write are written once', async () => {
  await using told = await recording()
  const { revision } = await told.events.list({}, ctx)
  for (let times = 0; times < 3; times++) told.record(note)
  deepEqual(
    (await told.written()).map(({ count }) => count),
    [3],
  )
  equal((await told.events.list({}, ctx)).revision, revision + 1)
})

test('a failed write is logged, and the next event is created again', async () => {
  const warned: string[] = []
  await using told = await recording({ log: { ...silentLog, warn: (message) => warned.push(message) } })
  await told.cluster.kill('apiserver')
  told.record(note)
  await told.cluster.clock.settle()
  match(warned.join(), /^an event could not be written$/)
  told.cluster.start('apiserver')
  await told.cluster.clock.advance('1s')
  told.record(note)
  deepEqual(
    (await told.written()).map(({ count }) => count),
    [1],
  )
})

test('similar events with different messages are combined, and events about one object are rate limited', async () => {
  await using told = await recording()
  for (let index = 1; index <= 14; index++) told.record({ type: 'Normal', reason: 'Scaled', message: `to ${index}` })
  const written = async () => (await told.written()).map(({ message, count }) => `${count} ${message}`)
  deepEqual((await written()).toSorted(), [
    ...Array.from({ length: 9 }, (_, index) => `1 to ${index + 1}`),
    '5 (combined from similar events): to 14',
  ])
  const same = { type: 'Warning', reason: 'Again', message: 'same' } as const
  for (let index = 0; index < 30; index++) told.record(same)
  ok((await written()).includes('11 same'), 'twenty-five in all')
  await told.cluster.clock.advance('5m')
  told.record(same)
  ok((await written()).includes('12 same'), 'one more after five minutes')
})

test('events.k8s.io: repetitions are counted in a series, whatever their messages', async () => {
  await using told = await recording({ apiVersion: 'events.k8s.io/v1' })
  const failed = { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling' } as const
  for (const message of ['first', 'second', 'third']) {
    told.record({ ...failed, message })
    await told.cluster.clock.settle()
  }
  deepEqual(
    (await told.written()).map(({ message, count, series, reportingComponent, action }) => [
      message,
      count,
      series?.count,
      reportingComponent,
      action,
    ]),
    [['first', undefined, 2, 'tester', 'Scheduling']],
  )
  await told.cluster.clock.advance('7m')
  told.record({ ...failed, message: 'later' })
  equal((await told.written()).length, 2, 'a new series')
})

test('events.k8s.io: the related object is recorded, and long notes are truncated', async () => {
  await using told = await recording({ apiVersion: 'events.k8s.io/v1', host: 'tester-1' })
  const related = await told.cluster.client.of(configMap).create({ metadata: { name: 'b' } }, 'default', ctx)
  told.record({ ...note, message: 'x'.repeat(1025), related })
  const [event] = await told.written()
  deepEqual([event?.related?.name, event?.reportingInstance], ['b', 'tester-1'])
  equal(event?.message, `${'x'.repeat(1020)} ...`)
})

test('events.k8s.io: each version of an object has its own series', async () => {
  await using told = await recording({ apiVersion: 'events.k8s.io/v1' })
  told.record(note)
  const [event] = await told.written()
  const later = await told.cluster.client.of(configMap).patch('a', 'default', { data: { k: 'v' } }, 'merge', ctx)
  told.recordOf(later, note)
  const names = (await told.written()).map(({ involvedObject: { resourceVersion } }) => resourceVersion)
  deepEqual(names.toSorted(), [event?.involvedObject.resourceVersion, later.metadata.resourceVersion].toSorted())
})

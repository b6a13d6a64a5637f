import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../../../api/errors/status-error.ts'
import { FlowRecorder, type FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { seededRandom } from '../../../base/random/random.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { pods } from '../state/state.harness.ts'
import type { Data } from '../state/state.ts'
import { flowView, mapView, type FlowView, type MapView } from '../state/views.ts'
import { FakeApi, type FakeStream } from './fake-api.harness.ts'
import { subscribeFlow } from './flow-data.ts'
import { missingFlows, noFlowsText } from './flow-stream.ts'

const web = { resource: 'pods', namespace: 'default', name: 'web-0' }
const notFound = (stream: FakeStream): void => stream.fail(new StatusError(404, 'NotFound', 'page not found'))
const follow = '/coxswain/v1/flow-events?follow=true'
const stream = '/ui/api/stream?past=10000'

function subscribed(view: FlowView | MapView, onStream: FakeApi['onStream'] = () => undefined) {
  const api = Object.assign(new FakeApi(), { onStream })
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock, 256)
  const stop = new AbortController()
  const reports: Data[] = []
  const ended = subscribeFlow(
    view,
    { api, clock, random: seededRandom(1) },
    (data) => void reports.push(data),
    stop.signal,
  )
  const recorded = (from: string, name = 'web-0'): FlowEvent =>
    flow.get(flow.record('call', from, 'API Server', `create pods ${name}`, { ...web, name })) as FlowEvent
  return { api, clock, stop, reports, ended, recorded }
}

test('the messages of an object are reported at most five times a second', async () => {
  const view = flowView(4, { object: { resource: pods, namespace: 'default', name: 'web-0' }, between: '' })
  const { api, clock, stop, reports, ended, recorded } = subscribed(view)
  await clock.settle()
  equal(api.newest.target, stream)
  api.newest.lines({ kind: 'ready', nowMs: clock.nowMs() })
  await clock.settle()
  deepEqual(reports, [{ kind: 'messages', id: 4, messages: [] }], 'an empty record is no longer being loaded')
  for (let ms = 0; ms < 1_000; ms += 10) {
    api.newest.lines({ kind: 'event', event: recorded('kubectl') }, { kind: 'rates', lines: [] })
    await clock.advance(10)
  }
  await clock.advance(1_000)
  ok(reports.length >= 5 && reports.length <= 7, `${reports.length} reports`)
  const last = reports.at(-1)
  ok(last?.kind === 'messages' && last.messages.length > 0)
  const settled = reports.length
  await clock.advance('1m')
  equal(reports.length, settled, 'nothing is reported without a message')
  stop.abort()
  await ended
})

test('messages between participants', async () => {
  const { api, clock, stop, reports, ended, recorded } = subscribed(
    flowView(4, { object: undefined, between: 'API Server>kubectl' }),
  )
  await clock.settle()
  api.newest.lines({ kind: 'event', event: recorded('kubectl') }, { kind: 'event', event: recorded('scheduler') })
  await clock.advance(200)
  const last = reports.at(-1)
  deepEqual(last?.kind === 'messages' && last.messages.map(({ event }) => event.from), ['kubectl'])
  stop.abort()
  await ended
})

test('rates of the map fall when nothing happens, by the clock of the server', async () => {
  const { api, clock, stop, reports, ended, recorded } = subscribed(mapView(4))
  const rate = (): number | false => {
    const last = reports.at(-1)
    return last?.kind === 'map' && (last.lines[0]?.perSecond ?? -1)
  }
  await clock.settle()
  api.newest.lines({ kind: 'event', event: recorded('kubectl') })
  await clock.advance(1_000)
  equal(rate(), 0.2)
  api.newest.lines({ kind: 'ready', nowMs: clock.nowMs() + 3_500 })
  await clock.settle()
  equal(rate(), 0.2)
  await clock.advance(2_000)
  equal(rate(), 0)
  stop.abort()
  await ended
})

test('away from the machine of the server the whole record is followed', async () => {
  const { api, clock, stop, reports, ended, recorded } = subscribed(mapView(4), (opened) => {
    if (opened.target === stream) notFound(opened)
  })
  await clock.settle()
  deepEqual(
    api.streams.map(({ target }) => target),
    [stream, follow],
  )
  api.newest.lines(recorded('kubectl'))
  api.newest.text('\n')
  await clock.advance(200)
  deepEqual(
    reports.map(({ kind }) => kind),
    ['map'],
  )
  stop.abort()
  await ended
})

test('an API server that records no flows is a clear failure', async () => {
  const { clock, stop, reports, ended } = subscribed(mapView(4), notFound)
  await clock.settle()
  deepEqual(reports, [{ kind: 'failed', id: 4, reason: 'this API server records no flows: it is not Coxswain' }])
  stop.abort()
  await ended
})

test('another stream begins with a new record', async () => {
  const view = flowView(4, { object: undefined, between: '' })
  const { api, clock, stop, reports, ended, recorded } = subscribed(view)
  await clock.settle()
  api.newest.lines({ kind: 'event', event: recorded('kubectl', 'old') })
  await clock.advance(200)
  api.newest.fail(new Error('socket hang up'))
  await clock.settle()
  deepEqual(reports.at(-1), { kind: 'failed', id: 4, reason: 'socket hang up' })
  await clock.advance(1_000)
  api.newest.lines({ kind: 'event', event: recorded('kubectl', 'new') })
  await clock.advance(200)
  const last = reports.at(-1)
  deepEqual(last?.kind === 'messages' && last.messages.map(({ event }) => event.object?.name), ['new'])
  stop.abort()
  await ended
})

for (const [what, onStream, wanted] of [
  ['a record', (opened: FakeStream) => opened.text('{}\n'), undefined],
  ['no record', notFound, noFlowsText],
  [
    'a record that the user may not read',
    (opened: FakeStream) => opened.fail(new StatusError(403, 'Forbidden', 'forbidden')),
    undefined,
  ],
  ['an empty stream', (opened: FakeStream) => opened.end(), undefined],
] as const)
  test(`why there are no flows on a server with ${what}`, async () =>
    equal(await missingFlows(Object.assign(new FakeApi(), { onStream }), new AbortController().signal), wanted))

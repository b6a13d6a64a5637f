import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder, type FlowId, type PeerEvent } from '../../base/observability/flow-recorder.ts'
import { errorText } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { spanOf } from '../../base/observability/span.ts'
import { peerEventOf } from '../../api/coxswain/v1/flow-protocol.ts'
import { mergePast, silenceMsMax, type Pieces } from './merge-past.ts'
import type { Piece } from './record-pieces.ts'

const { signal } = new AbortController()

function eventAt(atMs: number, what: string): PeerEvent {
  const flow = new FlowRecorder(new VirtualClock(atMs))
  const event = flow.get(flow.record('call', 'a', 'b', what))
  if (event === undefined) throw new Error('the event was not recorded')
  return peerEventOf(event, (id: FlowId) => spanOf('00', id))
}

async function* piecesOf(pieces: readonly Piece[], failure?: Error): AsyncGenerator<Piece> {
  yield* pieces
  if (failure !== undefined) throw failure
}

const piece = (endsPast: boolean, ...times: readonly number[]): Piece => ({
  events: times.map((atMs) => eventAt(atMs, String(atMs))),
  endsPast,
})

async function merged(records: readonly Pieces[], clock = new VirtualClock()) {
  const order: string[] = []
  const failed = await mergePast(records, ({ what }) => order.push(what), clock, signal)
  return { order, failed: records.map((record) => failed.has(record) && errorText(failed.get(record))) }
}

test('the past of several records is in order of time, and ends where each of them says', async () => {
  const first = piecesOf([piece(false, 1, 4), piece(false), piece(true, 9), piece(true, 10)])
  const second = piecesOf([piece(true, 2, 3, 5)])
  const third = piecesOf([piece(true)])
  deepEqual(await merged([first, second, third]), {
    order: ['1', '2', '3', '4', '5', '9'],
    failed: [false, false, false],
  })
})

test('a record that fails or ends early is left out; what it sent before is kept', async () => {
  const failing = piecesOf([piece(false, 1)], new Error('connection reset'))
  const ending = piecesOf([piece(false, 2)])
  deepEqual(await merged([failing, ending, piecesOf([piece(true, 3)])]), {
    order: ['1', '2', '3'],
    failed: ['connection reset', 'it has closed the connection', false],
  })
})

test('a server that is silent does not delay the others for long', async () => {
  const clock = new VirtualClock()
  const silent: Pieces = { next: () => new Promise(() => {}) }
  const result = merged([silent, piecesOf([piece(true, 3)])], clock)
  await clock.advance(silenceMsMax)
  deepEqual(await result, { order: ['3'], failed: ['it has sent nothing for 3 s', false] })
})

test('the merge ends with its signal', async () => {
  const stop = new AbortController()
  const silent: Pieces = { next: () => new Promise(() => {}) }
  const result = mergePast([silent], () => {}, new VirtualClock(), stop.signal)
  stop.abort(new Error('stopped'))
  await rejects(result, /stopped/)
})

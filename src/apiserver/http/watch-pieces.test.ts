// How a watch over HTTP ends: cleanly where the client reads too slowly, with an error event where something failed.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import { expired } from '../../api/errors/status-error.ts'
import { Channel } from '../../base/async/channel.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { WatchInterrupted, type WatchEvent } from '../watch-cache/watch-event.ts'
import { newWatchFrameCaches } from './watch-frames.ts'
import { watchPieces } from './watch-pieces.ts'

const bookmark: WatchEvent = { type: 'BOOKMARK', revision: 7, initialEventsEnd: false }

function watch(syntax: 'json' | 'protobuf') {
  const events = new Channel<WatchEvent>(2)
  const form = { syntax, shape: 'object' } as const
  const pieces = watchPieces(events, configMap, {
    form,
    include: 'None',
    clock: new VirtualClock(),
    frames: newWatchFrameCaches(),
    onSent: () => {},
    onInitialEventsSent: undefined,
  })
  return { events, pieces }
}

const statusIn = (pieces: readonly (Uint8Array | string)[] | undefined): { code?: number; reason?: string } => {
  const [piece] = pieces ?? []
  const event = JSON.parse(new TextDecoder().decode(piece as Uint8Array)) as { type: string; object: object }
  equal(event.type, 'ERROR')
  return event.object
}

for (const syntax of ['json', 'protobuf'] as const)
  test(`${syntax}: the watch of a client that reads too slowly ends without an error event`, () => {
    const { events, pieces } = watch(syntax)
    for (let count = 0; count < 3; count++) events.push(bookmark)
    equal(events.ended, true)
    equal(pieces.take(), undefined)
    equal(pieces.take(), undefined)
  })

test('a watch that is interrupted ends without an error event, after the events before it', () => {
  const { events, pieces } = watch('json')
  events.push(bookmark)
  events.end(new WatchInterrupted('broken'))
  deepEqual([pieces.take()?.length, pieces.take()], [1, undefined])
})

test('a bookmark has a version and nothing else', () => {
  const { events, pieces } = watch('json')
  events.push(bookmark)
  const [line] = pieces.take() ?? []
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '7' } }
  deepEqual(JSON.parse(new TextDecoder().decode(line as Uint8Array)), { type: 'BOOKMARK', object })
})

const failures: [why: string, error: Error, code: number, reason: string][] = [
  ['a revision that has expired', expired('too old'), 410, 'Expired'],
  ['any other failure', new Error('broken'), 500, 'InternalError'],
]
for (const [why, error, code, reason] of failures)
  test(`${why} is an error event, after the events before it`, () => {
    const { events, pieces } = watch('json')
    events.push(bookmark)
    events.end(error)
    equal(pieces.take()?.length, 1)
    const status = statusIn(pieces.take())
    deepEqual([status.code, status.reason], [code, reason])
    equal(pieces.take(), undefined)
  })

// WatchFrameCache: watchers that get the same events get the same bytes.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { noCause } from '../../base/observability/flow-recorder.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { WatchFrameCache } from './watch-frames.ts'
import type { WatchEvent } from '../watch-cache/watch-event.ts'

const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } } as unknown as ApiObject

test('watchers of the same events receive the same bytes', () => {
  const frames = new WatchFrameCache()
  const event = (revision: number, type: 'ADDED' | 'DELETED' = 'ADDED'): WatchEvent => ({
    type,
    stored: versions[revision] ?? first,
    cause: { ...noCause },
  })
  const first = StoredObject.ofObject(object, 1)
  const versions = [first, first, StoredObject.ofObject(object, 2)]
  let made = 0
  const bytesOf = (...events: WatchEvent[]) => frames.encoded(events, () => Uint8Array.of(++made))
  deepEqual(bytesOf(event(1), event(2)), Uint8Array.of(1, 2))
  equal(bytesOf(event(1), event(2)), bytesOf(event(1), event(2)))
  notEqual(bytesOf(event(1, 'DELETED'), event(2)), bytesOf(event(1), event(2)))
  notEqual(bytesOf(event(1)), bytesOf(event(1), event(2)))
  const bookmark: WatchEvent = { type: 'BOOKMARK', revision: 1, initialEventsEnd: false }
  notEqual(bytesOf(bookmark), bytesOf(bookmark))
  const long = () => frames.encoded([event(1)], () => new Uint8Array(300 << 10))
  bytesOf(bookmark)
  notEqual(long(), long())
})

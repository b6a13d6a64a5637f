import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf, FlowRecorder, noCause, type FlowEvent } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { SpanPlaces } from './span-places.ts'

/** A chain of events, each of which caused the next. */
function chain(length: number): readonly FlowEvent[] {
  const flow = new FlowRecorder(new VirtualClock())
  const subject = { resource: 'pods', namespace: 'default', name: 'web' }
  let cause = noCause
  for (let step = 0; step < length; step++)
    cause = causeOf(flow.record('call', 'a', 'b', `step ${step}`, subject, 0, cause))
  return [...flow.events()]
}

test('an event is a child of its cause, in the trace of the first one', () => {
  const places = new SpanPlaces(() => 0 as never)
  const events = chain(3)
  const found = events.map((event) => places.place(event))
  deepEqual(
    found.map(({ isKnown }) => isKnown),
    [false, false, false],
  )
  equal(new Set(found.map(({ place }) => place.root)).size, 1)
  const [last] = events.slice(-1)
  equal(last !== undefined && places.place(last).isKnown, true)
})

test('events that are forgotten are no parents any more', () => {
  const places = new SpanPlaces(() => 0 as never, 2)
  const [first, second, third, fourth] = chain(4) as [FlowEvent, FlowEvent, FlowEvent, FlowEvent]
  for (const event of [first, second, third]) places.place(event)
  equal(places.place(first).isKnown, false)
  equal(places.place(third).isKnown, true)
  equal(places.place({ ...fourth, cause: causeOf(second.id) }).place.root, fourth.id)
})

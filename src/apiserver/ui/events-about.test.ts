import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { eventsAbout } from './events-about.ts'

const web = { resource: 'pods', namespace: 'default', name: 'web' }

test('only events about the object are returned, the oldest first', () => {
  const flow = new FlowRecorder(new VirtualClock())
  const others = [undefined, { ...web, name: 'db' }, { ...web, namespace: 'other' }, { ...web, resource: 'services' }]
  for (const object of [web, ...others, { ...web }]) flow.record('call', 'a', 'b', 'get', object)
  deepEqual(
    eventsAbout(web, flow).map(({ id }) => id),
    [1, 6],
  )
})

test('of many events the newest are returned', () => {
  const flow = new FlowRecorder(new VirtualClock())
  for (let count = 0; count < 6_000; count++) flow.record('call', 'a', 'b', 'get', web)
  const events = eventsAbout(web, flow)
  equal(events.length, 5_000)
  deepEqual([events[0]?.id, events.at(-1)?.id], [1_001, 6_000])
})

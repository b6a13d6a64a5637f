import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowFeed } from './flow-feed.ts'
import { FlowRecorder } from './flow-recorder.ts'
import { VirtualClock } from '../time/virtual-clock.ts'

const signal = new AbortController().signal
const step = (flow: FlowRecorder, what: string) => flow.record('step', 'a', 'a', what)
const taken = (feed: FlowFeed, max = 100) => feed.take(max).map(({ what, outcome }) => outcome ?? what)

test('a feed returns recorded events, then those that have ended since, as many as its reader takes', async () => {
  const flow = new FlowRecorder(new VirtualClock())
  step(flow, 'before')
  using feed = new FlowFeed(flow)
  const call = flow.record('call', 'a', 'b', 'call')
  step(flow, 'last')
  deepEqual(taken(feed, 2), ['before', 'call'])
  flow.finish(call, 'done')
  deepEqual(taken(feed), ['done', 'last'])
  deepEqual(taken(feed), [])
  const changed = feed.changed(signal)
  step(flow, 'later')
  await changed
  deepEqual(taken(feed), ['later'])
})

test('a call that ends before it is read is returned once', () => {
  const flow = new FlowRecorder(new VirtualClock())
  using feed = new FlowFeed(flow)
  flow.finish(flow.record('call', 'a', 'b', 'call'), 'done')
  deepEqual(taken(feed), ['done'])
  deepEqual(taken(feed), [])
})

test('a slow reader misses events that the ring has overwritten', () => {
  const flow = new FlowRecorder(new VirtualClock(), 4)
  using feed = new FlowFeed(flow)
  for (let n = 0; n < 10; n++) step(flow, `${n}`)
  deepEqual(taken(feed), ['6', '7', '8', '9'])
})

test('a reader can skip the oldest unread events, and learns how many it missed', () => {
  const flow = new FlowRecorder(new VirtualClock(), 4)
  using feed = new FlowFeed(flow)
  for (let n = 0; n < 10; n++) step(flow, `${n}`)
  equal(feed.keepNewest(3), 7)
  equal(feed.keepNewest(3), 0)
  deepEqual(taken(feed), ['7', '8', '9'])
  equal(feed.keepNewest(3), 0)
})

test('an abort ends the wait', async () => {
  using feed = new FlowFeed(new FlowRecorder(new VirtualClock()))
  equal(feed.take(1).length, 0)
  await rejects(feed.changed(AbortSignal.abort(new Error('enough'))), /enough/)
})

import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf, FlowRecorder, mergeCauses, noCause, type FlowId } from './flow.ts'
import { VirtualClock } from './virtual-clock.ts'

const pod = { resource: 'pods', namespace: 'default', name: 'web' }

test('an event comes back as it was recorded', () => {
  const clock = new VirtualClock(1000)
  const flow = new FlowRecorder(clock)
  const call = flow.record('call', 'Client', 'API Server', 'create', pod)
  const write = flow.record('persist', 'API Server', 'Store', 'put', pod, 12, causeOf(call))
  flow.explain(call, { reason: () => 'the rule' })
  flow.finish(call, '201')
  deepEqual(flow.get(call), {
    id: 1,
    arrow: 'call',
    atMs: 1000,
    endMs: 1000,
    from: 'Client',
    to: 'API Server',
    what: 'create',
    outcome: '201',
    allowedBy: 'the rule',
    object: pod,
    revision: 0,
    cause: noCause,
  })
  equal(flow.get(write)?.cause.event, call)
  equal(flow.writeOf(12), write)
})

test('the ring keeps the newest events and forgets the writes of the others', () => {
  const flow = new FlowRecorder(new VirtualClock(), 8)
  for (let revision = 1; revision <= 20; revision++) flow.record('persist', 'API Server', 'Store', 'put', pod, revision)
  deepEqual(
    Array.from(flow.events(), (event) => event.revision),
    [13, 14, 15, 16, 17, 18, 19, 20],
  )
  equal(flow.writeOf(12), 0)
  equal(flow.writeOf(13), 13)
  equal(flow.get(12 as FlowId), undefined)
  flow.finish(12 as FlowId, 'late') // must not touch the event that took the slot
  equal(flow.get(20 as FlowId)?.outcome, undefined)
})

test('a listener hears every event until it leaves', () => {
  const flow = new FlowRecorder(new VirtualClock())
  const heard: string[] = []
  const leave = flow.listen((event) => heard.push(event.what))
  flow.record('step', 'a', 'a', 'one')
  leave()
  flow.record('step', 'a', 'a', 'two')
  deepEqual(heard, ['one'])
})

test('merged causes are bounded, distinct and newest first', () => {
  equal(mergeCauses([]), noCause)
  const causes = Array.from({ length: 100 }, (_, index) => causeOf((index + 1) as FlowId, index + 1))
  const merged = mergeCauses([...causes, causeOf(100 as FlowId, 100)])
  equal(merged.event, 100)
  deepEqual(merged.also, [99, 98, 97, 96, 95, 94])
  deepEqual(merged.revisions, [100, 99, 98, 97, 96, 95, 94])
})

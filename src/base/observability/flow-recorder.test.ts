import type { Span } from './span.ts'
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import {
  causeOf,
  FlowRecorder,
  flowTextCharsMax,
  mergeCauses,
  noCause,
  type FlowEvent,
  type FlowId,
  type ReportedEvent,
} from './flow-recorder.ts'
import { VirtualClock } from '../time/virtual-clock.ts'

const pod = { resource: 'pods', namespace: 'default', name: 'web' }

test('a recorder without capacity records nothing', () => {
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock, 0)
  const call = flow.record('call', 'Client', 'API Server', 'create pods')
  flow.startStages(call, clock.monotonicMs())
  flow.passStage(call, 'authentication')
  flow.finish(call, '201')
  equal(flow.record('persist', 'API Server', 'Store', 'put pod', undefined, 7, causeOf(call)), 0)
  deepEqual([[...flow.events()], flow.writeOf(7), flow.get(call)], [[], 0, undefined])
})

test('an event is returned as it was recorded', () => {
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
    span: undefined,
    stages: [],
  })
  equal(flow.get(write)?.cause.event, call)
  equal(flow.writeOf(12), write)
})

test('the stages of a call are recorded with their times until its slot is reused', async () => {
  const clock = new VirtualClock(1000)
  const flow = new FlowRecorder(clock, 8)
  const call = flow.record('call', 'Client', 'API Server', 'create', pod)
  flow.passStage(call, 'authentication') // not taken yet
  deepEqual(flow.get(call)?.stages, [])
  flow.startStages(call, clock.monotonicMs())
  flow.passStage(call, 'authentication')
  flow.record('step', 'a', 'a', 'one')
  await clock.advance(5)
  flow.passStage(call, 'store')
  deepEqual(flow.get(call)?.stages, [
    { stage: 'authentication', afterMs: 0, afterEvent: 1 },
    { stage: 'store', afterMs: 5, afterEvent: 2 },
  ])
  for (let count = 0; count < 8; count++) flow.record('step', 'a', 'a', 'more')
  const later = flow.last
  flow.passStage(call, 'mutating')
  deepEqual(flow.get((later - 1) as FlowId)?.stages, [])
  flow.startStages(later, clock.monotonicMs())
  deepEqual(flow.get(later)?.stages, [], 'what its slot held before is gone')
})

test('the ring retains the newest events, and removes the writes of the others', () => {
  const flow = new FlowRecorder(new VirtualClock(), 8)
  for (let revision = 1; revision <= 20; revision++) flow.record('persist', 'API Server', 'Store', 'put', pod, revision)
  deepEqual(
    Array.from(flow.events(), (event) => event.revision),
    [13, 14, 15, 16, 17, 18, 19, 20],
  )
  equal(flow.writeOf(12), 0)
  equal(flow.writeOf(13), 13)
  equal(flow.get(12 as FlowId), undefined)
  flow.finish(12 as FlowId, 'late') // must not change the event that now uses the slot
  equal(flow.get(20 as FlowId)?.outcome, undefined)
})

test('while the ring grows, no event, write or stage is lost', () => {
  const clock = new VirtualClock(1000)
  const flow = new FlowRecorder(clock, 8192)
  const calls: FlowId[] = []
  // Two events for each: the ring is full when the last one is recorded.
  for (let index = 1; index <= 4096; index++) {
    const call = flow.record('call', 'Client', 'API Server', `create ${index}`, pod)
    flow.startStages(call, clock.monotonicMs())
    flow.passStage(call, 'store')
    flow.record('persist', 'API Server', 'Store', 'put', pod, 1_000_000 + index, causeOf(call))
    flow.finish(call, '201')
    calls.push(call)
  }
  deepEqual(
    calls.map((call) => {
      const { what, outcome, stages } = flow.get(call) ?? {}
      return [what, outcome, stages?.map(({ stage, afterEvent }) => [stage, afterEvent])]
    }),
    calls.map((call, index) => [`create ${index + 1}`, '201', [['store', call]]]),
  )
  deepEqual(
    calls.map((_, index) => flow.writeOf(1_000_001 + index)),
    calls.map((call) => call + 1),
  )
  // The next one replaces the oldest.
  const next = flow.record('call', 'Client', 'API Server', 'create', pod)
  deepEqual([flow.oldest, flow.last, flow.get(calls[0] as FlowId)], [2, next, undefined])
})

test('a listener receives every event and every end until it is removed', () => {
  const flow = new FlowRecorder(new VirtualClock())
  const received: number[] = []
  const leave = flow.listen((id) => received.push(id))
  const call = flow.record('call', 'a', 'b', 'one')
  flow.record('step', 'a', 'a', 'two')
  flow.finish(call, 'ok')
  leave()
  flow.record('step', 'a', 'a', 'three')
  deepEqual(received, [1, 2, 1])
})

test('an event of another process is imported once with its name and time, and is removed with its slot', () => {
  const flow = new FlowRecorder(new VirtualClock(5000), 4)
  const reported: ReportedEvent = {
    arrow: 'call',
    from: 'kubelet/a',
    to: 'Runtime',
    what: 'RunPodSandbox',
    object: pod,
    revision: 0,
    atMs: 1200,
    endMs: undefined,
    outcome: undefined,
    cause: noCause,
    span: 'r-1' as Span,
  }
  flow.recordReported(reported)
  flow.recordReported({ ...reported, endMs: 1300, outcome: 'ok' })
  deepEqual(
    Array.from(flow.events(), ({ span, atMs, endMs, outcome }) => ({ span, atMs, endMs, outcome })),
    [{ span: 'r-1', atMs: 1200, endMs: 1300, outcome: 'ok' }],
  )
  for (let n = 0; n < 4; n++) flow.record('step', 'a', 'a', `${n}`)
  flow.recordReported(reported)
  equal(flow.last, 6)
  deepEqual(
    Array.from(flow.events(), ({ span }) => span),
    [undefined, undefined, undefined, 'r-1'],
  )
})

test('texts are cut off, in every method', () => {
  const flow = new FlowRecorder(new VirtualClock(), 8)
  const long = 'x'.repeat(flowTextCharsMax + 1)
  const cut = `${'x'.repeat(flowTextCharsMax - 1)}…`
  const object = { resource: long, namespace: long, name: long }
  const call = flow.record('call', long, long, long, object)
  flow.finish(call, long)
  const texts = () => {
    const { from, to, what, outcome, object: stored } = flow.get(flow.last) as FlowEvent
    return [from, to, what, outcome, ...Object.values(stored ?? {})]
  }
  deepEqual(
    texts(),
    Array.from({ length: 7 }, () => cut),
  )
  const later = flow.record('call', 'a', long, long, pod)
  flow.identify(later, object)
  flow.attribute(later, long)
  flow.finish(later, long)
  deepEqual(
    texts(),
    Array.from({ length: 7 }, () => cut),
  )
  flow.recordReported({
    arrow: 'call',
    from: long,
    to: long,
    what: long,
    object,
    revision: 0,
    outcome: long,
    atMs: 0,
    endMs: 0,
    cause: noCause,
    span: 'r-1' as Span,
  })
  deepEqual(
    texts(),
    Array.from({ length: 7 }, () => cut),
  )
})

test('the oldest events are removed when all texts together are too long', () => {
  const flow = new FlowRecorder(new VirtualClock(), 8, 40)
  const ids = () => Array.from(flow.events(), ({ id }) => id)
  for (let revision = 1; revision <= 5; revision++) flow.record('persist', 'a', 'b', '12345678', undefined, revision)
  deepEqual(ids(), [2, 3, 4, 5], 'ten characters each')
  equal(flow.oldest, 2)
  deepEqual([flow.writeOf(1), flow.writeOf(2), flow.get(1 as FlowId)], [0, 2, undefined])
  flow.finish(5 as FlowId, '12345')
  deepEqual(ids(), [3, 4, 5], 'texts that are added later count')
  flow.finish(5 as FlowId, '')
  flow.finish(1 as FlowId, 'late')
  flow.record('step', 'a', 'b', '12345678')
  deepEqual(ids(), [3, 4, 5, 6], 'texts that are replaced do not')
  flow.record('step', 'a', 'b', 'x'.repeat(100))
  deepEqual(ids(), [7], 'the last event is kept in any case')
  for (let count = 0; count < 20; count++) flow.record('step', '', '', 'x')
  equal(ids().length, 8, 'the ring has not become smaller')
})

test('merged causes are bounded, distinct and newest first', () => {
  equal(mergeCauses([]), noCause)
  const causes = Array.from({ length: 100 }, (_, index) => causeOf((index + 1) as FlowId, index + 1))
  const merged = mergeCauses([...causes, causeOf(100 as FlowId, 100)])
  equal(merged.event, 100)
  deepEqual(merged.also, [99, 98, 97, 96, 95, 94])
  deepEqual(merged.revisions, [100, 99, 98, 97, 96, 95, 94])
})

test('the calls that were denied to a user are found, and allowed calls have no such user', () => {
  const flow = new FlowRecorder(new VirtualClock())
  const [denied, allowed, other] = ['list pods', 'get pods', 'list nodes'].map((what) =>
    flow.record('call', 'client', 'API Server', what),
  ) as [FlowId, FlowId, FlowId]
  flow.deny(denied, 'jane')
  flow.explain(allowed, { reason: () => 'the rule' })
  flow.deny(other, 'joe')
  deepEqual(
    flow.deniedTo('jane').map(({ what, deniedTo, allowedBy }) => [what, deniedTo, allowedBy]),
    [['list pods', 'jane', undefined]],
  )
  equal(flow.get(allowed)?.deniedTo, undefined)
  equal(flow.get(other)?.deniedTo, 'joe')
})

import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder, type FlowEvent, type FlowId } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { LineRates, linesMax } from './line-rates.ts'

function newRates() {
  const flow = new FlowRecorder(new VirtualClock())
  const rates = new LineRates(flow.last)
  const add = (id: FlowId) => rates.add(flow.get(id) as FlowEvent)
  const call = (from: string, to: string) => flow.record('call', from, to, 'x')
  return { flow, rates, add, call }
}

test('a call is counted once, and its failure when it has ended', () => {
  const { flow, rates, add, call } = newRates()
  const good = call('kubectl', 'API Server')
  const bad = call('kubectl', 'API Server')
  for (const id of [good, bad]) add(id)
  deepEqual(rates.take(), [{ from: 'kubectl', to: 'API Server', messages: 2, errors: 0 }])
  flow.finish(good, '200')
  flow.finish(bad, '409 Conflict')
  for (const id of [good, bad]) add(id)
  deepEqual(rates.take(), [{ from: 'kubectl', to: 'API Server', messages: 0, errors: 1 }])
  deepEqual(rates.take(), [])
})

test('the busiest lines come first, and their number is bounded', () => {
  const { rates, add, call } = newRates()
  for (let index = 0; index < linesMax + 10; index++) add(call(`kubelet/${index}`, 'API Server'))
  for (let index = 0; index < 3; index++) add(call('scheduler', 'API Server'))
  const lines = rates.take()
  deepEqual(lines[0], { from: 'scheduler', to: 'API Server', messages: 3, errors: 0 })
  equal(lines.length, linesMax)
})

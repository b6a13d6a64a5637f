import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder, type FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { mapRates, rateWindowMs } from './map-rates.ts'

const nowMs = 100_000
/** Messages `from, to, outcome`, and how long ago they were. */
function eventsOf(
  ...messages: readonly (readonly [from: string, to: string, outcome?: string, agoMs?: number])[]
): FlowEvent[] {
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock, 64)
  for (const [from, to, outcome, agoMs = 0] of messages) {
    clock.turnTo(nowMs - agoMs)
    const id = flow.record('call', from, to, 'list pods')
    if (outcome !== undefined) flow.finish(id, outcome)
  }
  return [...flow.events()]
}

test('participants are in the column of their kind', () => {
  const { columns } = mapRates(
    eventsOf(
      ['kubectl', 'API Server'],
      ['API Server', 'Store'],
      ['scheduler', 'API Server'],
      ['controllers', 'API Server'],
      ['controller/job', 'API Server'],
      ['kubelet/node-0', 'Runtime'],
      ['proxy/node-0', 'Network'],
      ['csi/disk', 'Volumes'],
    ),
    nowMs,
  )
  deepEqual(columns, [
    ['kubectl'],
    ['API Server', 'Store'],
    ['controller/job', 'controllers', 'scheduler'],
    ['Network', 'Runtime', 'Volumes', 'csi/disk', 'kubelet/node-0', 'proxy/node-0'],
  ])
})

test('a rate is that of both directions within the window, the busiest line first', () => {
  const { lines } = mapRates(
    eventsOf(
      ['kubectl', 'API Server', '500 InternalError', rateWindowMs],
      ['kubectl', 'API Server', '200', rateWindowMs - 1],
      ['scheduler', 'API Server', '409 Conflict'],
      ['API Server', 'scheduler'],
      ['old', 'API Server', '200', 2 * rateWindowMs],
      ['scheduler', 'scheduler'],
    ),
    nowMs,
  )
  deepEqual(lines, [
    { id: 'API Server>scheduler', from: 'API Server', to: 'scheduler', perSecond: 0.4, errorsPerSecond: 0.2 },
    { id: 'API Server>kubectl', from: 'API Server', to: 'kubectl', perSecond: 0.2, errorsPerSecond: 0 },
    { id: 'API Server>old', from: 'API Server', to: 'old', perSecond: 0, errorsPerSecond: 0 },
  ])
})

for (const [count, names] of [
  [6, Array.from({ length: 6 }, (_, index) => `kubelet/${index}`)],
  [7, ['kubelet']],
] as const)
  test(`${count} kubelets have ${names.length === 1 ? 'one name' : 'their own names'}`, () => {
    const calls = Array.from({ length: count }, (_, index) => [`kubelet/${index}`, 'API Server'] as const)
    const { columns, lines } = mapRates(eventsOf(...calls), nowMs)
    deepEqual(columns[3], names)
    deepEqual(
      lines.map(({ to, perSecond }) => [to, perSecond]),
      names.map((name) => [name, count / names.length / 5]),
    )
  })

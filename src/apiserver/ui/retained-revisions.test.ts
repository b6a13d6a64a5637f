import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { retainedRevisions } from './retained-revisions.ts'

/** Revisions from 1, written at 1000 ms, 2000 ms and so on. */
async function recorded(count: number): Promise<FlowRecorder> {
  const clock = new VirtualClock(0)
  const flow = new FlowRecorder(clock)
  for (let revision = 1; revision <= count; revision++) {
    await clock.advance(1_000)
    flow.record('persist', 'API Server', 'store', 'create pods', undefined, revision)
  }
  return flow
}

const requests: [name: string, atMs: number | undefined, revision: number | undefined][] = [
  ['no time', undefined, undefined],
  ['the time of a write', 3_000, 3],
  ['a time between two writes', 3_999, 3],
  ['a time in the future', 99_000, 5],
  ['a time before the oldest revision', 500, 2],
]

for (const [name, atMs, revision] of requests)
  test(`revisions: ${name}`, async () =>
    equal(retainedRevisions({ oldest: 2, newest: 5 }, await recorded(5), atMs).at?.revision, revision))

test('the oldest and newest revision have times where they are recorded', async () => {
  const { oldest, newest, marks } = retainedRevisions({ oldest: 0, newest: 3 }, await recorded(3), undefined)
  deepEqual(
    [oldest, newest],
    [
      { revision: 0, atMs: undefined },
      { revision: 3, atMs: 3_000 },
    ],
  )
  deepEqual(
    marks.map(({ revision }) => revision),
    [1, 2, 3],
  )
})

test('the number of marks is bounded', async () => {
  const { marks } = retainedRevisions({ oldest: 1, newest: 1_001 }, await recorded(1_001), undefined)
  equal(marks.length, 167)
})

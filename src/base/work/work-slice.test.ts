import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../time/virtual-clock.ts'
import { runInSlices, runToEnd, type Slice, type Sliced } from './work-slice.ts'

/** A clock whose time passes with every reading. */
class ReadingClock extends VirtualClock {
  readings = 0

  override monotonicMs(): number {
    return this.readings++
  }
}

const { signal } = new AbortController()

/** Counts its steps in each slice. */
const counting = (steps: number, counts: number[]) =>
  function* (slice: Slice): Sliced<string> {
    let count = 0
    for (let step = 0; step < steps; step++) {
      count++
      if (!slice.isUsedUp()) continue
      counts.push(count)
      count = 0
      yield
    }
    counts.push(count)
    return 'done'
  }

test('a computation within one slice is synchronous', () => {
  const counts: number[] = []
  equal(runInSlices(counting(3, counts), new ReadingClock(), signal), 'done')
  deepEqual(counts, [3])
})

test('a longer computation is interrupted whenever its slice is used up', async () => {
  const counts: number[] = []
  const running = runInSlices(counting(12, counts), new ReadingClock(), signal)
  ok(running instanceof Promise)
  deepEqual(counts, [5])
  equal(await running, 'done')
  deepEqual(counts, [5, 5, 2])
})

test('other work runs between two slices', async () => {
  const order: string[] = []
  setImmediate(() => order.push('other work'))
  await runInSlices(
    function* (): Sliced<void> {
      order.push('first slice')
      yield
      order.push('second slice')
    },
    new ReadingClock(),
    signal,
  )
  deepEqual(order, ['first slice', 'other work', 'second slice'])
})

test('errors of the first and of later slices reach the caller', async () => {
  const failing = (slices: number) =>
    function* (): Sliced<void> {
      for (let slice = 0; slice < slices; slice++) yield
      throw new Error('failed')
    }
  throws(() => runInSlices(failing(0), new ReadingClock(), signal), /failed/)
  await rejects(async () => runInSlices(failing(2), new ReadingClock(), signal), /failed/)
})

test('a computation that must not be interrupted runs to its end', () => {
  const counts: number[] = []
  equal(runToEnd(counting(100, counts)), 'done')
  deepEqual(counts, [100])
})

test('an aborted computation ends at its next slice', async () => {
  const counts: number[] = []
  const ended = new AbortController()
  const running = runInSlices(counting(100, counts), new ReadingClock(), ended.signal)
  ended.abort(new Error('the client has gone'))
  await rejects(async () => running, /the client has gone/)
  deepEqual(counts, [5])
})

test('one slice of all computations runs in a turn', async () => {
  const order: string[] = []
  const work = (name: string) =>
    runInSlices(
      function* (): Sliced<void> {
        for (let step = 1; step < 3; step++) {
          yield
          order.push(`${name}${step}`)
        }
      },
      new ReadingClock(),
      signal,
    )
  const all = Promise.all([work('a'), work('b')])
  const turns = Promise.withResolvers<void>()
  let turn = 0
  const count = () => {
    order.push(String(++turn))
    if (turn < 4) setImmediate(count)
    else turns.resolve()
  }
  setImmediate(count)
  await Promise.all([all, turns.promise])
  deepEqual(order.slice(0, 5), ['a1', '1', 'b1', '2', 'a2'])
})

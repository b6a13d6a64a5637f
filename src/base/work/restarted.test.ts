import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { restarted, SliceEnd, StepCounter } from './restarted.ts'
import { endlessSlice, runToEnd } from './work-slice.ts'

const usedUp = { isUsedUp: () => true }

test('a computation is started again after each slice, with the steps that it has completed', () => {
  const steps = new StepCounter(usedUp, 2)
  const results = new Map<number, number>()
  const square = (of: number): number => {
    const known = results.get(of)
    if (known !== undefined) return known
    results.set(of, of * of)
    steps.completed()
    return of * of
  }
  const computation = restarted(() => [1, 2, 3, 4, 5].map(square))
  equal(computation.next().done, false)
  deepEqual([...results.keys()], [1, 2])
  equal(computation.next().done, false)
  deepEqual(computation.next(), { done: true, value: [1, 4, 9, 16, 25] })
})

test('a computation that is not interrupted runs once', () => {
  let attempts = 0
  const steps = new StepCounter(endlessSlice, 1)
  const work = () => {
    attempts++
    steps.completed()
    return 'done'
  }
  equal(
    runToEnd(() => restarted(work)),
    'done',
  )
  equal(attempts, 1)
})

test('other errors end the computation', () => {
  const failing = () => {
    throw new Error('broken')
  }
  throws(() => restarted(failing).next(), /broken/)
})

test('the slice is checked after a number of steps', () => {
  const steps = new StepCounter(usedUp, 10)
  steps.completed(9)
  throws(() => steps.completed(), SliceEnd)
  steps.completed(9)
})

import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { withTimeLimit } from './time-limit.harness.ts'

test('work within a time limit returns its result, and its errors are thrown', () => {
  equal(
    withTimeLimit(() => 1 + 1),
    2,
  )
  throws(() => withTimeLimit(() => JSON.parse('{') as unknown), SyntaxError)
})

test('work that never ends is an error', () => {
  let steps = 0
  const work = () => {
    while (steps >= 0) steps++
  }
  throws(() => withTimeLimit(work, 20), { message: 'the work did not end within 20 ms' })
})

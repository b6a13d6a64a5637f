import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { withCause, context } from './context.ts'
import { causeOf, noCause, type FlowId } from './flow-recorder.ts'

test('because retains the signal and replaces the cause', () => {
  const { signal } = new AbortController()
  const outer = context(signal)
  equal(outer.cause, noCause)
  const cause = causeOf(7 as FlowId, 12)
  const inner = withCause(outer, cause)
  equal(inner.signal, signal)
  equal(inner.cause, cause)
})

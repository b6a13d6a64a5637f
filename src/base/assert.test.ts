import { throws, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { assert, AssertionError, present } from './assert.ts'

test('assert throws its own error with the message', () => {
  throws(() => assert(false, 'queue is bounded'), new AssertionError('queue is bounded'))
})

test('present hands the value on, zero and empty text included', () => {
  equal(present(0, 'number'), 0)
  equal(present('', 'text'), '')
  throws(() => present(undefined, 'gone'), AssertionError)
})

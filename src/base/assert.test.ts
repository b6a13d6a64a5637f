import { throws, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { assert, AssertionError, present } from './assert.ts'

test('assert throws an AssertionError with the message', () => {
  throws(() => assert(false, 'queue is bounded'), new AssertionError('queue is bounded'))
})

test('present returns the value, including 0 and the empty string', () => {
  equal(present(0, 'number'), 0)
  equal(present('', 'text'), '')
  throws(() => present(undefined, 'gone'), AssertionError)
})

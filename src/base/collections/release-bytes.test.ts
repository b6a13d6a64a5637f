import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { releaseBytes } from './release-bytes.ts'

const size = 64 << 10

test('released bytes are empty', () => {
  const bytes = new Uint8Array(size)
  releaseBytes(bytes)
  equal(bytes.length, 0)
})

test('memory that others use is left alone', () => {
  const whole = new Uint8Array(size)
  releaseBytes(whole.subarray(1))
  equal(whole.length, size)
  const shared = new Uint8Array(new SharedArrayBuffer(size))
  releaseBytes(shared)
  equal(shared.length, size)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pooledCopy } from './pooled-copy.ts'

test('copies are independent, also across blocks', () => {
  const copies = Array.from({ length: 3_000 }, (_, index) => pooledCopy(new Uint8Array(100).fill(index)))
  for (const [index, copy] of copies.entries())
    assert.ok(copy.length === 100 && copy.every((byte) => byte === (index & 255)))
})

test('a long message has its own allocation', () => {
  const copy = pooledCopy(new Uint8Array(10_000))
  assert.equal(copy.buffer.byteLength, 10_000)
})

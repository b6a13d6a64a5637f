import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ByteBuffer } from './byte-buffer.ts'

test('pieces are collected, and taking them empties the buffer', () => {
  const buffer = new ByteBuffer()
  deepEqual([...buffer.append(Uint8Array.of(1, 2))], [1, 2])
  deepEqual([...buffer.append(Uint8Array.of(3))], [3])
  equal(buffer.length, 3)
  deepEqual([...buffer.take()], [1, 2, 3])
  equal(buffer.length, 0)
  deepEqual([...buffer.append(Uint8Array.of(4))], [4])
  deepEqual([...buffer.bytes], [4])
})

test('the buffer does not share memory with its pieces or with what was taken', () => {
  const buffer = new ByteBuffer()
  const piece = Uint8Array.of(1)
  buffer.append(piece)
  piece[0] = 9
  const taken = buffer.take()
  buffer.append(Uint8Array.of(2))
  deepEqual([...taken], [1])
})

test('the number of allocations grows with the logarithm of the length', () => {
  const buffer = new ByteBuffer()
  const buffers = new Set<ArrayBufferLike>()
  for (let count = 0; count < 100_000; count++) buffers.add(buffer.append(Uint8Array.of(count & 255)).buffer)
  equal(buffer.length, 100_000)
  ok(buffers.size < 20, `${buffers.size} allocations`)
})

test('outgrown memory is freed at once, and what is taken has no spare capacity', () => {
  const buffer = new ByteBuffer()
  const first = buffer.append(new Uint8Array(10))
  buffer.append(new Uint8Array(1))
  equal(first.length, 0)
  const taken = buffer.take()
  deepEqual([taken.length, taken.buffer.byteLength], [11, 11])
})

test('the capacity does not exceed the expected length, unless more arrives', () => {
  const buffer = new ByteBuffer(12)
  const capacities = [8, 2, 2, 1].map((size) => buffer.append(new Uint8Array(size)).buffer.byteLength)
  deepEqual(capacities, [8, 12, 12, 13])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { framed, FrameReader } from './stream-frames.ts'

const messages = [Uint8Array.of(1, 2, 3), new Uint8Array(0), Uint8Array.of(4)]
const stream = messages.flatMap((message) => [...framed(message)])

for (const size of [1, 2, 3, 100])
  test(`messages arrive in pieces of ${size} bytes`, () => {
    const reader = new FrameReader(3)
    const received: Uint8Array[] = []
    for (let at = 0; at < stream.length; at += size)
      received.push(...(reader.push(Uint8Array.from(stream.slice(at, at + size))) ?? []))
    assert.deepEqual(received, messages)
  })

test('a message that is longer than allowed is an error before it arrives', () => {
  assert.equal(new FrameReader(3).push(Uint8Array.of(0, 4)), undefined)
})

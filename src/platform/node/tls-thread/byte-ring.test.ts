import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../base/random/random.ts'
import { newRing, RingReader, RingWriter, type Chunk } from './byte-ring.ts'

const all = Number.MAX_SAFE_INTEGER

function ringOf(bytes: number) {
  const memory = newRing(bytes)
  const woken: string[] = []
  const writer = new RingWriter(memory, () => woken.push('reader'))
  const reader = new RingReader(memory, () => woken.push('writer'))
  const got: [number, string][] = []
  const take = (framesMax = all) => reader.take(framesMax, (tag, frame) => got.push([tag, frame.toString('latin1')]))
  return { writer, reader, woken, got, take }
}

test('frames arrive complete and in order, wherever the ring wraps around', () => {
  const random = seededRandom(7)
  const { writer, got, take } = ringOf(1 << 10)
  const sent: [number, string][] = []
  for (let tag = 0; tag < 5_000; tag++) {
    const parts: Chunk[] = Array.from({ length: random.below(4) }, () => {
      const text = String.fromCharCode(97 + random.below(26)).repeat(random.below(200))
      return random.below(2) === 0 ? text : Buffer.from(text)
    })
    const whole = parts.map((part) => part.toString()).join('')
    writer.write(tag, parts, whole.length)
    sent.push([tag, whole])
    if (random.below(3) === 0) writer.publish()
    if (random.below(5) === 0) take(1 + random.below(10))
  }
  while (got.length < sent.length) {
    writer.publish()
    take()
  }
  deepEqual(got, sent)
})

test('the reader sees nothing before it is published', () => {
  const { writer, got, take } = ringOf(1 << 10)
  writer.write(1, ['a'], 1)
  take()
  deepEqual(got, [])
  writer.publish()
  take()
  deepEqual(got, [[1, 'a']])
})

test('a reader that sleeps is woken once, one that is awake is not', () => {
  const { writer, reader, woken, take } = ringOf(1 << 10)
  writer.write(1, [], 0)
  writer.publish()
  deepEqual(woken, [])
  equal(reader.sleep(), false, 'there is something to read')
  take()
  equal(reader.sleep(), true)
  for (const tag of [2, 3]) {
    writer.write(tag, [], 0)
    writer.publish()
  }
  deepEqual(woken, ['reader'])
})

test('frames without room wait, and the writer is woken when there is room', () => {
  const { writer, reader, woken, got, take } = ringOf(64)
  for (const tag of [1, 2, 3]) writer.write(tag, ['x'.repeat(24)], 24)
  writer.publish()
  ok(writer.isFull)
  take(1)
  deepEqual(woken, ['writer'])
  writer.publish()
  ok(!writer.isFull)
  take()
  deepEqual(
    got.map(([tag]) => tag),
    [1, 2, 3],
  )
  equal(reader.sleep(), true)
})

test('a reader that has taken all does not sleep while the writer needs room', () => {
  const { writer, reader, woken, take } = ringOf(64)
  for (const tag of [1, 2, 3]) writer.write(tag, ['x'.repeat(24)], 24)
  // The writer asks for room only after the reader has checked.
  take()
  writer.publish()
  take(0)
  deepEqual(woken, ['writer'])
  writer.publish()
  equal(reader.sleep(), false)
})

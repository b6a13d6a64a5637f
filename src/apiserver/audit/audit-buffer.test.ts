import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { AuditBuffer } from './audit-buffer.ts'

const pushes: [what: string, eventsMax: number, charsMax: number, lines: string[], kept: string[]][] = [
  ['events up to the number', 2, 100, ['a', 'b', 'c'], ['a', 'b']],
  ['events up to the characters', 10, 5, ['abc', 'de', 'f'], ['abc', 'de']],
  ['a short event after one that does not fit', 10, 5, ['abc', 'defg', 'h'], ['abc', 'h']],
  ['one event of any length', 10, 5, ['abcdefgh', 'i'], ['abcdefgh']],
]
for (const [what, eventsMax, charsMax, lines, kept] of pushes)
  test(`the buffer keeps ${what}`, () => {
    const buffer = new AuditBuffer(eventsMax, charsMax)
    deepEqual(
      lines.filter((line) => buffer.push(line)),
      kept,
    )
    equal(buffer.size, kept.length)
    deepEqual(buffer.take(), kept)
    equal(buffer.push('again'), true)
  })

test('batches are limited by lines and by characters, and have at least one line', () => {
  const buffer = new AuditBuffer(10, 100)
  for (const line of ['abcdef', 'gh', 'ij', 'k', 'l']) buffer.push(line)
  deepEqual(
    [buffer.take(3, 4), buffer.take(3, 4), buffer.take(1, 4), buffer.take(3, 4), buffer.take()],
    [['abcdef'], ['gh', 'ij'], ['k'], ['l'], []],
  )
  equal(buffer.isFull, false)
})

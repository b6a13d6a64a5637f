import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Fifo } from './fifo.ts'

test('values leave in the order of their arrival', () => {
  const fifo = new Fifo<number>()
  equal(fifo.shift(), undefined)
  const count = 5_000
  const seen: number[] = []
  // Two arrive for each one that leaves, so the list is compacted while values wait.
  for (let value = 0; value < count; value++) {
    fifo.push(value)
    if (value % 2 === 1) seen.push(fifo.shift() ?? -1)
  }
  equal(fifo.size, count / 2)
  for (let value = fifo.shift(); value !== undefined; value = fifo.shift()) seen.push(value)
  deepEqual(
    seen,
    Array.from({ length: count }, (_, value) => value),
  )
  equal(fifo.size, 0)
})

test('a cleared list is empty and can be used again', () => {
  const fifo = new Fifo<string>()
  for (const value of ['a', 'b', 'c']) fifo.push(value)
  equal(fifo.shift(), 'a')
  fifo.clear()
  equal(fifo.size, 0)
  fifo.push('d')
  equal(fifo.shift(), 'd')
})

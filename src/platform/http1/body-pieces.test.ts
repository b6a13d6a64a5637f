import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { BodyPieces } from './body-pieces.ts'

const bytes = (count: number) => new Uint8Array(count)

test('pieces arrive in order, until the end', async () => {
  let rooms = 0
  const pieces = new BodyPieces(() => rooms++)
  pieces.push(bytes(1))
  const lengths: number[] = []
  const read = (async () => {
    for await (const piece of pieces) lengths.push(piece.length)
  })()
  await Promise.resolve()
  pieces.push(bytes(2))
  pieces.push(bytes(0))
  await Promise.resolve()
  pieces.push(bytes(3))
  pieces.end()
  await read
  deepEqual(lengths, [1, 2, 3])
  equal(rooms > 0, true)
})

test('a reader that is behind makes it full, and gets everything before a failure', async () => {
  const pieces = new BodyPieces(() => {})
  pieces.push(bytes(65_537))
  deepEqual([pieces.isFull, pieces.waitingBytes], [true, 65_537])
  pieces.fail(new Error('gone'))
  pieces.push(bytes(1))
  const reader = pieces[Symbol.asyncIterator]()
  equal((await reader.next()).value?.length, 65_537)
  equal(pieces.isFull, false)
  await rejects(reader.next(), /gone/)
})

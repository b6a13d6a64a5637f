import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { PieceQueue } from './piece-queue.ts'

const bytes = (count: number) => new Uint8Array(count)

test('pieces arrive in order, until the end', async () => {
  let rooms = 0
  const queue = new PieceQueue({ onRoom: () => rooms++ })
  queue.push(bytes(1))
  const lengths: number[] = []
  const read = (async () => {
    for await (const piece of queue) lengths.push(piece.length)
  })()
  await Promise.resolve()
  queue.push(bytes(2))
  queue.push(bytes(0))
  await Promise.resolve()
  queue.push(bytes(3))
  queue.end()
  await read
  deepEqual(lengths, [1, 2, 3])
  equal(rooms > 0, true)
})

test('waiting bytes are counted until the reader takes them, and it gets all of them before a failure', async () => {
  const queue = new PieceQueue()
  queue.push(bytes(70_000))
  equal(queue.waitingBytes, 70_000)
  queue.fail(new Error('gone'))
  queue.push(bytes(1))
  queue.end()
  const reader = queue[Symbol.asyncIterator]()
  equal((await reader.next()).value?.length, 70_000)
  equal(queue.waitingBytes, 0)
  await rejects(reader.next(), /gone/)
})

test('a reader that leaves before the end is reported, and nothing is kept for it', async () => {
  let left = 0
  const queue = new PieceQueue({ onLeft: () => left++ })
  queue.push(bytes(1))
  queue.push(bytes(2))
  for await (const _piece of queue) break
  queue.push(bytes(3))
  deepEqual([left, queue.waitingBytes, queue.isOpen], [1, 0, false])
})

test('a reader that leaves before the first piece is reported', async () => {
  let left = 0
  const queue = new PieceQueue({ onLeft: () => left++ })
  await queue[Symbol.asyncIterator]().return?.()
  deepEqual([left, queue.isOpen], [1, false])
})

test('a reader that leaves after the end is not reported', async () => {
  let left = 0
  const queue = new PieceQueue({ onLeft: () => left++ })
  queue.push(bytes(1))
  queue.end()
  for await (const _piece of queue) break
  deepEqual([left, queue.isOpen], [0, false])
})

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { Channel } from './channel.ts'
import { lazyAsyncIterable } from './lazy-async-iterable.ts'

test('the source is opened once, when the first item is requested', async () => {
  let opened = 0
  const channel = new Channel<number>(10)
  for (const item of [1, 2]) channel.push(item)
  channel.end()
  const items = lazyAsyncIterable(async () => {
    opened++
    return channel
  })
  equal(opened, 0)
  const seen: number[] = []
  for await (const item of items) seen.push(item)
  deepEqual([opened, seen], [1, [1, 2]])
})

test('a return ends the source, and no item is read after it', async () => {
  const channel = new Channel<number>(10)
  channel.push(1)
  const reading = lazyAsyncIterable(async () => channel)[Symbol.asyncIterator]()
  deepEqual(await reading.next(), { value: 1, done: false })
  await reading.return?.()
  equal(channel.ended, true)
  deepEqual(await reading.next(), { value: undefined, done: true })
})

test('an error while opening rejects the first read', async () => {
  const reading = lazyAsyncIterable<number>(() => Promise.reject(new Error('no')))[Symbol.asyncIterator]()
  await rejects(reading.next(), /no/)
})

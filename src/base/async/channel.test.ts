import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { Channel, ChannelOverflow } from './channel.ts'
import { eventLoopTurn } from './event-loop-turn.ts'

async function readAll<T>(channel: Channel<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of channel) items.push(item)
  return items
}

test('items arrive in order, whether the reader waits before or after they are sent', async () => {
  const channel = new Channel<number>(10)
  channel.push(1)
  const reading = readAll(channel)
  await Promise.resolve()
  channel.push(2)
  channel.push(3)
  channel.end()
  deepEqual(await reading, [1, 2, 3])
})

test('a reader that falls behind gets an overflow error', async () => {
  const channel = new Channel<number>(2)
  for (let i = 0; i < 4; i++) channel.push(i)
  await rejects(readAll(channel), ChannelOverflow)
})

test('an error reaches the reader once, after the queued items', async () => {
  const channel = new Channel<number>(2)
  channel.push(1)
  channel.end(new Error('gone'))
  const seen: number[] = []
  await rejects(async () => {
    for await (const item of channel) seen.push(item)
  }, /gone/)
  deepEqual(seen, [1])
})

test('the sender is notified when the reader leaves and when the signal is aborted', async () => {
  let ends = 0
  const left = new Channel<number>(2, () => ends++)
  left.push(1)
  for await (const _ of left) break
  equal(ends, 1)
  const controller = new AbortController()
  const aborted = new Channel<number>(2, () => ends++).endOnAbort(controller.signal)
  controller.abort()
  deepEqual(await readAll(aborted), [])
  equal(ends, 2)
  equal(aborted.ended, true)
})

test('a batch contains all queued items, and an error follows after it', async () => {
  const channel = new Channel<number>(10)
  channel.push(1)
  channel.push(2)
  const seen: (readonly number[])[] = []
  const reading = (async () => {
    for await (const batch of channel.batches()) seen.push(batch)
  })()
  await eventLoopTurn()
  for (const item of [3, 4, 5]) channel.push(item)
  await eventLoopTurn()
  channel.push(6)
  channel.end(new Error('gone'))
  await rejects(reading, /gone/)
  deepEqual(seen, [[1, 2], [3, 4, 5], [6]])
})

test('batches can be mapped; an error of the mapping ends the channel', async () => {
  const channel = new Channel<number>(10)
  const sums = channel.mapBatches((items) => {
    if (items.includes(3)) throw new Error('no')
    return items.join('+')
  })
  const reading = sums[Symbol.asyncIterator]()
  for (const item of [1, 2]) channel.push(item)
  deepEqual(await reading.next(), { value: '1+2', done: false })
  channel.push(3)
  await rejects(reading.next(), /no/)
  equal(channel.ended, true)
  deepEqual(await reading.next(), { value: undefined, done: true })
})

test('a mapped channel preserves the order when some items are mapped asynchronously', async () => {
  const source = new Channel<number>(10)
  const first = Promise.withResolvers<string>()
  const target = source.map((item) => (item === 1 ? first.promise : `item ${item}`))
  source.push(1)
  source.push(2)
  source.end()
  equal(target.ended, false)
  first.resolve('item 1')
  deepEqual(await readAll(target), ['item 1', 'item 2'])
  const failing = new Channel<number>(10)
  const failed = failing.map(() => Promise.reject(new Error('no key')))
  failing.push(1)
  await rejects(readAll(failed), /no key/)
  equal(failing.ended, true)
})

test('a mapped channel delivers the mapped items, and both channels end together', async () => {
  let ends = 0
  const source = new Channel<number>(10, () => ends++)
  source.push(1)
  const target = source.map((item) => item * 10)
  source.push(2)
  source.end()
  deepEqual(await readAll(target), [10, 20])
  const failing = new Channel<number>(10)
  failing.push(1)
  failing.end(new Error('gone'))
  await rejects(readAll(failing.map((item) => item)), /gone/)
  const left = new Channel<number>(10, () => ends++)
  left.map((item) => item).end()
  equal(ends, 2)
  equal(left.ended, true)
})

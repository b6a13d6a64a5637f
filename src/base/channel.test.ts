import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { Channel, ChannelOverflow } from './channel.ts'

async function readAll<T>(channel: Channel<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of channel) items.push(item)
  return items
}

test('items arrive in order, before and after the reader waits', async () => {
  const channel = new Channel<number>(10)
  channel.push(1)
  const reading = readAll(channel)
  await Promise.resolve()
  channel.push(2)
  channel.push(3)
  channel.end()
  deepEqual(await reading, [1, 2, 3])
})

test('a reader that falls behind is told so', async () => {
  const channel = new Channel<number>(2)
  for (let i = 0; i < 4; i++) channel.push(i)
  await rejects(readAll(channel), ChannelOverflow)
})

test('an error reaches the reader once, after what was queued', async () => {
  const channel = new Channel<number>(2)
  channel.push(1)
  channel.end(new Error('gone'))
  const seen: number[] = []
  await rejects(async () => {
    for await (const item of channel) seen.push(item)
  }, /gone/)
  deepEqual(seen, [1])
})

test('the sender hears when the reader leaves, and when the signal ends it', async () => {
  let ends = 0
  const left = new Channel<number>(2, () => ends++)
  left.push(1)
  for await (const _ of left) break
  equal(ends, 1)
  const controller = new AbortController()
  const aborted = new Channel<number>(2, () => ends++).endWith(controller.signal)
  controller.abort()
  deepEqual(await readAll(aborted), [])
  equal(ends, 2)
  equal(aborted.ended, true)
})

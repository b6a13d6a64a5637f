import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { AwaitedBodies } from './awaited-bodies.ts'
import type { RequestSeat } from './request-seat.ts'

/** Seats that record what happens to them. */
function setUp() {
  const bodies = new AwaitedBodies()
  const order: string[] = []
  const seat: RequestSeat = {
    leave: () => void order.push('leave'),
    takeAgain: async () => void order.push('take again'),
  }
  /** Requests of a user whose bodies arrive when the test says so. */
  const slow = (user: string, count: number) =>
    Array.from({ length: count }, () => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      return { received: bodies.receive(user, seat, promise), resolve, reject }
    })
  const receive = (user: string, body = Promise.resolve('body')) => bodies.receive(user, seat, body)
  return { order, slow, receive }
}

test('fifty slow bodies of a user keep their seats; the next ones return theirs until they have arrived', async () => {
  const { order, slow, receive } = setUp()
  const pending = slow('hostile', 50)
  deepEqual(order, [])
  const [next] = slow('hostile', 1)
  deepEqual(order, ['leave'])
  await receive('other')
  deepEqual(order, ['leave'], 'a body of another user keeps its seat')
  next?.resolve('body')
  equal(await next?.received, 'body')
  deepEqual(order, ['leave', 'take again'])
  for (const { resolve } of pending) resolve('body')
  await Promise.all(pending.map(({ received }) => received))
  await receive('hostile')
  deepEqual(order, ['leave', 'take again'])
})

test('all users together keep 150 seats', async () => {
  const { order, slow } = setUp()
  for (const user of ['a', 'b', 'c']) slow(user, 50)
  deepEqual(order, [])
  slow('d', 2)
  deepEqual(order, ['leave', 'leave'])
})

test('a user with a thousand slow bodies gets 429; other users do not', async () => {
  const { slow, receive } = setUp()
  const pending = slow('hostile', 1_000)
  await rejects(receive('hostile'), { code: 429 })
  await rejects(receive('hostile', Promise.reject(new Error('disconnected'))), { code: 429 })
  equal(await receive('other'), 'body')
  for (const { resolve } of pending) resolve('body')
  await Promise.all(pending.map(({ received }) => received))
  equal(await receive('hostile'), 'body')
})

test('a body that fails no longer counts, and takes no seat', async () => {
  const { order, slow, receive } = setUp()
  const pending = slow('hostile', 1_000)
  const last = pending.at(-1)
  last?.reject(new Error('disconnected'))
  await rejects(last?.received ?? Promise.resolve(), /disconnected/)
  equal(order.includes('take again'), false)
  equal(await receive('hostile'), 'body')
})

test('all users together await 5,000 bodies', async () => {
  const { slow, receive } = setUp()
  const pending = ['a', 'b', 'c', 'd', 'e'].flatMap((user) => slow(user, 1_000))
  await rejects(receive('calm'), { code: 429 })
  for (const { resolve } of pending) resolve('')
  await Promise.all(pending.map(({ received }) => received))
  equal(await receive('calm'), 'body')
})

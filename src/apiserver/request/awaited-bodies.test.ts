import { equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { AwaitedBodies } from './awaited-bodies.ts'

/** Requests of a user whose bodies arrive when the test says so. */
const slow = (bodies: AwaitedBodies, user: string, count: number) =>
  Array.from({ length: count }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    return { received: bodies.receive(user, promise), resolve, reject }
  })

test('a user with a hundred slow bodies gets 429; other users do not', async () => {
  const bodies = new AwaitedBodies()
  const pending = slow(bodies, 'hostile', 100)
  await rejects(bodies.receive('hostile', Promise.resolve('late')), { code: 429 })
  await rejects(bodies.receive('hostile', Promise.reject(new Error('disconnected'))), { code: 429 })
  equal(await bodies.receive('other', Promise.resolve('body')), 'body')
  for (const { resolve } of pending) resolve('body')
  await Promise.all(pending.map(({ received }) => received))
  equal(await bodies.receive('hostile', Promise.resolve('later')), 'later')
})

test('a body that fails no longer counts', async () => {
  const bodies = new AwaitedBodies()
  const pending = slow(bodies, 'hostile', 100)
  pending[0]?.reject(new Error('disconnected'))
  await rejects(pending[0]?.received ?? Promise.resolve(), /disconnected/)
  equal(await bodies.receive('hostile', Promise.resolve('next')), 'next')
  for (const { resolve } of pending) resolve('')
})

test('all users together await 2,000 bodies', async () => {
  const bodies = new AwaitedBodies()
  const pending = Array.from({ length: 20 }, (_, index) => slow(bodies, `user-${index}`, 100)).flat()
  await rejects(bodies.receive('calm', Promise.resolve('')), { code: 429 })
  for (const { resolve } of pending) resolve('')
  await Promise.all(pending.map(({ received }) => received))
  equal(await bodies.receive('calm', Promise.resolve('body')), 'body')
})

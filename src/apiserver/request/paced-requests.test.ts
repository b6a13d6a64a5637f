import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { PacedRequests } from './paced-requests.ts'

const { signal } = new AbortController()

/** Requests that are answered when the test releases them. */
function setUp() {
  const clock = new VirtualClock()
  const requests = new PacedRequests(clock)
  const started: string[] = []
  const answer = new Map<string, () => void>()
  const send = (name: string, user = name, from = signal) =>
    requests.run(user, from, () => {
      started.push(name)
      return new Promise<string>((resolve) => answer.set(name, () => resolve(name)))
    })
  return { clock, started, answer, send, requests }
}

test('four requests are served at a time; users then take turns, however many requests each has', async () => {
  const { clock, started, answer, send } = setUp()
  const first = [send('a1', 'a'), send('a2', 'a'), send('a3', 'a'), send('d1', 'd')]
  const rest = [send('a5', 'a'), send('a6', 'a'), send('b1', 'b'), send('c1', 'c'), send('b2', 'b')]
  await clock.settle()
  deepEqual(started, ['a1', 'a2', 'a3', 'd1'])
  for (const name of ['a1', 'a2', 'a3', 'd1', 'a5', 'b1', 'c1', 'a6', 'b2']) {
    answer.get(name)?.()
    await clock.settle()
  }
  deepEqual(started.slice(4), ['a5', 'b1', 'c1', 'a6', 'b2'])
  deepEqual((await Promise.all([...first, ...rest])).length, 9)
})

test('one user has at most three requests served, and another does not wait for them', async () => {
  const { clock, started, answer, send } = setUp()
  const all = [...['a1', 'a2', 'a3', 'a4'].map((name) => send(name, 'a')), send('b1', 'b'), send('b2', 'b')]
  await clock.settle()
  deepEqual(started, ['a1', 'a2', 'a3', 'b1'])
  answer.get('b1')?.()
  await clock.settle()
  deepEqual(started.slice(4), ['b2'], 'the next of the first user still waits')
  for (const name of ['b2', 'a1', 'a2', 'a3', 'a4']) {
    answer.get(name)?.()
    await clock.settle()
  }
  equal((await Promise.all(all)).length, 6)
})

test('a user beyond its share gets 429, and other users can still wait', async () => {
  const { clock, answer, send, started, requests } = setUp()
  const served = Array.from({ length: 3 }, (_, index) => send(`s${index}`, 'hostile'))
  requests.checkSpace('hostile')
  const waiting = Array.from({ length: 32 }, (_, index) => send(`w${index}`, 'hostile'))
  throws(() => requests.checkSpace('hostile'), { code: 429 })
  requests.checkSpace('other')
  await rejects(send('too many', 'hostile'), { code: 429 })
  const other = send('other')
  await clock.settle()
  equal(started.includes('other'), true)
  for (let index = 0; index < 3; index++) answer.get(`s${index}`)?.()
  await clock.settle()
  answer.get('other')?.()
  for (let index = 0; index < 32; index++) {
    answer.get(`w${index}`)?.()
    await clock.settle()
  }
  equal(await other, 'other')
  await Promise.all([...served, ...waiting])
})

test('a client that disconnects leaves the queue', async () => {
  const { clock, answer, send, started } = setUp()
  const served = Array.from({ length: 4 }, (_, index) => send(`s${index}`))
  const client = new AbortController()
  const gone = rejects(send('gone', 'x', client.signal), /gone/)
  const next = send('next', 'x')
  client.abort(new Error('gone'))
  await gone
  await clock.settle()
  answer.get('s0')?.()
  await clock.settle()
  deepEqual(started.slice(4), ['next'])
  for (const name of ['s1', 's2', 's3', 'next']) answer.get(name)?.()
  await Promise.all([...served, next])
})

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { TooManyRequests } from './too-many-requests.ts'
import { PacedRequests, type PacedSeat } from './paced-requests.ts'

const { signal } = new AbortController()

/** Requests that are answered when the test releases them. */
function setUp() {
  const clock = new VirtualClock()
  const requests = new PacedRequests(clock)
  const started: string[] = []
  const answer = new Map<string, () => void>()
  const send = (name: string, user = name, from = signal, seat = noSeat) =>
    requests.run(user, seat, from, () => {
      started.push(name)
      return new Promise<string>((resolve) => answer.set(name, () => resolve(name)))
    })
  return { clock, started, answer, send }
}

const noSeat: PacedSeat = { takeSeat() {}, leaveSeat() {} }

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

test('a user within the limits of the server waits; beyond them it gets 429, and other users can still wait', async () => {
  const { clock, answer, send, started } = setUp()
  const served = Array.from({ length: 3 }, (_, index) => send(`s${index}`, 'hostile'))
  const waiting = Array.from({ length: 600 }, (_, index) => send(`w${index}`, 'hostile'))
  await rejects(send('too many', 'hostile'), ({ code, details }) => code === 429 && details.retryAfterSeconds === 1)
  const other = send('other')
  await clock.settle()
  equal(started.includes('other'), true)
  for (let index = 0; index < 3; index++) answer.get(`s${index}`)?.()
  await clock.settle()
  answer.get('other')?.()
  for (let index = 0; index < 600; index++) {
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

test('a request that waits has no seat, and takes one before it is served', async () => {
  const { clock, answer, send, started } = setUp()
  const events: string[] = []
  const seatOf = (name: string, takeSeat = async () => void events.push(`${name} takes`)): PacedSeat => ({
    leaveSeat: () => void events.push(`${name} leaves`),
    takeSeat,
  })
  const served = ['a1', 'a2', 'a3'].map((name) => send(name, 'a', signal, seatOf(name)))
  const rejected = rejects(
    send(
      'a4',
      'a',
      signal,
      seatOf('a4', () => Promise.reject(new TooManyRequests('fairness'))),
    ),
    { code: 429 },
  )
  const last = send('a5', 'a', signal, seatOf('a5'))
  await clock.settle()
  deepEqual(
    [events, started],
    [
      ['a4 leaves', 'a5 leaves'],
      ['a1', 'a2', 'a3'],
    ],
  )
  answer.get('a1')?.()
  await rejected
  await clock.settle()
  deepEqual(events.slice(2), ['a5 takes'], 'a request that gets no seat does not keep its turn')
  deepEqual(started.slice(3), ['a5'])
  for (const name of ['a2', 'a3', 'a5']) answer.get(name)?.()
  await Promise.all([...served, last])
})

import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../async/event-loop-turn.ts'
import { realClock } from '../time/clock.ts'
import { FairTurns } from './fair-turns.ts'

function stage(kind?: 'asynchronous') {
  const state = { nowMs: 0 }
  const turns = new FairTurns<{ name: string }>({ ...realClock, monotonicMs: () => state.nowMs }, kind)
  const done: string[] = []
  /** Works of a client that take the time each. */
  const start = (client: { name: string }, count: number, ms: number) => {
    for (let index = 1; index <= count; index++)
      turns.start(client, () => {
        state.nowMs += ms
        done.push(`${client.name}${index}`)
      })
  }
  return { state, turns, done, start, turn: eventLoopTurn }
}
const a = { name: 'a' }
const b = { name: 'b' }
const c = { name: 'c' }

test('work is started at once, as long as it takes little time', async () => {
  const { done, start, turn } = stage()
  start(a, 3, 1)
  start(b, 1, 1)
  deepEqual(done, ['a1', 'a2', 'a3', 'b1'])
  await turn()
  start(a, 1, 1)
  deepEqual(done.at(-1), 'a1')
})

test('a client with much work does not delay others, and slices are short', async () => {
  const { done, start, turn } = stage()
  start(a, 9, 2)
  // At once, although another client has used up the time; the rest waits.
  start(b, 3, 2)
  deepEqual(done.splice(0), ['a1', 'a2', 'a3', 'b1'])
  await turn()
  deepEqual(done.splice(0), ['a4', 'b2', 'a5'])
  start(c, 1, 2)
  deepEqual(done.splice(0), ['c1'])
  await turn()
  deepEqual(done.splice(0), ['b3', 'a6', 'a7'])
  await turn()
  await turn()
  deepEqual(done.splice(0), ['a8', 'a9'])
  start(a, 1, 2)
  deepEqual(done, ['a1'])
})

test('new clients that keep coming do not delay one with more work forever', async () => {
  const { done, start, turn } = stage()
  start(a, 5, 2)
  for (let index = 0; index < 20; index++) start({ name: 'new' }, 1, 2)
  for (let turns = 0; turns < 5; turns++) await turn()
  deepEqual(done.indexOf('a5'), done.indexOf('a4') + 8)
})

test('few clients are started at once in a turn without time; the others are first in the next one', async () => {
  const { done, start, turn } = stage()
  start(a, 5, 2)
  for (let index = 0; index < 10; index++) start({ name: `${index}-` }, 1, 1)
  deepEqual(done.splice(0).slice(3), ['0-1', '1-1', '2-1', '3-1', '4-1', '5-1', '6-1', '7-1'])
  await turn()
  deepEqual(done.splice(0), ['a4', '8-1', '9-1', 'a5'])
})

test('less asynchronous work is started in a turn after a turn that took long', async () => {
  const { state, turns, done } = stage('asynchronous')
  const run = (client: { name: string }, ms: number) =>
    turns.run(client, async () => {
      await Promise.resolve()
      done.push(client.name)
      // After the start, which itself takes no time.
      state.nowMs += ms
    })
  const all = [run(a, 15), run(a, 15), run(a, 15)]
  await Promise.resolve()
  deepEqual(done.splice(0), ['a', 'a', 'a'])
  all.push(...[a, a, a, b].map((client) => run(client, 1)))
  await Promise.resolve()
  deepEqual(done.splice(0), ['b'])
  await eventLoopTurn()
  deepEqual(done.splice(0), ['a'])
  await eventLoopTurn()
  deepEqual(done.splice(0), ['a', 'a'])
  for (const each of all) await each
})

test('the asynchronous work of one client alone has longer turns', async () => {
  const { state, turns, done } = stage('asynchronous')
  const start = (client: { name: string }, count: number) => {
    for (let index = 0; index < count; index++)
      turns.start(client, () => {
        state.nowMs += 3
        done.push(client.name)
      })
  }
  start(a, 8)
  deepEqual(done.splice(0).join(''), 'aaaaa')
  start(b, 3)
  deepEqual(done.splice(0).join(''), 'b')
  await eventLoopTurn()
  deepEqual(done.splice(0).join(''), 'a')
  for (let turn = 0; turn < 4; turn++) await eventLoopTurn()
  deepEqual(done.join(''), 'baba')
})

test('the result of work, or its error, does not depend on when it was started', async () => {
  const { state, turns } = stage()
  const fail = () => {
    throw new Error('failed')
  }
  equal(
    turns.run(a, () => 'at once'),
    'at once',
  )
  throws(() => turns.run(a, fail), /failed/)
  state.nowMs = 100
  const later = turns.run(a, () => 'later')
  const failed = turns.run(a, fail)
  equal(later instanceof Promise, true)
  const failing = rejects(async () => failed, /failed/)
  equal(await later, 'later')
  await failing
})

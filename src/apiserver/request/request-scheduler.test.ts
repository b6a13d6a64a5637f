// When requests start, when they hold a seat, and which of them are paced.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { noCause } from '../../base/observability/flow-recorder.ts'
import { realClock } from '../../base/time/clock.ts'
import { FairTurns } from '../../base/work/fair-turns.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { RequestScheduler } from './request-scheduler.ts'
import type { SeatSource } from './request-slot.ts'
import { slowStepMs, slowStepsMin } from './slow-users.ts'

const { signal } = new AbortController()
const presented = { kind: 'presented', headers: {}, headerValues: () => [] } as never
const asserted = { kind: 'asserted' } as never
const requestOf = (name: string, credentials = presented) => ({
  user: { name },
  credentials,
  context: { signal, cause: noCause },
})

function seats(events: string[], isExempt = false): SeatSource {
  return {
    isExempt,
    take() {
      events.push('take')
      return () => void events.push('leave')
    },
  }
}

/** Turns whose time is used up after the first start. */
const busyTurns = (startsMin: number) => {
  let ms = 0
  return new FairTurns<string>({ ...realClock, monotonicMs: () => (ms += 20) }, 'asynchronous', startsMin)
}

test('a request starts synchronously with a seat, which it leaves however it ends', async () => {
  const events: string[] = []
  const scheduler = new RequestScheduler(new VirtualClock())
  equal(
    scheduler.run(requestOf('a'), seats(events), () => 'served'),
    'served',
  )
  await rejects(async () => scheduler.run(requestOf('a'), seats(events), () => Promise.reject(new Error('x'))), /x/)
  deepEqual(events, ['take', 'leave', 'take', 'leave'])
})

test('while the event loop is busy, users take turns; exempt requests and components of the process do not wait for them', async () => {
  const scheduler = new RequestScheduler(realClock, busyTurns)
  const started: string[] = []
  const send = (name: string, credentials = presented, isExempt = false) =>
    scheduler.run(requestOf(name, credentials), seats([], isExempt), () => void started.push(name))
  const all = ['a', 'a', 'a', 'b', 'b'].map((name) => send(name))
  void send('component', asserted)
  void send('admin', presented, true)
  deepEqual(started, ['a', 'b', 'component', 'admin'])
  for (const each of all) await each
  deepEqual(started.slice(4), ['a', 'b', 'a'])
})

test('what components write at once takes several turns of the event loop, in which clients are served', async () => {
  const scheduler = new RequestScheduler(realClock, busyTurns)
  let started = 0
  const all = Array.from({ length: 100 }, async () =>
    scheduler.run(requestOf('controller', asserted), seats([]), () => void started++),
  )
  const perTurn: number[] = []
  for (let before = 0; started > before; await eventLoopTurn()) {
    perTurn.push(started - before)
    before = started
  }
  await Promise.all(all)
  deepEqual(perTurn, [32, 32, 32, 4])
})

test('a request has no seat while its client sends the body', async () => {
  const events: string[] = []
  const scheduler = new RequestScheduler(new VirtualClock())
  const body = Promise.withResolvers<string>()
  const response = scheduler.run(requestOf('a'), seats(events), (slot) => slot.receive(body.promise))
  deepEqual(events, ['take', 'leave'])
  body.resolve('bytes')
  equal(await response, 'bytes')
  deepEqual(events.slice(2), ['take', 'leave'])
  void scheduler.run(requestOf('a'), seats(events), (slot) => slot.receive('bytes'))
  deepEqual(events.slice(4), ['take', 'leave'], 'a body that has arrived costs no second seat')
  await rejects(
    async () => scheduler.run(requestOf('a'), seats(events), (slot) => slot.receive(Promise.reject(new Error('gone')))),
    /gone/,
  )
  deepEqual(events.slice(6), ['take', 'leave'])
})

const paced: [
  why: string,
  isSlow: boolean,
  isLarge: boolean,
  credentials: never,
  isExempt: boolean,
  isPaced: boolean,
][] = [
  ['a short request', false, false, presented, false, false],
  ['a large body', false, true, presented, false, true],
  ['a large body of an exempt user, because of its memory', false, true, presented, true, true],
  ['a user whose requests took much CPU time', true, false, presented, false, true],
  ['an exempt user whose requests took much CPU time', true, false, presented, true, false],
  ['a component of this process whose requests took much CPU time', true, false, asserted, false, false],
]
for (const [why, isSlow, isLarge, credentials, isExempt, isPaced] of paced)
  test(`${why}: ${isPaced ? 'paced' : 'not paced'}`, async () => {
    const scheduler = new RequestScheduler(new VirtualClock())
    const run = <T>(work: Parameters<typeof scheduler.run<T>>[2]) =>
      scheduler.run(requestOf('jane', credentials), seats([], isExempt), work)
    if (isSlow) for (let steps = 0; steps < slowStepsMin; steps++) void run((slot) => slot.stepDone(slowStepMs))
    const hasPace = await run((slot) => slot.serve(isLarge, (pace) => pace !== undefined))
    await eventLoopTurn()
    equal(hasPace, isPaced)
  })

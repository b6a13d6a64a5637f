import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { OffloadBusy, OffloadedFunction, OffloadExceeded, type OffloadReply } from './offloaded-function.ts'
import type { Workers } from './workers.ts'

const { signal } = new AbortController()

/** Threads whose replies the test controls. */
class ManualThreads {
  readonly inputs: string[] = []
  started = 0
  stopped = 0
  reply: (reply: OffloadReply<string>) => void = () => {}
  die: (error: Error) => void = () => {}

  readonly workers: Pick<Workers, 'offload'> = {
    offload: <In, Out>() => {
      this.started++
      return {
        post: (input: In) => void this.inputs.push(String(input)),
        listen: (onMessage: (message: Out) => void, onEnd: (error: Error | undefined) => void) => {
          this.reply = (reply) => onMessage(reply as Out)
          this.die = onEnd
        },
        stop: async () => void this.stopped++,
      }
    },
  }
}

/** The threads are simulated, so time may advance while a call is pending. */
class OpenClock extends VirtualClock {
  override outside<T>(operation: Promise<T>): Promise<T> {
    return operation
  }
}

function setUp() {
  const clock = new OpenClock()
  const threads = new ManualThreads()
  const workers = threads.workers as Workers
  const module = new URL('file:///unused')
  const offloaded = new OffloadedFunction<string, string>({ workers, clock, module, callsMax: 2, callMsMax: 1_000 })
  return { clock, threads, offloaded }
}

test('calls run one at a time in one thread, the smallest that waits first', async () => {
  const { threads, offloaded } = setUp()
  const replies = [
    offloaded.call('first', 9, signal),
    offloaded.call('large', 5, signal),
    offloaded.call('small', 1, signal),
  ]
  deepEqual(threads.inputs, ['first'])
  for (const value of ['a', 'b', 'c']) threads.reply({ value })
  deepEqual(await Promise.all(replies), ['a', 'c', 'b'])
  deepEqual([threads.inputs, threads.started], [['first', 'small', 'large'], 1])
})

test('a full queue rejects calls, and the function’s error reaches its caller', async () => {
  const { threads, offloaded } = setUp()
  const failing = rejects(offloaded.call('a', 1, signal), /line 1: wrong/)
  const waiting = [offloaded.call('b', 1, signal), offloaded.call('c', 1, signal)]
  await rejects(offloaded.call('d', 1, signal), OffloadBusy)
  threads.reply({ error: 'line 1: wrong' })
  threads.reply({ value: 'B' })
  threads.reply({ value: 'C' })
  await failing
  deepEqual(await Promise.all(waiting), ['B', 'C'])
})

test('a call that takes too long is ended with its thread, and the next call starts another', async () => {
  const { clock, threads, offloaded } = setUp()
  const late = rejects(offloaded.call('late', 1, signal), OffloadExceeded)
  const next = offloaded.call('next', 1, signal)
  await clock.advance(1_000)
  await late
  deepEqual([threads.started, threads.stopped, threads.inputs], [2, 1, ['late', 'next']])
  threads.reply({ value: 'done' })
  equal(await next, 'done')
})

test('a thread that dies fails its call alone', async () => {
  const { threads, offloaded } = setUp()
  const dying = rejects(offloaded.call('dies', 1, signal), /out of memory/)
  const next = offloaded.call('next', 1, signal)
  threads.die(new Error('out of memory'))
  await dying
  threads.reply({ value: 'done' })
  deepEqual([await next, threads.started], ['done', 2])
})

test('an aborted call is removed', async () => {
  const { threads, offloaded } = setUp()
  const running = new AbortController()
  const waiting = new AbortController()
  const gone = [
    rejects(offloaded.call('running', 1, running.signal), /gone/),
    rejects(offloaded.call('waiting', 1, waiting.signal), /gone/),
  ]
  waiting.abort(new Error('gone'))
  running.abort(new Error('gone'))
  await Promise.all(gone)
  deepEqual([threads.inputs, threads.stopped], [['running'], 1])
  const next = offloaded.call('next', 1, signal)
  threads.reply({ value: 'done' })
  equal(await next, 'done')
})

test('an idle thread ends', async () => {
  const { clock, threads, offloaded } = setUp()
  const call = offloaded.call('a', 1, signal)
  threads.reply({ value: 'A' })
  await call
  await clock.advance('30s')
  equal(threads.stopped, 1)
})

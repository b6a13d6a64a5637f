import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../base/async/task-group.ts'
import { noCause, type Cause } from '../base/observability/flow-recorder.ts'
import { silentLog, type LogFields } from '../base/observability/log.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { ReconcileLoop } from './reconcile-loop.ts'

const causeOf = (...revisions: readonly number[]): Cause => ({ ...noCause, revisions })

function stage() {
  const [clock, tasks] = [new VirtualClock(), new TaskGroup()]
  const warnings: string[] = []
  const log = {
    ...silentLog,
    warn: (message: string, fields?: LogFields) => void warnings.push(`${message}: ${String(fields?.error)}`),
  }
  const loop = new ReconcileLoop({ clock, log, failureMessage: 'not applied' })
  const runs: { readonly seconds: number; readonly cause: Cause }[] = []
  const outcome: { failures: number; isSynced: boolean } = { failures: 0, isSynced: false }
  const startMs = clock.nowMs()
  const reconcile = async (cause: Cause) => {
    runs.push({ seconds: (clock.nowMs() - startMs) / 1_000, cause })
    if (outcome.failures-- > 0) throw new Error('no answer')
  }
  void loop.synced.then(() => (outcome.isSynced = true))
  return {
    ...{ clock, tasks, loop, warnings, runs, outcome },
    start: () => tasks.start('loop', (signal) => loop.run(reconcile, signal)),
    [Symbol.asyncDispose]: () => tasks[Symbol.asyncDispose](),
  }
}

test('it runs once at the start, then once for all changes of a turn', async () => {
  await using own = stage()
  own.start()
  await own.clock.settle()
  deepEqual([own.runs.length, own.outcome.isSynced], [1, true])
  own.loop.changed(causeOf(1))
  own.loop.changed(causeOf(2))
  own.loop.changed()
  await own.clock.advance('1ms')
  deepEqual(own.runs.map(({ cause }) => cause.revisions), [[], [2, 1]]) // prettier-ignore
  await own.clock.advance('1h')
  equal(own.runs.length, 2)
})

test('a change during a run causes another run', async () => {
  await using own = stage()
  const { promise, resolve } = Promise.withResolvers<void>()
  const runs: (readonly unknown[])[] = []
  own.tasks.start('loop', (signal) =>
    own.loop.run(async (cause) => {
      runs.push(cause.revisions)
      await promise
    }, signal),
  )
  own.loop.changed(causeOf(7))
  resolve()
  await own.clock.advance('1ms')
  deepEqual(runs, [[], [7]])
})

test('failures are tried again with the next change, and after longer and longer times, with their causes', async () => {
  await using own = stage()
  own.outcome.failures = 3
  own.loop.changed(causeOf(1))
  own.start()
  await own.clock.settle()
  equal(own.outcome.isSynced, false)
  own.loop.changed(causeOf(2))
  await own.clock.advance('10m')
  deepEqual(own.runs.map(({ seconds, cause }) => [seconds, ...cause.revisions]), [[0, 1], [0, 2, 1], [1, 2, 1], [3, 2, 1]]) // prettier-ignore
  deepEqual([own.warnings, own.outcome.isSynced], [Array(3).fill('not applied: no answer'), true])
})

test('the time before another attempt is bounded, and short again after a success', async () => {
  await using own = stage()
  own.outcome.failures = 10
  own.start()
  await own.clock.advance('10m')
  const waits = own.runs.map(({ seconds }, index) => seconds - (own.runs[index - 1]?.seconds ?? 0))
  deepEqual([waits.length, Math.max(...waits)], [11, 30])
  own.outcome.failures = 1
  own.loop.changed()
  await own.clock.advance('499ms')
  const failed = own.runs.length
  await own.clock.advance('1ms')
  deepEqual([failed, own.runs.length], [12, 13])
})

test('it ends with its signal: while it waits for changes, before another attempt, and during a run that fails', async () => {
  for (const failures of [0, 1]) {
    const own = stage()
    own.outcome.failures = failures
    own.start()
    await own.clock.settle()
    await own.tasks[Symbol.asyncDispose]()
    deepEqual([own.tasks.running, own.runs.length], [[], 1])
  }
  const { loop, warnings } = stage()
  const controller = new AbortController()
  await loop.run(async () => {
    controller.abort()
    throw new Error('stopped')
  }, controller.signal)
  deepEqual(warnings, [])
})

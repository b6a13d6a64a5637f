import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError, type StatusReason } from '../../api/errors/status-error.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { FlowRecorder, noCause, type Cause } from '../../base/observability/flow-recorder.ts'
import { silentLog, type LogFields } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Reconciler, type ReconcilerOptions } from './reconciler.ts'

const causeOf = (...revisions: readonly number[]): Cause => ({ ...noCause, revisions })

function stage(options: Partial<ReconcilerOptions> = {}) {
  const clock = new VirtualClock()
  const tasks = new TaskGroup()
  const warnings: string[] = []
  const log = {
    ...silentLog,
    warn: (message: string, fields?: LogFields) => void warnings.push(`${message}: ${String(fields?.error)}`),
  }
  const backoff = { initialMs: 500, maxMs: 30_000 }
  const failureMessage = 'not applied'
  const reconciler = new Reconciler({ name: 'tested', workers: 1, backoff, failureMessage, ...options }, { clock, log })
  const runs: { readonly key: string; readonly seconds: number; readonly cause: Cause }[] = []
  const outcome: { failures: number; error: Error; againMs: number | undefined; readyCalls: number } = {
    failures: 0,
    error: new Error('no answer'),
    againMs: undefined,
    readyCalls: 0,
  }
  const startMs = clock.nowMs()
  return {
    clock,
    tasks,
    reconciler,
    warnings,
    runs,
    outcome,
    seconds: () => runs.map(({ seconds }) => seconds),
    revisions: () => runs.map(({ cause }) => cause.revisions),
    start: (during: (signal: AbortSignal) => Promise<void> = () => Promise.resolve()) =>
      reconciler.start(
        async (key, { cause, signal }) => {
          runs.push({ key, seconds: (clock.nowMs() - startMs) / 1_000, cause })
          await during(signal)
          if (outcome.failures-- > 0) throw outcome.error
          return outcome.againMs
        },
        async () => void outcome.readyCalls++,
        tasks,
      ),
    [Symbol.asyncDispose]: () => tasks[Symbol.asyncDispose](),
  }
}

test('keys are reconciled when the reconciler is ready, each once for all changes before its turn', async () => {
  await using own = stage({ workers: 3 })
  own.reconciler.add('a', causeOf(1))
  own.reconciler.add('b', causeOf(2))
  own.reconciler.add('a', causeOf(3))
  own.start()
  await own.clock.settle()
  deepEqual(own.runs.map(({ key, cause }) => [key, ...cause.revisions]), [['a', 3, 1], ['b', 2]]) // prettier-ignore
  equal(own.outcome.readyCalls, 1)
})

test('a batched key is reconciled once for all changes of a turn', async () => {
  for (const [isBatched, revisions] of [
    [true, [[], [2, 1]]],
    [false, [[], [1], [2]]],
  ] as const) {
    await using own = stage({ isBatched })
    own.reconciler.add('a')
    own.start()
    await own.clock.settle()
    own.reconciler.add('a', causeOf(1))
    own.reconciler.add('a', causeOf(2))
    own.reconciler.add('a')
    await own.clock.advance('1ms')
    deepEqual(own.revisions(), revisions)
    await own.clock.advance('1h')
    equal(own.runs.length, revisions.length)
  }
})

test('a change during a reconcile causes another one', async () => {
  for (const isBatched of [false, true]) {
    await using own = stage({ isBatched })
    const { promise, resolve } = Promise.withResolvers<void>()
    own.reconciler.add('a')
    own.start(() => promise)
    await own.clock.settle()
    own.reconciler.add('a', causeOf(7))
    await own.clock.settle()
    equal(own.runs.length, 1, 'one worker has the key')
    resolve()
    await own.clock.advance('1ms')
    deepEqual(own.revisions(), [[], [7]])
  }
})

test('a key is requeued after the time that its reconcile returns; a change does not cancel it', async () => {
  await using own = stage()
  own.outcome.againMs = 10_000
  own.reconciler.addAfter('a', 1_000, causeOf(1))
  own.start()
  await own.clock.advance('5s')
  own.outcome.againMs = undefined
  own.reconciler.add('a', causeOf(2))
  await own.clock.advance('1h')
  deepEqual(own.runs.map(({ seconds, cause }) => [seconds, ...cause.revisions]), [[1, 1], [5, 2], [11, 1]]) // prettier-ignore
})

test('failures are retried with their causes after a backoff that doubles up to its bound, and is reset by a success', async () => {
  await using own = stage()
  own.outcome.failures = 10
  own.reconciler.add('a', causeOf(1))
  own.start()
  await own.clock.advance('10m')
  const waits = own.seconds().map((seconds, index) => seconds - (own.seconds()[index - 1] ?? 0))
  deepEqual(waits, [0, 0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30])
  deepEqual(own.revisions().flat(), Array(11).fill(1))
  deepEqual(own.warnings, Array(10).fill('not applied: Error: no answer'))
  own.outcome.failures = 1
  own.reconciler.add('a')
  await own.clock.advance('499ms')
  const failed = own.runs.length
  await own.clock.advance('1ms')
  deepEqual([failed, own.runs.length], [12, 13])
})

test('a change is reconciled at once while a failed key waits, and does not delay its retry or other keys', async () => {
  await using own = stage()
  own.outcome.failures = 2
  own.reconciler.add('a', causeOf(1))
  own.start()
  await own.clock.settle()
  own.reconciler.add('a', causeOf(2))
  own.reconciler.add('b', causeOf(3))
  await own.clock.advance('10m')
  const runs = own.runs.map(({ key, seconds, cause }) => [key, seconds, ...cause.revisions])
  deepEqual(runs, [['a', 0, 1], ['a', 0, 2], ['b', 0, 3], ['a', 0.5, 2]]) // prettier-ignore
})

const conflicts: readonly (readonly [reason: StatusReason, isLogged: boolean])[] = [
  ['AlreadyExists', false],
  ['Conflict', false],
  ['Forbidden', true],
  ['NotFound', false],
]
for (const [reason, isLogged] of conflicts)
  test(`an error with the reason ${reason} is retried and ${isLogged ? 'logged' : 'not logged'}`, async () => {
    await using own = stage()
    own.outcome.failures = 1
    own.outcome.error = new StatusError(409, reason, 'rejected')
    own.reconciler.add('a')
    own.start()
    await own.clock.advance('1s')
    deepEqual([own.runs.length, own.warnings.length], [2, isLogged ? 1 : 0])
  })

test('a reconcile is recorded with its outcome and is the cause of what it does', async () => {
  const flow = new FlowRecorder(new VirtualClock())
  const recordedAs = { flow, participant: 'controller/tested', kind: configMap as unknown as Kind }
  await using own = stage({ recordedAs })
  own.outcome.failures = 1
  own.reconciler.add('default/a', causeOf(4))
  own.start()
  await own.clock.advance('1s')
  const events = own.runs.map(({ cause }) => flow.get(cause.event))
  deepEqual(
    events.map((event) => [event?.from, event?.what, event?.object?.resource, event?.object?.name, event?.outcome]),
    [
      ['controller/tested', 'reconcile default/a', 'configmaps', 'a', 'no answer'],
      ['controller/tested', 'reconcile default/a', 'configmaps', 'a', 'done'],
    ],
  )
  deepEqual(own.revisions(), [[4], [4]])
})

test('a requeue is an effect of the reconcile before, unless it is periodic', async () => {
  for (const isPeriodic of [false, true]) {
    const flow = new FlowRecorder(new VirtualClock())
    await using own = stage({ isPeriodic, recordedAs: { flow, participant: 'tested' } })
    own.outcome.againMs = 1_000
    own.reconciler.add('a', causeOf(1))
    own.start()
    await own.clock.advance('1s')
    deepEqual(own.revisions(), isPeriodic ? [[1], []] : [[1], [1]])
  }
})

test('it ends with its tasks: while it waits for changes, before a retry, and during a reconcile that fails', async () => {
  for (const failures of [0, 1]) {
    const own = stage()
    own.outcome.failures = failures
    own.reconciler.add('a')
    own.start()
    await own.clock.settle()
    await own.tasks[Symbol.asyncDispose]()
    own.reconciler.add('a')
    await own.clock.advance('1h')
    deepEqual([own.tasks.running, own.runs.length], [[], 1])
  }
  const own = stage()
  own.outcome.failures = 1
  own.reconciler.add('a')
  own.start(async () => own.tasks.stop())
  await own.clock.settle()
  await own.tasks.join()
  deepEqual([own.warnings, own.runs.length], [[], 1])
})

test('it ends with its tasks before it is ready', async () => {
  const { reconciler, tasks, runs } = stage()
  reconciler.add('a')
  reconciler.start(
    () => Promise.reject(new Error('it is not ready')),
    () => new Promise(() => {}),
    tasks,
  )
  tasks.stop()
  await tasks.join()
  deepEqual([tasks.running, runs], [[], []])
})

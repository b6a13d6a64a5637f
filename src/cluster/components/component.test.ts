// The lifecycle of a component, in virtual time: restart after a failure, and the end of the failed run before it.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog, type LogFields } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Component } from './component.ts'

/** A component whose first run fails after 1 s, while a second task needs `endMs` to end after its signal. */
function failing(endMs: number) {
  const clock = new VirtualClock()
  const trace: string[] = []
  const startMs = clock.nowMs()
  const at = (what: string) => trace.push(`${(clock.nowMs() - startMs) / 1000} ${what}`)
  const log = { ...silentLog, error: (message: string, fields?: LogFields) => at(JSON.stringify([message, fields])) }
  let runs = 0
  const component = new Component('kubelet', { clock, log }, (tasks) => {
    const run = ++runs
    at(`run ${run} starts`)
    tasks.start('pod worker', async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      await new Promise<void>((resolve) => clock.after(endMs, resolve))
      at(`worker of run ${run} ends`)
    })
    if (run === 1)
      tasks.start('watch', async (signal) => {
        await clock.sleep(1000, signal)
        throw new Error('oops')
      })
  })
  return { clock, component, trace, errors: () => trace.filter((line) => line.includes('[')) }
}

const failure =
  '1 ["a component failed and will be started again",{"component":"kubelet","task":"watch","error":"oops"}]'

test('a failed component restarts after a second', async () => {
  const { clock, component, trace } = failing(0)
  component.start()
  component.start()
  await clock.advance('3s')
  deepEqual(trace, ['0 run 1 starts', failure, '1 worker of run 1 ends', '2 run 2 starts'])
  deepEqual(component.isRunning, true)
})

test('a failed component restarts only when the last task of the failed run has ended', async () => {
  const { clock, component, trace } = failing(10_000)
  component.start()
  await clock.advance('5s')
  component.start()
  await clock.advance('5s')
  deepEqual([trace, component.isRunning], [['0 run 1 starts', failure], false])
  await clock.advance('2s')
  deepEqual(trace.slice(2), ['11 worker of run 1 ends', '11 run 2 starts'])
})

test('a task that does not end delays the restart for 30 s, and is logged', async () => {
  const { clock, component, trace, errors } = failing(3_600_000)
  component.start()
  await clock.advance('30s')
  deepEqual(trace, ['0 run 1 starts', failure])
  await clock.advance('2s')
  const message = 'a component is started again although tasks of its failed run have not ended'
  deepEqual(errors()[1], `31 ${JSON.stringify([message, { component: 'kubelet', tasks: ['pod worker'] }])}`)
  deepEqual(trace.at(-1), '31 run 2 starts')
})

test('a component that is killed before its restart stays stopped, and the kill waits for the failed run', async () => {
  const { clock, component, trace } = failing(10_000)
  component.start()
  await clock.advance('2s')
  let isKilled = false
  void component.kill().then(() => (isKilled = true))
  await clock.advance('8s')
  deepEqual(isKilled, false)
  await clock.advance('1h')
  deepEqual([isKilled, component.isRunning], [true, false])
  deepEqual(trace, ['0 run 1 starts', failure, '11 worker of run 1 ends'])
  deepEqual(clock.pendingTimers, 0)
})

test('a component that is stopped releases what it holds when its last task has ended; one that is killed does not', async () => {
  const clock = new VirtualClock()
  const trace: string[] = []
  let runs = 0
  const component = new Component('kubelet', { clock, log: silentLog }, (tasks) => {
    const run = ++runs
    tasks.start('worker', async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      await new Promise<void>((resolve) => clock.after(1000, resolve))
      trace.push(`worker of run ${run} ends`)
    })
    return { release: () => Promise.resolve(void trace.push(`run ${run} releases`)) }
  })
  for (const end of ['kill', 'stop', 'stop'] as const) {
    if (end === 'kill' || runs === 1) component.start()
    void component[end]().then(() => trace.push(end))
    await clock.advance('2s')
  }
  deepEqual(trace, ['worker of run 1 ends', 'kill', 'worker of run 2 ends', 'run 2 releases', 'stop', 'stop'])
})

test('a component that is killed before its scheduled start does not start', async () => {
  const { clock, component, trace } = failing(0)
  component.startNextTurn()
  await component.kill()
  await clock.settle()
  deepEqual([trace, component.isRunning], [[], false])
})

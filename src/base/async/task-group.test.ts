import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from './task-group.ts'
import { VirtualClock } from '../time/virtual-clock.ts'

test('disposing aborts every task and waits for its cleanup', async () => {
  const clock = new VirtualClock()
  const trace: string[] = []
  {
    await using tasks = new TaskGroup()
    tasks.start('loop', async (signal) => {
      try {
        for (;;) await clock.sleep(1000, signal)
      } finally {
        await Promise.resolve()
        trace.push('cleaned up')
      }
    })
    deepEqual(tasks.running, ['loop'])
  }
  deepEqual(trace, ['cleaned up'])
  equal(clock.pendingTimers, 0)
})

test('the first failure aborts the other tasks and is thrown by join', async () => {
  const clock = new VirtualClock()
  const tasks = new TaskGroup()
  tasks.start('patient', (signal) => clock.sleep(1e9, signal))
  tasks.start('broken', () => Promise.reject(new Error('no disk')))
  await rejects(tasks.join(), /no disk/)
  equal(tasks.signal.aborted, true)
})

test('the failure is reported when the owner never joins', async () => {
  const reported: string[] = []
  const tasks = new TaskGroup({ onFailure: (task, error) => reported.push(`${task}: ${(error as Error).message}`) })
  tasks.start('broken', () => {
    throw new Error('at once')
  })
  await tasks.join()
  deepEqual(reported, ['broken: at once'])
})

test('the outer signal aborts the group, and no task starts afterwards', async () => {
  const outer = new AbortController()
  const tasks = new TaskGroup({ signal: outer.signal })
  outer.abort()
  equal(tasks.signal.aborted, true)
  tasks.start('late', () => Promise.reject(new Error('must not run')))
  await tasks.join()
})

import { equal, rejects } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { realClock } from '../../base/time/clock.ts'
import { openDataDirectory } from '../data-directory/open-directory.ts'
import { stopProcess } from './stop-process.ts'

const { signal } = new AbortController()

test('the process that holds a data directory is ended, and its end is awaited', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-down-'))
  try {
    const none = () => {
      throw new Error('nothing runs')
    }
    equal(await stopProcess(folder, none, realClock, signal), undefined)
    await using held = await openDataDirectory(join(folder, 'data'), 'cluster')
    let isReleased = false
    const end = (pid: number) => {
      equal(pid, process.pid)
      void realClock
        .sleep(300, signal)
        .then(() => (isReleased = true))
        .then(() => held[Symbol.asyncDispose]())
    }
    equal(await stopProcess(join(folder, 'data'), end, realClock, signal), process.pid)
    equal(isReleased, true)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a process that does not end is reported', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-down-'))
  try {
    await using _held = await openDataDirectory(folder, 'cluster')
    const clock = new VirtualClock()
    const stopped = stopProcess(folder, () => {}, hastyClock(clock), signal)
    await rejects(stopped, { message: `process ${process.pid} has not ended after 120 s` })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

/** A clock whose sleeps pass at once. */
const hastyClock = (clock: VirtualClock) => ({
  ...realClock,
  monotonicMs: () => clock.monotonicMs(),
  sleep: (ms: number) => clock.advance(ms),
})

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { realClock } from '../../base/time/clock.ts'
import { openDataDirectory } from '../data-directory/open-directory.ts'
import { stopProcess } from './stop-process.ts'

const { signal } = new AbortController()

/** Takes the lock of a directory; on SIGTERM it releases the lock and exits when its standard input ends. */
const holder = `
  const { openDataDirectory } = await import(process.argv[1])
  const held = await openDataDirectory(process.argv[2], 'cluster')
  process.stdin.resume()
  process.on('SIGTERM', () => held[Symbol.asyncDispose]().then(() => console.log('released')))
  console.log('locked')`

test('the process that holds a data directory is ended, and its exit is awaited after it has released the lock', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-down-'))
  const child = spawn(process.execPath, [
    '-e',
    holder,
    import.meta.resolve('../data-directory/open-directory.ts'),
    folder,
  ])
  const exited = once(child, 'exit')
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    equal((await lines.next()).value, 'locked')
    const end = (pid: number) => {
      equal(pid, child.pid)
      child.kill('SIGTERM')
    }
    let isReleased = false
    let pollsAfterRelease = 0
    const clock = {
      ...realClock,
      sleep: (ms: number) => {
        if (isReleased && ++pollsAfterRelease === 3) child.stdin.end()
        return realClock.sleep(ms, signal)
      },
    }
    void lines.next().then(({ value }) => (isReleased = value === 'released'))
    equal(await stopProcess(folder, end, clock, signal), child.pid)
    equal(pollsAfterRelease >= 3, true)
    deepEqual(await exited, [0, null])
    const none = () => {
      throw new Error('nothing runs')
    }
    equal(await stopProcess(folder, none, realClock, signal), undefined)
  } finally {
    child.kill('SIGKILL')
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

import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { StopProgress } from './stop-progress.ts'

const { signal } = new AbortController()

/** Stops in steps of these durations; returns the reports. */
async function reportsOf(...steps: [name: string, ms: number][]): Promise<string[]> {
  const clock = new VirtualClock()
  const progress = new StopProgress(clock)
  const reports: string[] = []
  await using cleanUps = new AsyncDisposableStack()
  for (const [name, ms] of steps.toReversed()) cleanUps.defer(progress.step(name, () => clock.sleep(ms, signal)))
  const stopped = progress.during(
    () => cleanUps.disposeAsync(),
    (step, seconds) => reports.push(`${step} ${seconds}`),
  )
  await clock.advance('1m')
  await stopped
  return reports
}

test('a quick stop logs nothing; a slow one logs its current step repeatedly', async () => {
  deepEqual(await reportsOf(['requests', 500], ['store', 1_000]), [])
  deepEqual(await reportsOf(['requests', 500], ['containers', 4_000], ['store', 100]), ['containers 2', 'containers 4'])
  deepEqual(await reportsOf(['requests', 3_000], ['store', 2_000]), ['requests 2', 'store 4'])
})

test('a failed stop rejects and logs nothing more', async () => {
  const clock = new VirtualClock()
  const reports: string[] = []
  const stop = () => Promise.reject(new Error('no'))
  await rejects(
    new StopProgress(clock).during(stop, (step) => reports.push(step)),
    /no/,
  )
  await clock.advance('1m')
  deepEqual(reports, [])
})

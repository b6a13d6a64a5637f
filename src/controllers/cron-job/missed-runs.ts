// Which runs of a CronJob were due and did not happen: only the last one is made up for.
import type { CronJob } from '../../api/batch/v1/cron-job.ts'
import type { Schedule } from './schedule.ts'

export interface Missed {
  /** The last time at which it was due; undefined when it was not. */
  readonly lastMs: number | undefined
  /** How often it was due, as far as the first interval tells. */
  readonly count: number
  readonly isTooMany: boolean
}

/** Beyond this many something is wrong with the clock or the schedule, and somebody should know. */
const missedMax = 100

export function missedRuns({ metadata, spec, status }: CronJob, schedule: Schedule, nowMs: number): Missed {
  const sinceMs = Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp)
  const { startingDeadlineSeconds } = spec
  const earliestMs =
    startingDeadlineSeconds === undefined ? sinceMs : Math.max(sinceMs, nowMs - startingDeadlineSeconds * 1000)
  const firstMs = schedule.next(earliestMs)
  if (firstMs === undefined || firstMs > nowMs) return { lastMs: undefined, count: 0, isTooMany: false }
  const secondMs = schedule.next(firstMs)
  if (secondMs === undefined || secondMs > nowMs) return { lastMs: firstMs, count: 1, isTooMany: false }
  const count = Math.floor((nowMs - firstMs) / (secondMs - firstMs)) + 1
  if (count <= missedMax) return { lastMs: lastRun(schedule, firstMs, nowMs) ?? secondMs, count, isTooMany: false }
  // Intervals differ: look back further and further until a run is found.
  let lastMs: number | undefined
  for (let backMs = 2 * (secondMs - firstMs); lastMs === undefined && nowMs - backMs > secondMs; backMs *= 2)
    lastMs = lastRun(schedule, nowMs - backMs, nowMs)
  return { lastMs: lastMs ?? secondMs, count, isTooMany: true }
}

function lastRun(schedule: Schedule, afterMs: number, nowMs: number): number | undefined {
  let lastMs: number | undefined
  for (let atMs = schedule.next(afterMs); atMs !== undefined && atMs <= nowMs; atMs = schedule.next(atMs)) lastMs = atMs
  return lastMs
}

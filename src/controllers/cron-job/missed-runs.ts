// Missed runs of a CronJob: only the last one is started late.
import type { CronJob } from '../../api/batch/v1/cron-job.ts'
import type { Schedule } from '../../api/batch/schedule/schedule.ts'
import { secondsAsMs } from '../../schema/scalar/int64.ts'

export interface Missed {
  /** The last scheduled time that was missed; undefined when none was. */
  readonly lastMs: number | undefined
  /** The number of missed runs, estimated from the first interval. */
  readonly count: number
  readonly isTooMany: boolean
}

/** Beyond this number a warning is recorded: the clock or the schedule is probably wrong. */
const missedMax = 100

export function missedRuns({ metadata, spec, status }: CronJob, schedule: Schedule, nowMs: number): Missed {
  const sinceMs = Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp)
  const { startingDeadlineSeconds } = spec
  const earliestMs =
    startingDeadlineSeconds === undefined ? sinceMs : Math.max(sinceMs, nowMs - secondsAsMs(startingDeadlineSeconds))
  const firstMs = schedule.next(earliestMs)
  if (firstMs === undefined || firstMs > nowMs) return { lastMs: undefined, count: 0, isTooMany: false }
  const secondMs = schedule.next(firstMs)
  if (secondMs === undefined || secondMs > nowMs) return { lastMs: firstMs, count: 1, isTooMany: false }
  const count = Math.floor((nowMs - firstMs) / (secondMs - firstMs)) + 1
  return { lastMs: schedule.last(secondMs, nowMs), count, isTooMany: count > missedMax }
}

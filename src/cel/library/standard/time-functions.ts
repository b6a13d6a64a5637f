// Components of a timestamp, in UTC or a time zone, and of a duration.
import { member, type Functions, type Overload } from '../../environment/function.ts'
import { durationType, intType, stringType, timestampType } from '../../types/cel-type.ts'
import type { Duration, Timestamp } from '../../values/time-values.ts'
import { EvalError } from '../../values/eval-error.ts'

const offsetPattern = /^([+-]?)(\d\d?):(\d\d)$/

/** The time in the zone, as a date whose UTC components are the zone's. */
function zoned(time: Timestamp, zone: string): Date {
  const ms = time.milliseconds
  if (zone === '' || zone === 'UTC') return new Date(ms)
  const offset = offsetPattern.exec(zone)
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3])
    return new Date(ms + (offset[1] === '-' ? -minutes : minutes) * 60_000)
  }
  const parts = Object.fromEntries(
    formatter(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour % 24, minute, second, new Date(ms).getUTCMilliseconds())
  return date
}

const formattersMax = 64
const formatters = new Map<string, Intl.DateTimeFormat>()

function formatter(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone)
  if (known !== undefined) return known
  try {
    const part = 'numeric' as const
    const made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: part,
      month: part,
      day: part,
      hour: part,
      minute: part,
      second: part,
    })
    if (formatters.size >= formattersMax) formatters.clear()
    formatters.set(zone, made)
    return made
  } catch {
    throw new EvalError(`unknown time zone ${zone}`)
  }
}

const dayMs = 86_400_000

const ofTimestamp = (name: string, part: (date: Date) => number): Overload[] => [
  member(`timestamp_to_${name}`, [timestampType], intType, (time: Timestamp) => BigInt(part(zoned(time, '')))),
  member(`timestamp_to_${name}_with_tz`, [timestampType, stringType], intType, (time: Timestamp, zone: string) =>
    BigInt(part(zoned(time, zone))),
  ),
]

const ofDuration = (name: string, nanosPerUnit: bigint): Overload =>
  member(`duration_to_${name}`, [durationType], intType, ({ nanos }: Duration) => nanos / nanosPerUnit)

export const timeFunctions: Functions = {
  getFullYear: ofTimestamp('year', (date) => date.getUTCFullYear()),
  getMonth: ofTimestamp('month', (date) => date.getUTCMonth()),
  getDayOfYear: ofTimestamp('day_of_year', (date) =>
    Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / dayMs),
  ),
  getDayOfMonth: ofTimestamp('day_of_month', (date) => date.getUTCDate() - 1),
  getDate: ofTimestamp('day_of_month_1_based', (date) => date.getUTCDate()),
  getDayOfWeek: ofTimestamp('day_of_week', (date) => date.getUTCDay()),
  getHours: [...ofTimestamp('hours', (date) => date.getUTCHours()), ofDuration('hours', 3_600_000_000_000n)],
  getMinutes: [...ofTimestamp('minutes', (date) => date.getUTCMinutes()), ofDuration('minutes', 60_000_000_000n)],
  getSeconds: [...ofTimestamp('seconds', (date) => date.getUTCSeconds()), ofDuration('seconds', 1_000_000_000n)],
  getMilliseconds: [
    ...ofTimestamp('milliseconds', (date) => date.getUTCMilliseconds()),
    ofDuration('milliseconds', 1_000_000n),
  ],
}

// Cron schedules in a time zone. Local times that a clock change skips are not due; those that it repeats are due
// twice.
import { lookup } from '../../base/collections/lookup.ts'
import { parseDuration } from '../../schema/scalar/duration.ts'

export interface Schedule {
  /** The first scheduled time after this one; undefined when there is none within five years. */
  next(afterMs: number): number | undefined
}

const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000
const searchMsMax = 5 * 366 * dayMs

const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Parses a schedule; undefined if it is invalid. */
export function parseSchedule(text: string, timeZone: string | undefined): Schedule | undefined {
  const every = /^@every\s+(\S.*)$/.exec(text)?.[1]
  if (every !== undefined) return everySchedule(every)
  const fields = (lookup(macros, text) ?? text).trim().split(/\s+/)
  const [minutes, hours, days, months, weekdays] = fields.map((field, index) => parseField(field, index))
  if (fields.length !== 5 || !minutes || !hours || !days || !months || !weekdays) return undefined
  const offsetOf = zoneOffset(timeZone ?? 'UTC')
  if (offsetOf === undefined) return undefined
  const isDay = (local: Date) => {
    const [isDate, isWeekday] = [days.has(local.getUTCDate()), weekdays.has(local.getUTCDay())]
    return days.isAny || weekdays.isAny ? isDate && isWeekday : isDate || isWeekday
  }
  return {
    next(afterMs) {
      const limitMs = afterMs + searchMsMax
      let atMs = Math.floor(afterMs / minuteMs) * minuteMs + minuteMs
      while (atMs < limitMs) {
        const local = new Date(atMs + offsetOf(atMs))
        if (!months.has(local.getUTCMonth() + 1) || !isDay(local)) atMs = nextMidnight(atMs, local, offsetOf)
        else if (!hours.has(local.getUTCHours())) atMs += hourMs - local.getUTCMinutes() * minuteMs
        else if (minutes.has(local.getUTCMinutes())) return atMs
        else atMs += minuteMs
      }
      return undefined
    },
  }
}

/** The start of the next local day, also where clocks change around midnight. */
function nextMidnight(atMs: number, local: Date, offsetOf: (atMs: number) => number): number {
  const startMs = Math.floor(local.getTime() / dayMs) * dayMs + dayMs
  let guessMs = startMs - offsetOf(atMs)
  for (let tries = 0; tries < 3; tries++) {
    const differenceMs = guessMs + offsetOf(guessMs) - startMs
    if (differenceMs === 0) break
    const earlierMs = guessMs - differenceMs
    // The clock change skips midnight: the day begins later.
    if (differenceMs > 0 && earlierMs + offsetOf(earlierMs) < startMs) break
    guessMs = earlierMs
  }
  return Math.max(guessMs, atMs + minuteMs)
}

type Field = Set<number> & { isAny: boolean }

const bounds = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const
const names: readonly (readonly string[])[] = [
  [],
  [],
  [],
  ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
]

function parseField(text: string, index: number): Field | undefined {
  const [min, max] = bounds[index] ?? [0, -1]
  const values = Object.assign(new Set<number>(), { isAny: false })
  const numberOf = (word: string) => {
    const named = (names[index] ?? []).indexOf(word.toLowerCase())
    return named >= 0 ? min + named : Number(word)
  }
  for (const range of text.split(',')) {
    const [span = '', step = '1'] = range.split('/')
    const isStar = span === '*' || span === '?'
    if (isStar && Number(step) === 1) values.isAny = true
    const [low = '', high] = span.split('-')
    const from = isStar ? min : numberOf(low)
    const to = isStar || (high === undefined && range.includes('/')) ? max : numberOf(high ?? low)
    if (![from, to, Number(step)].every(Number.isInteger) || Number(step) < 1) return undefined
    for (let value = from; value <= Math.min(to, max); value += Number(step)) values.add(value)
  }
  return values
}

function everySchedule(text: string): Schedule | undefined {
  const duration = parseDuration(text)
  if (duration.kind === 'fault') return undefined
  const delayMs = Math.max(1000, Math.floor(Number(duration.nanos) / 1e9) * 1000)
  return { next: (afterMs) => Math.floor(afterMs / 1000) * 1000 + delayMs }
}

/** The UTC offset of a time zone as a function of the time; undefined for an unknown zone. */
export function zoneOffset(timeZone: string): ((atMs: number) => number) | undefined {
  if (timeZone === 'UTC') return () => 0
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined // Intl throws a RangeError for an unknown zone
  }
  return (atMs) => {
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(atMs)) part[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000
  }
}

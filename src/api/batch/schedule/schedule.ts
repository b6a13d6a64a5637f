// Cron schedules in a time zone. Local times that a clock change skips are not due; those that it repeats are due
// twice.
import { lookup } from '../../../base/collections/lookup.ts'
import { parseDuration } from '../../../schema/scalar/duration.ts'
import { zoneOffset, type TimeZones } from './time-zone.ts'

export interface Schedule {
  /** The first scheduled time after this one; undefined when there is none within five years. */
  next(afterMs: number): number | undefined
  /** The last scheduled time up to `untilMs`, given a scheduled time that is not after it. */
  last(scheduledMs: number, untilMs: number): number
}

const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000
/** Months in which a matching day is searched. */
const searchMonthsMax = 5 * 12 + 1

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
export function parseSchedule(
  text: string,
  timeZone: string | undefined,
  zones: TimeZones = zoneOffset,
): Schedule | undefined {
  const every = /^@every\s+(\S.*)$/.exec(text)?.[1]
  if (every !== undefined) return everySchedule(every)
  const fields = (lookup(macros, text) ?? text).trim().split(/\s+/)
  if (fields.length !== bounds.length) return undefined
  const [minutes, hours, days, months, weekdays] = fields.map((field, index) => parseField(field, index))
  if (!minutes || !hours || !days || !months || !weekdays) return undefined
  const offsetOf = zones(timeZone ?? 'UTC')
  return offsetOf === undefined ? undefined : new CronSchedule({ minutes, hours, days, months, weekdays }, offsetOf)
}

interface Fields {
  readonly minutes: Field
  readonly hours: Field
  readonly days: Field
  readonly months: Field
  readonly weekdays: Field
}

class CronSchedule implements Schedule {
  readonly #fields: Fields
  readonly #offsetOf: (atMs: number) => number

  constructor(fields: Fields, offsetOf: (atMs: number) => number) {
    this.#fields = fields
    this.#offsetOf = offsetOf
  }

  /** Days are searched in the local calendar. Only the hours of matching days need the offset of the time zone. */
  next(afterMs: number): number | undefined {
    const { minutes, hours } = this.#fields
    let atMs = Math.floor(afterMs / minuteMs) * minuteMs + minuteMs
    const limitMs = atMs + searchMonthsMax * 31 * dayMs
    while (atMs < limitMs) {
      const local = new Date(atMs + this.#offsetOf(atMs))
      const dayStartMs = Math.floor(local.getTime() / dayMs) * dayMs
      if (!this.#isDay(local)) {
        const nextMs = this.#nextDay(dayStartMs)
        if (nextMs === undefined) return undefined
        atMs = dayBegins(nextMs, atMs, this.#offsetOf)
      } else if (!hours.has(local.getUTCHours())) atMs += hourMs - local.getUTCMinutes() * minuteMs
      else {
        const minute = local.getUTCMinutes()
        if (minutes.has(minute)) return atMs
        let step = 1
        while (minute + step < 60 && !minutes.has(minute + step)) step++
        atMs += step * minuteMs
      }
    }
    return undefined
  }

  /** Finds the last time by bisection: `next` never decreases. */
  last(scheduledMs: number, untilMs: number): number {
    let lastMs = scheduledMs
    let endMs = untilMs
    while (endMs - lastMs > minuteMs) {
      const middleMs = lastMs + Math.floor((endMs - lastMs) / 2)
      const nextMs = this.next(middleMs)
      if (nextMs !== undefined && nextMs <= untilMs) lastMs = nextMs
      else endMs = middleMs
    }
    const nextMs = this.next(lastMs)
    return nextMs !== undefined && nextMs <= untilMs ? nextMs : lastMs
  }

  #isDay(local: Date): boolean {
    const { days, months, weekdays } = this.#fields
    if (!months.has(local.getUTCMonth() + 1)) return false
    const isDate = days.has(local.getUTCDate())
    const isWeekday = weekdays.has(local.getUTCDay())
    return days.isAny || weekdays.isAny ? isDate && isWeekday : isDate || isWeekday
  }

  /** The next matching day after this one, as local times. */
  #nextDay(dayStartMs: number): number | undefined {
    let local = new Date(dayStartMs + dayMs)
    for (let month = 0; month < searchMonthsMax; month++) {
      const end = Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 1)
      if (this.#fields.months.has(local.getUTCMonth() + 1))
        for (; local.getTime() < end; local = new Date(local.getTime() + dayMs))
          if (this.#isDay(local)) return local.getTime()
      local = new Date(end)
    }
    return undefined
  }
}

/** When a local day begins, also where clocks change around midnight; later than `afterMs`. */
function dayBegins(startMs: number, afterMs: number, offsetOf: (atMs: number) => number): number {
  let guessMs = startMs - offsetOf(afterMs)
  for (let tries = 0; tries < 3; tries++) {
    const differenceMs = guessMs + offsetOf(guessMs) - startMs
    if (differenceMs === 0) break
    const earlierMs = guessMs - differenceMs
    // The clock change skips midnight: the day begins later.
    if (differenceMs > 0 && earlierMs + offsetOf(earlierMs) < startMs) break
    guessMs = earlierMs
  }
  return Math.max(guessMs, afterMs + minuteMs)
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
  // A list may repeat its items very often.
  for (const range of new Set(text.split(','))) {
    if (range === '') continue
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
  const next = (afterMs: number) => Math.floor(afterMs / 1000) * 1000 + delayMs
  return {
    next,
    last: (scheduledMs, untilMs) => scheduledMs + Math.floor((untilMs - scheduledMs) / delayMs) * delayMs,
  }
}

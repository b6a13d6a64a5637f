// Formats of dates, times and durations.
import { parseDuration } from '../../../schema/scalar/duration.ts'

/** A day of the calendar. */
export function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (parts === null) return false
  const [year = 0, month = 0, day = 0] = parts.slice(1).map(Number)
  if (month < 1 || month > 12 || day < 1) return false
  return day <= (month === 2 && isLeapYear(year) ? 29 : (daysOfMonth[month - 1] ?? 0))
}

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/** Upstream allows any offset, any character before the fraction, and ignores what follows a second T. */
export function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t', 2)
  const parts = /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/u.exec(time)
  if (parts === null || !isDate(date)) return false
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map(Number)
  return hours <= 23 && minutes <= 59 && seconds <= 59
}

const units = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'])
/** Longer names of units are recognized by their beginnings. */
const unitBeginnings = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week']
const isUnit = (name: string): boolean => units.has(name) || unitBeginnings.some((each) => name.startsWith(each))

const int64Max = 2n ** 63n - 1n

/** A duration of Go, or a text in which a number is followed by a unit: `2 weeks`. */
export function isPeriod(text: string): boolean {
  if (parseDuration(text).kind === 'duration') return true
  let hasUnit = false
  // linear: a match begins only where a number does, so no digit or space is visited from two beginnings.
  for (const [, count = '', unit = ''] of text.matchAll(/(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g)) {
    const digits = count.replace(/^0+/, '')
    if (digits.length > 19 || BigInt(digits) > int64Max) return false
    hasUnit ||= isUnit(unit.toLowerCase())
  }
  return hasUnit
}

// Time zones: the UTC offset of a zone at a time.
import { LruMap } from '../../../base/collections/lru-map.ts'

export type TimeZones = (timeZone: string) => ((atMs: number) => number) | undefined

/** The formats of a zone take long to make. */
const zonesMax = 64
const known = new LruMap<{ readonly offsetOf: ReturnType<TimeZones> }>(zonesMax)

/** The UTC offset of a time zone as a function of the time; undefined for an unknown zone. */
export const zoneOffset: TimeZones = (timeZone) =>
  timeZone === 'UTC' ? () => 0 : known.getOrInsert(timeZone, () => ({ offsetOf: newOffset(timeZone) })).offsetOf

function newOffset(timeZone: string): ((atMs: number) => number) | undefined {
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

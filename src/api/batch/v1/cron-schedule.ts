// Cron schedules: five fields or a descriptor. The error messages are those of the library that upstream uses.
import { parseDuration } from '../../../schema/scalar/duration.ts'

interface Bounds {
  readonly min: number
  readonly max: number
  /** Names for the values, the first one for `min`. */
  readonly names: readonly string[]
}

const bounds: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
]
const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']
const zonePrefix = /^(?:CRON_)?TZ=(\S*)\s*/

/** The first error, or undefined. */
export function scheduleError(text: string): string | undefined {
  const schedule = text.replace(zonePrefix, '')
  if (schedule.startsWith('@')) return descriptorError(schedule)
  const fields = schedule.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== bounds.length) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [index, field] of fields.entries())
    // A list may repeat its items very often.
    for (const range of new Set(field.split(','))) {
      if (range === '') continue
      const error = rangeError(range, bounds[index] ?? { min: 0, max: 0, names: [] })
      if (error !== undefined) return error
    }
  return undefined
}

function descriptorError(text: string): string | undefined {
  if (descriptors.includes(text)) return undefined
  const every = '@every '
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`
  const duration = text.slice(every.length)
  const parsed = parseDuration(duration)
  return parsed.kind === 'duration' ? undefined : `failed to parse duration ${text}: time: ${parsed.fault}`
}

/** `3`, `3-5`, `*`, each with an optional `/step`. */
function rangeError(text: string, { min, max, names }: Bounds): string | undefined {
  const [range = '', step, ...moreSteps] = text.split('/')
  const [low = '', high, ...moreHighs] = range.split('-')
  const isStar = low === '*' || low === '?'
  if (!isStar && moreHighs.length > 0) return `too many hyphens: ${text}`
  if (moreSteps.length > 0) return `too many slashes: ${text}`
  const numbers = [
    ...(isStar ? [] : [low, ...(high === undefined ? [] : [high])].map((part) => numberOf(part, min, names))),
    ...(step === undefined ? [] : [numberOf(step, 0, [])]),
  ]
  for (const number of numbers) if (typeof number === 'string') return number
  const start = isStar ? min : Number(numberOf(low, min, names))
  const end = isStar || (high === undefined && step !== undefined) ? max : Number(numberOf(high ?? low, min, names))
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${text}`
  if (end > max) return `end of range (${end}) above maximum (${max}): ${text}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`
  if (step !== undefined && Number(step) === 0) return `step of range should be a positive number: ${text}`
  return undefined
}

/** The number, or the error of the text. */
function numberOf(text: string, min: number, names: readonly string[]): number | string {
  const named = names.indexOf(text.toLowerCase())
  if (named >= 0) return min + named
  if (!/^[+-]?\d+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
  return Number(text) < 0 ? `negative number (${Number(text)}) not allowed: ${text}` : Number(text)
}

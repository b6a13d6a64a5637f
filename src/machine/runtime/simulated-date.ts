// The output of `date` in UTC, without arguments and with the formats that scripts commonly use.
import { lookup } from '../../base/collections/lookup.ts'

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const defaultFormat = '%a %b %e %H:%M:%S UTC %Y'

/** Undefined for unknown options and formats. */
export function dateText(args: readonly string[], nowMs: number): string | undefined {
  const formats = args.filter((word) => word !== '-u' && word !== '--utc')
  const [format] = formats
  if (format === undefined) return formatted(defaultFormat, nowMs)
  return formats.length === 1 && format.startsWith('+') ? formatted(format.slice(1), nowMs) : undefined
}

function formatted(format: string, nowMs: number): string | undefined {
  let isKnown = true
  const text = format.replace(/%(.)?/g, (_, letter: string | undefined) => {
    const field = letter === undefined ? undefined : lookup(fields, letter)?.(new Date(nowMs))
    isKnown &&= field !== undefined
    return field ?? ''
  })
  return isKnown ? text : undefined
}

const two = (number: number): string => String(number).padStart(2, '0')
const iso = (date: Date): string => date.toISOString()

const fields: Readonly<Record<string, ((date: Date) => string) | undefined>> = {
  '%': () => '%',
  Y: (date) => String(date.getUTCFullYear()),
  m: (date) => two(date.getUTCMonth() + 1),
  d: (date) => two(date.getUTCDate()),
  e: (date) => String(date.getUTCDate()).padStart(2, ' '),
  H: (date) => two(date.getUTCHours()),
  M: (date) => two(date.getUTCMinutes()),
  S: (date) => two(date.getUTCSeconds()),
  N: (date) => `${String(date.getUTCMilliseconds()).padStart(3, '0')}000000`,
  s: (date) => String(Math.floor(date.getTime() / 1_000)),
  F: (date) => iso(date).slice(0, 10),
  T: (date) => iso(date).slice(11, 19),
  a: (date) => days[date.getUTCDay()] ?? '',
  b: (date) => months[date.getUTCMonth()] ?? '',
  Z: () => 'UTC',
  z: () => '+0000',
}

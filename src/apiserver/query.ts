// Values in the query of a request, read as upstream reads them.
import { badRequest } from '../api/status-error.ts'
import { durationNanos } from '../schema/duration.ts'

/** As upstream reads a flag in a query: there and neither `false` nor `0`. */
export function booleanOf(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)
  return text !== null && text.toLowerCase() !== 'false' && text !== '0'
}

export function integerOf(text: string): number {
  if (text === '') return 0
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
}

/** How long a request may take by its own word; 0 when it says nothing. */
export function timeoutMsOf(query: URLSearchParams): number {
  const text = query.get('timeout') ?? ''
  if (text === '') return 0
  const fault = durationFault(text)
  if (fault !== undefined) throw badRequest(`invalid timeout specified in the request URL - time: ${fault}`)
  return Math.max(0, durationNanos(text) / 1e6)
}

const units = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h']

/** What Go says of a text that is no duration. */
function durationFault(text: string): string | undefined {
  const quoted = JSON.stringify(text)
  const unsigned = text.replace(/^[+-]/, '')
  if (unsigned === '0') return undefined
  if (unsigned === '') return `invalid duration ${quoted}`
  for (let rest = unsigned; rest !== '';) {
    const [part = '', number = '', unit = ''] = /^([\d.]*)([^\d.]*)/.exec(rest) ?? []
    if (!/^(\d+\.?\d*|\.\d+)$/.test(number)) return `invalid duration ${quoted}`
    if (unit === '') return `missing unit in duration ${quoted}`
    if (!units.includes(unit)) return `unknown unit ${JSON.stringify(unit)} in duration ${quoted}`
    rest = rest.slice(part.length)
  }
  return undefined
}

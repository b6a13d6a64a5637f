// Parameters of a query, parsed as upstream parses them.
import { badRequest } from '../../api/errors/status-error.ts'
import { parseDuration } from '../../schema/scalar/duration.ts'
import { int64, type Int64 } from '../../schema/scalar/int64.ts'

/** As upstream: true where the parameter is present and neither `false` nor `0`. */
export function booleanParameter(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)
  return text !== null && text.toLowerCase() !== 'false' && text !== '0'
}

export function parseInteger(text: string): Int64 {
  if (text === '') return 0
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = int64(text)
  if (value === undefined) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** The `timeout` parameter of a request; 0 where there is none. */
export function timeoutMsParameter(query: URLSearchParams): number {
  const text = query.get('timeout') ?? ''
  if (text === '') return 0
  const parsed = parseDuration(text)
  if (parsed.kind === 'fault') throw badRequest(`invalid timeout specified in the request URL - time: ${parsed.fault}`)
  return Math.max(0, Number(parsed.nanos) / 1e6)
}

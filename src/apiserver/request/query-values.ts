// Parameters of a query, parsed as upstream parses them.
import { badRequest } from '../../api/errors/status-error.ts'
import { parseDuration } from '../../schema/scalar/duration.ts'

/** As upstream: true where the parameter is present and neither `false` nor `0`. */
export function booleanParameter(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)
  return text !== null && text.toLowerCase() !== 'false' && text !== '0'
}

export function parseInteger(text: string): number {
  if (text === '') return 0
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
}

/** The `timeout` parameter of a request; 0 where there is none. */
export function timeoutMsParameter(query: URLSearchParams): number {
  const text = query.get('timeout') ?? ''
  if (text === '') return 0
  const parsed = parseDuration(text)
  if (parsed.kind === 'fault') throw badRequest(`invalid timeout specified in the request URL - time: ${parsed.fault}`)
  return Math.max(0, Number(parsed.nanos) / 1e6)
}

// Values in the query of a request, read as upstream reads them.
import { badRequest } from '../api/status-error.ts'

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

// The strings extension: positions are counted in code points, like `size()`.
import { lookup } from '../../base/collections/lookup.ts'
import { member, global, type Functions } from '../environment/function.ts'
import { dynType, intType, listOf, stringType } from '../types/cel-type.ts'
import { codePoints } from '../values/code-points.ts'
import { sizeOf, textSize } from '../values/equality.ts'
import { EvalError } from '../values/eval-error.ts'
import type { ListValue } from '../values/value.ts'
import { format, type FormatStyle } from './string-format.ts'

function at(text: string, position: bigint): number {
  const index = Number(position)
  if (index < 0 || index > textSize(text)) throw new EvalError(`index out of range: ${position}`)
  return index
}

/** Where a search starts; a start behind the end finds nothing. */
function searchStart(position: bigint): number {
  if (position < 0n) throw new EvalError(`index out of range: ${position}`)
  return Number(position)
}

function charAt(text: string, position: bigint): string {
  return codePoints(text)[at(text, position)] ?? ''
}

/** Converts a UTF-16 offset to code points. */
const pointsBefore = (text: string, offset: number): bigint => BigInt(textSize(text.slice(0, offset)))

const offsetOf = (text: string, points: number): number => codePoints(text).slice(0, points).join('').length

function indexOf(text: string, part: string, from = 0n): bigint {
  const start = searchStart(from)
  if (part === '') return from
  if (start > textSize(text)) return -1n
  const found = text.indexOf(part, offsetOf(text, start))
  return found < 0 ? -1n : pointsBefore(text, found)
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const limit = from === undefined ? undefined : searchStart(from)
  if (part === '') return from ?? BigInt(textSize(text))
  if (limit !== undefined && limit > textSize(text)) return -1n
  const found = text.lastIndexOf(part, limit === undefined ? undefined : offsetOf(text, limit))
  return found < 0 ? -1n : pointsBefore(text, found)
}

function substring(text: string, from: bigint, to?: bigint): string {
  const start = at(text, from)
  const end = to === undefined ? undefined : at(text, to)
  if (end !== undefined && start > end) throw new EvalError(`invalid substring range. start: ${start}, end: ${end}`)
  return textSize(text) === text.length ? text.slice(start, end) : codePoints(text).slice(start, end).join('')
}

/** The maximum length of a result of one call. */
const resultCharactersMax = 16 << 20

function bounded(characters: number): void {
  if (characters > resultCharactersMax) throw new EvalError(`string exceeds ${resultCharactersMax} characters`)
}

function replace(text: string, what: string, by: string, limit = -1n): string {
  bounded(text.length + (text.length / Math.max(what.length, 1) + 1) * by.length)
  if (limit < 0n) return what === '' ? surrounded(text, by, Number.POSITIVE_INFINITY) : text.replaceAll(what, () => by)
  if (what === '') return surrounded(text, by, Number(limit))
  const parts = text.split(what)
  const count = Math.min(Number(limit), parts.length - 1)
  return (
    parts.slice(0, count + 1).join(by) +
    parts
      .slice(count + 1)
      .map((part) => what + part)
      .join('')
  )
}

/** An empty text matches before, between and after all characters. */
function surrounded(text: string, by: string, limit: number): string {
  const all = codePoints(text)
  return all.map((character, index) => (index < limit ? by : '') + character).join('') + (all.length < limit ? by : '')
}

function split(text: string, separator: string, limit = -1n): string[] {
  if (limit === 0n) return []
  const parts = separator === '' ? codePoints(text) : text.split(separator)
  if (limit < 0n || parts.length <= limit) return parts
  const kept = parts.slice(0, Number(limit) - 1)
  return [...kept, parts.slice(Number(limit) - 1).join(separator)]
}

/** Unicode white space, as upstream trims it. */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text[start])) start++
  while (end > start && isSpace(text[end - 1])) end--
  return text.slice(start, end)
}

const isSpace = (character = ''): boolean => /^\p{White_Space}$/u.test(character)

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]+/g, (part) => part.toLowerCase())
const upperAscii = (text: string): string => text.replaceAll(/[a-z]+/g, (part) => part.toUpperCase())

function join(list: ListValue, separator = ''): string {
  bounded(list.reduce<number>((sum, each) => sum + separator.length + sizeOf(each), 0))
  return list
    .map((each) => {
      if (typeof each !== 'string') throw new EvalError('no such overload')
      return each
    })
    .join(separator)
}

const escapes: Readonly<Record<string, string>> = {
  '\u0007': String.raw`\a`,
  '\b': String.raw`\b`,
  '\f': String.raw`\f`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '\v': String.raw`\v`,
  '\\': '\\\\',
  '"': String.raw`\"`,
}

/** The text as a double-quoted literal of the expression language. */
export const quote = (text: string): string =>
  `"${codePoints(text.toWellFormed())
    .map((character) => lookup(escapes, character) ?? character)
    .join('')}"`

const text = stringType
const int = intType

/** The function of a later version of the extension than Kubernetes has. */
export const stringReverse: Functions = {
  reverse: [member('string_reverse', [text], text, (value: string) => codePoints(value).toReversed().join(''))],
}

export const stringFunctions: Functions = {
  charAt: [member('string_char_at_int', [text, int], text, charAt)],
  indexOf: [
    member('string_index_of_string', [text, text], int, indexOf),
    member('string_index_of_string_int', [text, text, int], int, indexOf),
  ],
  lastIndexOf: [
    member('string_last_index_of_string', [text, text], int, lastIndexOf),
    member('string_last_index_of_string_int', [text, text, int], int, lastIndexOf),
  ],
  substring: [
    member('string_substring_int', [text, int], text, substring),
    member('string_substring_int_int', [text, int, int], text, substring),
  ],
  replace: [
    member('string_replace_string_string', [text, text, text], text, replace),
    member('string_replace_string_string_int', [text, text, text, int], text, replace),
  ],
  split: [
    member('string_split_string', [text, text], listOf(text), split),
    member('string_split_string_int', [text, text, int], listOf(text), split),
  ],
  trim: [member('string_trim', [text], text, trim)],
  lowerAscii: [member('string_lower_ascii', [text], text, lowerAscii)],
  upperAscii: [member('string_upper_ascii', [text], text, upperAscii)],
  join: [member('list_join', [listOf(text)], text, join), member('list_join_string', [listOf(text), text], text, join)],
  'strings.quote': [global('strings_quote', [text], text, quote)],
}

export const stringFormat = (style: FormatStyle): Functions => ({
  format: [
    member('string_format', [text, listOf(dynType)], text, (pattern: string, args: ListValue) =>
      format(pattern, args, style),
    ),
  ],
})

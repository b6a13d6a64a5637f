// parseInSlices: JSON.parse for long texts. The native parser cannot be interrupted: three megabytes of small objects block
// the event loop for a third of a second. This parser pauses after each slice of time, so that other requests are served,
// and fails after a number of values, so that a text cannot take a hundred times its size in memory.
import { setOwn } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { jsonDepthMax } from './json-depth.ts'
import { TooManyValuesError } from './too-many-values.ts'
import { numberOf } from './exact-json.ts'

/** How long the event loop is blocked at a time. */
const sliceMs = 5
/** The clock is read once for this many values. */
const valuesPerCheck = 256

export interface ParsedJson {
  readonly value: unknown
  /** Whether an object has a key twice, of which the last is kept. */
  readonly repeatsKeys: boolean
}

/**
 * The value of the text. Throws a SyntaxError, or a TooManyValuesError beyond `valuesMax` scalars, lists and objects.
 * `pause` is called between two slices; by default it waits for one turn of the event loop.
 */
export async function parseInSlices(
  text: string,
  valuesMax: number,
  clock: Clock,
  pause: () => Promise<void> = () => clock.outside(eventLoopTurn()),
): Promise<ParsedJson> {
  const steps = parseSteps(text, valuesMax)
  for (;;) {
    const untilMs = clock.monotonicMs() + sliceMs
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (clock.monotonicMs() < untilMs)
    await pause()
  }
}

type Container = unknown[] | Record<string, unknown>

/** Yields regularly. Open containers are on an explicit stack, so there is no recursion. */
export function* parseSteps(text: string, valuesMax: number): Generator<undefined, ParsedJson, undefined> {
  const open: Container[] = []
  /** The current key of each open container; empty for lists. */
  const keys: string[] = []
  let at = 0
  let values = 0
  let repeatsKeys = false
  for (;;) {
    if (++values > valuesMax) throw new TooManyValuesError(valuesMax)
    if (values % valuesPerCheck === 0) yield
    at = spaceEnd(text, at)
    let value: unknown
    const first = text.charCodeAt(at)
    if (first === openBrace || first === openBracket) {
      const container: Container = first === openBrace ? {} : []
      if (open.length >= jsonDepthMax) throw new SyntaxError('exceeded max depth')
      at = spaceEnd(text, at + 1)
      if (text.charCodeAt(at) !== closeOf(container)) {
        open.push(container)
        if (first === openBrace) [keys[open.length - 1], at] = keyAt(text, at)
        continue
      }
      at++
      value = container
    } else [value, at] = scalarAt(text, at)
    // The value is complete, and may complete the containers around it.
    for (;;) {
      const container = open.at(-1)
      if (container === undefined) {
        at = spaceEnd(text, at)
        if (at < text.length) throw unexpected(text, at, 'after top-level value')
        return { value, repeatsKeys }
      }
      if (Array.isArray(container)) container.push(value)
      else {
        const key = keys[open.length - 1] ?? ''
        repeatsKeys ||= Object.hasOwn(container, key)
        setOwn(container, key, value)
      }
      at = spaceEnd(text, at)
      const next = text.charCodeAt(at)
      if (next === comma) {
        at++
        if (!Array.isArray(container)) [keys[open.length - 1], at] = keyAt(text, spaceEnd(text, at))
        break
      }
      if (next !== closeOf(container))
        throw unexpected(text, at, Array.isArray(container) ? 'after array element' : 'after object key:value pair')
      at++
      value = container
      open.pop()
    }
  }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

const closeOf = (container: Container): number => (Array.isArray(container) ? closeBracket : closeBrace)

function spaceEnd(text: string, from: number): number {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
  }
}

/** The key, and the start of its value. */
function keyAt(text: string, at: number): [key: string, end: number] {
  if (text.charCodeAt(at) !== quote) throw unexpected(text, at, 'looking for beginning of object key string')
  const [key, end] = stringAt(text, at)
  const separator = spaceEnd(text, end)
  if (text.charCodeAt(separator) !== colon) throw unexpected(text, separator, 'after object key')
  return [key, separator + 1]
}

const literals: readonly (readonly [text: string, value: boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

function scalarAt(text: string, at: number): [value: unknown, end: number] {
  if (text.charCodeAt(at) === quote) return stringAt(text, at)
  number.lastIndex = at
  const digits = number.exec(text)?.[0]
  if (digits !== undefined) return [numberOf(digits), at + digits.length]
  for (const [word, value] of literals) if (text.startsWith(word, at)) return [value, at + word.length]
  throw unexpected(text, at, 'looking for beginning of value')
}

/** V8 copies shorter parts of a text; a longer one would keep the whole text in memory. */
const copiedMax = 12

/** Short strings without escapes are copied. The native parser reads all others: they are bounded by the text. */
function stringAt(text: string, from: number): [value: string, end: number] {
  for (let at = from + 1; at <= from + 1 + copiedMax; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return [text.slice(from + 1, at), at + 1]
    // An escape, a character that is not allowed, or the end of the text.
    if (code === backslash || !(code >= 0x20)) break
  }
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((at - before) % 2 === 1) return [JSON.parse(text.slice(from, at + 1)) as string, at + 1]
  }
  throw unexpected(text, text.length, '')
}

/** In the wording of upstream's parser. */
const unexpected = (text: string, at: number, where: string): SyntaxError =>
  at >= text.length
    ? new SyntaxError('unexpected end of JSON input')
    : new SyntaxError(`invalid character ${JSON.stringify(text[at]).replace(/^"(.*)"$/, "'$1'")} ${where}`)

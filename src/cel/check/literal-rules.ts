// Rules of literals in Kubernetes: elements have one type; patterns, times and format strings are valid. They are checked in
// expressions whose types are correct.
import { append } from '../../base/collections/append.ts'
import { formatParts, formatUses, type FormatVerb } from '../library/string-format.ts'
import { childrenOf, type Call, type Expr } from '../syntax/ast.ts'
import type { Issue } from '../syntax/source.ts'
import { dynType, isOptional, runtimeTypeName, typeText, type CelType } from '../types/cel-type.ts'
import { EvalError } from '../values/eval-error.ts'
import { regex } from '../regex/regex.ts'
import { Duration, Timestamp } from '../values/time-values.ts'
import type { Value } from '../values/value.ts'

type Types = ReadonlyMap<Expr, CelType>

export function literalIssues(expr: Expr, types: Types): readonly Issue[] {
  const issues: Issue[] = []
  addIssues(expr, types, false, issues)
  return issues
}

/** Arguments of `format` may have mixed types. */
function addIssues(expr: Expr, types: Types, isMixedAllowed: boolean, issues: Issue[]): void {
  const isFormat = expr.kind === 'call' && expr.name === 'format' && expr.target !== undefined
  if (!isMixedAllowed) append(issues, mixedIssues(expr, types))
  if (expr.kind === 'call') append(issues, argumentIssues(expr, types))
  for (const child of childrenOf(expr)) addIssues(child, types, isMixedAllowed || isFormat, issues)
}

function mixedIssues(expr: Expr, types: Types): readonly Issue[] {
  if (expr.kind === 'list') return uniform(expr.elements, types)
  if (expr.kind !== 'map') return []
  const keys = expr.entries.map(({ key }) => ({ value: key, isOptional: false }))
  return [...uniform(keys, types), ...uniform(expr.entries, types)]
}

/** Only the first element of another type is reported. */
function uniform(
  elements: readonly { readonly value: Expr; readonly isOptional: boolean }[],
  types: Types,
): readonly Issue[] {
  let expected: string | undefined
  for (const { value, isOptional: isOptionalElement } of elements) {
    const given = types.get(value) ?? dynType
    const found = typeText(isOptionalElement && isOptional(given) ? (given.parameters[0] ?? dynType) : given)
    expected ??= found
    if (found !== expected) return [{ at: value.at, message: `expected type '${expected}' but found '${found}'` }]
  }
  return []
}

const isValid = (make: () => unknown): boolean => {
  try {
    make()
    return true
  } catch (error) {
    if (error instanceof EvalError) return false
    throw error
  }
}

function argumentIssues(call: Call, types: Types): readonly Issue[] {
  const { name, target, args } = call
  const [first] = args
  if (first === undefined || args.length !== 1) return []
  const literal = first.kind === 'literal' ? first.value : undefined
  const invalid = (check: (value: Value) => unknown): readonly Issue[] =>
    literal === undefined || isValid(() => check(literal))
      ? []
      : [{ at: first.at, message: `invalid ${name} argument` }]
  switch (name) {
    case 'matches':
      return typeof literal === 'string' && target !== undefined ? invalid(() => regex(literal)) : []
    case 'timestamp':
      return target === undefined ? invalid(timestampOf) : []
    case 'duration':
      return target === undefined ? invalid(durationOf) : []
    case 'format':
      return target?.kind === 'literal' && typeof target.value === 'string'
        ? formatIssues(call, target.value, first, types)
        : []
    default:
      return []
  }
}

const nanosPerSecond = 1_000_000_000n

function timestampOf(value: Value): unknown {
  if (typeof value === 'string') return Timestamp.parse(value)
  return typeof value === 'bigint' ? new Timestamp(value * nanosPerSecond) : undefined
}

function durationOf(value: Value): unknown {
  if (typeof value === 'string') return Duration.parse(value)
  throw new EvalError('a duration is a text')
}

/** The first error of a format string and its arguments. */
function formatIssues(call: Call, pattern: string, list: Expr, types: Types): readonly Issue[] {
  if (list.kind !== 'list') return []
  const args = list.elements.map(({ value }) => value)
  let count = 0
  try {
    for (const part of formatParts(pattern)) {
      if (typeof part === 'string') continue
      const arg = args[count]
      if (arg === undefined) return [{ at: call.at, message: `index ${count} out of range` }]
      count++
      const wrong = unformattable(part.verb, arg, types)
      if (wrong !== undefined) return [wrong]
    }
  } catch (error) {
    if (error instanceof EvalError) return [{ at: call.at, message: error.message }]
    throw error
  }
  if (args.length <= count) return []
  const message = `too many arguments supplied to string.format (expected ${count}, got ${args.length})`
  return [{ at: call.at, message }]
}

const integers = ['int', 'uint']
const kindsOf: Readonly<Record<FormatVerb, readonly string[]>> = {
  s: ['bool', 'bytes', 'double', 'duration', 'int', 'list', 'map', 'null', 'string', 'timestamp', 'type', 'uint'],
  d: integers,
  // A text may be the name of a number: NaN, Infinity.
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: [...integers, 'bool'],
  x: [...integers, 'string', 'bytes'],
  X: [...integers, 'string', 'bytes'],
  o: integers,
}

/** Lists and maps in `%s` are checked element by element if they are literals. */
function unformattable(verb: FormatVerb, arg: Expr, types: Types): Issue | undefined {
  const type = types.get(arg) ?? dynType
  if (type.kind !== 'dyn' && type.kind !== 'error' && !kindsOf[verb].includes(type.kind)) {
    const given = runtimeTypeName(type)
    return { at: arg.at, message: `error during formatting: ${formatUses[verb]}, was given ${given}` }
  }
  if (verb !== 's' || (arg.kind !== 'list' && arg.kind !== 'map')) return undefined
  for (const child of childrenOf(arg)) {
    const wrong = unformattable(verb, child, types)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

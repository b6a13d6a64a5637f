// Evaluates jq expressions: each gives any number of values for an input.
import { lookup } from '../../base/collections/lookup.ts'
import { compare, isList, isMap, isTrue, jqFunction, plus, printed, typeOf, valuesOf } from './jq-functions.ts'
import { JqError, type BinaryOperator, type JqQuery, type JqValue } from './jq-query.ts'
import { stepsOf } from '../work/value-steps.ts'

/** Bounds what an expression computes for one object. */
const stepsMax = 100_000

interface Run {
  steps: number
}

/** The values of the expression; undefined if one of its steps fails. */
export function evaluateJq(query: JqQuery, input: JqValue): readonly JqValue[] | undefined {
  try {
    return [...values(query, input, { steps: 0 })]
  } catch (error) {
    if (error instanceof JqError) return undefined
    throw error
  }
}

function count(steps: number, run: Run): void {
  run.steps += steps
  if (run.steps > stepsMax) throw new JqError(`the expression takes more than ${stepsMax} steps`)
}

/** The value itself; handling it takes longer the larger it is. */
function counted(value: JqValue, run: Run): JqValue {
  const steps = stepsOf(value)
  if (steps === undefined) throw new JqError('a value is too large')
  count(steps, run)
  return value
}

function* values(query: JqQuery, input: JqValue, run: Run): Iterable<JqValue> {
  count(1, run)
  switch (query.kind) {
    case 'identity':
      yield input
      return
    case 'literal':
      yield query.value
      return
    case 'index':
      for (const value of values(query.of, input, run))
        for (const key of values(query.by, input, run)) yield* optional(query.isOptional, () => [indexed(value, key)])
      return
    case 'iterate':
      for (const value of values(query.of, input, run))
        yield* optional(query.isOptional, () => items('iteration', value, run))
      return
    case 'pipe':
      for (const value of values(query.from, input, run)) yield* values(query.to, value, run)
      return
    case 'comma':
      yield* values(query.left, input, run)
      yield* values(query.right, input, run)
      return
    case 'negate':
      for (const value of values(query.of, input, run)) yield -number(value)
      return
    case 'list':
      yield query.of === undefined ? [] : counted([...values(query.of, input, run)], run)
      return
    case 'if':
      for (const value of values(query.condition, input, run))
        yield* values(isTrue(value) ? query.consequent : query.otherwise, input, run)
      return
    case 'binary':
      yield* binary(query.operator, query.left, query.right, input, run)
      return
    case 'call':
      yield* call(query.name, query.args, input, run)
      return
    default:
      query satisfies never
  }
}

function items(name: string, value: JqValue, run: Run): readonly JqValue[] {
  const found = valuesOf(name, value)
  count(found.length, run)
  return found
}

function optional(isOptional: boolean, read: () => readonly JqValue[]): readonly JqValue[] {
  try {
    return read()
  } catch (error) {
    if (isOptional && error instanceof JqError) return []
    throw error
  }
}

function indexed(value: JqValue, key: JqValue): JqValue {
  if (value === null && (typeof key === 'string' || typeof key === 'number')) return null
  if (isMap(value) && typeof key === 'string') return lookup(value, key) ?? null
  if (isList(value) && typeof key === 'number') return value.at(Math.floor(key)) ?? null
  throw new JqError(`${typeOf(value)} cannot be indexed with ${typeOf(key)}`)
}

function* binary(operator: BinaryOperator, left: JqQuery, right: JqQuery, input: JqValue, run: Run): Iterable<JqValue> {
  if (operator === '//') {
    yield* alternatives(left, right, input, run)
    return
  }
  for (const one of values(left, input, run)) {
    const isDecided = operator === 'and' ? !isTrue(one) : operator === 'or' ? isTrue(one) : false
    if (isDecided) yield operator === 'or'
    else
      for (const other of values(right, input, run)) {
        counted(one, run)
        yield counted(computed(operator, one, counted(other, run)), run)
      }
  }
}

/** The values on the left that are neither null nor false; those on the right if there are none. */
function* alternatives(left: JqQuery, right: JqQuery, input: JqValue, run: Run): Iterable<JqValue> {
  let hasSome = false
  try {
    for (const value of values(left, input, run))
      if (isTrue(value)) {
        hasSome = true
        yield value
      }
  } catch (error) {
    if (!(error instanceof JqError)) throw error
  }
  if (!hasSome) yield* values(right, input, run)
}

function computed(operator: Exclude<BinaryOperator, '//'>, left: JqValue, right: JqValue): JqValue {
  switch (operator) {
    case 'and':
    case 'or':
      return isTrue(right)
    case '==':
      return compare(left, right) === 0
    case '!=':
      return compare(left, right) !== 0
    case '<':
      return compare(left, right) < 0
    case '<=':
      return compare(left, right) <= 0
    case '>':
      return compare(left, right) > 0
    case '>=':
      return compare(left, right) >= 0
    case '+':
      return plus(left, right)
    case '-':
      if (isList(left) && isList(right))
        return left.filter((value) => !right.some((each) => compare(each, value) === 0))
      return number(left) - number(right)
    case '*':
      return number(left) * number(right)
    case '/':
      return number(left) / divisor(right)
    case '%':
      return Math.trunc(number(left)) % divisor(Math.trunc(number(right)))
    default:
      return operator satisfies never
  }
}

const number = (value: JqValue): number => {
  if (typeof value !== 'number') throw new JqError(`${printed(value)} is not a number`)
  return value
}

const divisor = (value: JqValue): number => {
  if (number(value) === 0) throw new JqError('division by zero')
  return number(value)
}

function* call(name: string, args: readonly JqQuery[], input: JqValue, run: Run): Iterable<JqValue> {
  const [of = { kind: 'identity' } as const] = args
  const each = (): readonly JqValue[] =>
    items(name, input, run).flatMap((value) => (args.length === 0 ? [value] : [...values(of, value, run)]))
  switch (name) {
    case 'empty':
      return
    case 'select':
      for (const value of values(of, input, run)) if (isTrue(value)) yield input
      return
    case 'map':
      yield counted(each(), run)
      return
    case 'any':
      yield each().some(isTrue)
      return
    case 'all':
      yield each().every(isTrue)
      return
    case 'first':
      if (args.length === 0) yield valuesOf(name, input)[0] ?? null
      else
        for (const value of values(of, input, run)) {
          yield value
          return
        }
      return
  }
  const evaluate = jqFunction(name, args.length)
  if (evaluate === undefined) throw new JqError(`function not defined: ${name}/${args.length}`)
  counted(input, run)
  if (args.length === 0) yield counted(evaluate(input), run)
  else for (const argument of values(of, input, run)) yield counted(evaluate(input, counted(argument, run)), run)
}

// Loops: macros over a list or map. Each charges the cost of upstream's expanded form.
import { append } from '../../base/collections/append.ts'
import { addListCost, listCost } from '../cost/call-cost.ts'
import type { Expr, Loop } from '../syntax/ast.ts'
import { isList } from '../values/equality.ts'
import { LiteralMap } from '../values/map-value.ts'
import { MapValue, Optional, type Value } from '../values/value.ts'
import { EvalError, noSuchOverload } from '../values/eval-error.ts'
import type { Frame } from './evaluation-frame.ts'
import { conditional } from './logic.ts'
import type { Scope } from './scope.ts'
import { caught, prepared, withOperand, withPauses, type Step } from './step.ts'

interface LoopCompiler {
  compile(expr: Expr, scope: Scope): Step
  /** The value of a constant costs nothing, nor does a list of it. */
  isConstant(step: Step): boolean
}

/** What a macro does with the elements. */
interface Fold<A, T> {
  /** Evaluated for each element. */
  readonly item: Step<T>
  start(): A
  /** Takes the value of an item. Returns whether the loop continues. */
  add(frame: Frame, accumulator: A, value: T): boolean
  end(frame: Frame, accumulator: A, hasMore: boolean): Value
}

export function compileLoop(loop: Loop, scope: Scope, compiler: LoopCompiler): Step {
  const { variables, macro } = loop
  const range = compiler.compile(loop.range, scope)
  const [firstName = '', secondName] = variables
  const [withFirst, first] = scope.with(firstName)
  const [inner, second] = secondName === undefined ? [withFirst, undefined] : withFirst.with(secondName)
  const body = compiler.compile(loop.body, inner)
  const filter = loop.filter === undefined ? undefined : compiler.compile(loop.filter, inner)
  const folded = <A, T>(fold: Fold<A, T>): Step => loopStep(range, { first, second }, fold)
  switch (macro) {
    case 'all':
    case 'exists':
      return folded(quantifier(body, macro === 'exists'))
    case 'existsOne':
      return folded(existsOne(body))
    case 'filter':
      return folded(filtered(body, first))
    case 'map':
    case 'transformList':
      return folded(mapped(body, filter, compiler.isConstant(body) ? appendCost - listCost : appendCost))
    case 'transformMap':
      return folded(transformed(body, filter, 3, (frame, value) => [[frame.locals[first] ?? null, value]]))
    case 'transformMapEntry':
      return folded(transformed(body, filter, 2, (_, value) => entriesOf(value)))
    default:
      return macro satisfies never
  }
}

/** The slots of the variables. */
interface Variables {
  readonly first: number
  readonly second: number | undefined
}

/** The elements of a list, or the keys of a map and the map. */
interface Range {
  readonly elements: readonly Value[]
  readonly map: MapValue | undefined
}

function loopStep<A, T>(range: Step, variables: Variables, fold: Fold<A, T>): Step {
  const { item } = fold
  const evaluate: Step = (frame) => {
    const over = rangeOf(range(frame))
    const accumulator = fold.start()
    const { length } = over.elements
    for (let index = 0; index < length; index++) {
      assign(frame, variables, over, index)
      if (!fold.add(frame, accumulator, item(frame))) return fold.end(frame, accumulator, index + 1 < length)
    }
    return fold.end(frame, accumulator, false)
  }
  return withPauses(evaluate, function* (frame) {
    const over = rangeOf(range.inSlices === undefined ? range(frame) : yield* range.inSlices(frame))
    const accumulator = fold.start()
    const { length } = over.elements
    for (let index = 0; index < length; index++) {
      if (frame.isPauseDue()) yield
      assign(frame, variables, over, index)
      const value = item.inSlices === undefined ? item(frame) : yield* item.inSlices(frame)
      if (!fold.add(frame, accumulator, value)) return fold.end(frame, accumulator, index + 1 < length)
    }
    return fold.end(frame, accumulator, false)
  })
}

function rangeOf(over: Value): Range {
  if (isList(over)) return { elements: over, map: undefined }
  if (!(over instanceof MapValue)) throw noSuchOverload()
  return { elements: [...over.keys()], map: over }
}

function assign({ locals }: Frame, { first, second }: Variables, { elements, map }: Range, index: number): void {
  const element = elements[index] ?? null
  locals[first] = second === undefined || map !== undefined ? element : BigInt(index)
  if (second !== undefined) locals[second] = map === undefined ? element : (map.get(element) ?? null)
}

/** all and exists: the first element that determines the result ends the loop; errors count only if there is none. */
function quantifier(
  body: Step,
  decisive: boolean,
): Fold<{ result: boolean; failure: EvalError | undefined }, Value | EvalError> {
  // The loop condition reads and tests the accumulator, which `exists` negates. It ends the loop before the next element.
  const conditionCost = decisive ? 3 : 2
  const result = withOperand(body, (_, value) => truth(value))
  return {
    item: prepared((frame) => frame.charge(conditionCost + 1), caught(result)),
    start: () => ({ result: !decisive, failure: undefined }),
    add(_, accumulator, value) {
      if (value === decisive) accumulator.result = decisive
      if (value instanceof EvalError) accumulator.failure ??= value
      return accumulator.result !== decisive
    },
    end(frame, { result: found, failure }, hasMore) {
      frame.charge(hasMore ? conditionCost + 1 : 1)
      if (found !== decisive && failure !== undefined) throw failure
      return found
    },
  }
}

function truth(value: Value): boolean {
  if (typeof value !== 'boolean') throw noSuchOverload()
  return value
}

const existsOne = (body: Step): Fold<{ count: number }, Value> => ({
  item: body,
  start: () => ({ count: 0 }),
  add(frame, accumulator, value) {
    if (truth(value)) {
      frame.charge(2)
      accumulator.count++
    }
    return true
  },
  end(frame, { count }) {
    frame.charge(2)
    return count === 1
  },
})

/** The accumulator, a list with one element, and their concatenation. */
const appendCost = 1 + listCost + addListCost

const filtered = (body: Step, element: number): Fold<Value[], Value> => ({
  item: body,
  start: () => [],
  add(frame, list, value) {
    if (truth(value)) {
      frame.charge(appendCost + 1)
      list.push(frame.locals[element] ?? null)
    }
    return true
  },
  end: charged,
})

/** The item of an element that the filter leaves out. */
const leftOut = new Optional(undefined)
const leaveOut: Step = () => leftOut

const filteredItem = (body: Step, filter: Step | undefined): Step =>
  filter === undefined ? body : conditional(filter, body, leaveOut)

const mapped = (body: Step, filter: Step | undefined, cost: number): Fold<Value[], Value> => ({
  item: filteredItem(body, filter),
  start: () => [],
  add(frame, list, value) {
    if (value === leftOut) return true
    list.push(value)
    frame.charge(cost)
    return true
  },
  end: charged,
})

function charged(frame: Frame, value: Value): Value {
  frame.charge(1)
  return value
}

type Entries = Iterable<readonly [Value, Value]>

const transformed = (
  body: Step,
  filter: Step | undefined,
  /** The accumulator, the call that inserts, and the key of a single entry. */
  cost: number,
  entries: (frame: Frame, value: Value) => Entries,
): Fold<(readonly [Value, Value])[], Value> => ({
  item: filteredItem(body, filter),
  start: () => [],
  add(frame, made, value) {
    if (value === leftOut) return true
    append(made, entries(frame, value))
    frame.charge(cost)
    return true
  },
  end: (frame, made) => charged(frame, new LiteralMap(made)),
})

function entriesOf(value: Value): Entries {
  if (!(value instanceof MapValue)) throw noSuchOverload()
  return [...value.keys()].map((key) => [key, value.get(key) ?? null] as const)
}

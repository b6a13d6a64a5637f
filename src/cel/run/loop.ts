// Loops: macros over a list or map. Each charges the cost of upstream's expanded form.
import { append } from '../../base/collections/append.ts'
import { addListCost, listCost } from '../cost/call-cost.ts'
import type { Expr, Loop } from '../syntax/ast.ts'
import { isList } from '../values/equality.ts'
import { LiteralMap } from '../values/map-value.ts'
import { MapValue, type Value } from '../values/value.ts'
import { EvalError, noSuchOverload } from '../values/eval-error.ts'
import type { Frame, Step } from './evaluation-frame.ts'
import type { Scope } from './scope.ts'

interface LoopCompiler {
  compile(expr: Expr, scope: Scope): Step
  /** The value of a constant costs nothing, nor does a list of it. */
  isConstant(step: Step): boolean
}

/** What a macro does with the elements. Iterations change the accumulator last, so that an interrupted one can be repeated. */
interface Fold<A> {
  start(): A
  /** Returns whether the loop continues. The variables are set. */
  iterate(frame: Frame, accumulator: A): boolean
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
  const folded = <A>(fold: Fold<A>): Step => loopStep(range, { first, second }, fold)
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

function loopStep<A>(range: Step, variables: Variables, fold: Fold<A>): Step {
  const evaluate: Step = (frame) => {
    const { progress } = frame
    const resumed = progress?.resumed(step, frame)
    const over = resumed === undefined ? rangeOf(range(frame)) : (resumed.range as Range)
    const accumulator = resumed === undefined ? fold.start() : (resumed.accumulator as A)
    const loop = resumed ?? progress?.begin(step, over, accumulator)
    const { length } = over.elements
    for (let index = resumed?.index ?? 0; index < length; index++) {
      if (loop !== undefined) progress?.iterate(loop, index, frame)
      assign(frame, variables, over, index)
      if (!fold.iterate(frame, accumulator)) return fold.end(frame, accumulator, index + 1 < length)
    }
    return fold.end(frame, accumulator, false)
  }
  const step: Step = (frame) =>
    frame.progress === undefined ? evaluate(frame) : frame.progress.once(step, frame, evaluate)
  return step
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
function quantifier(body: Step, decisive: boolean): Fold<{ result: boolean; failure: EvalError | undefined }> {
  // The loop condition reads and tests the accumulator, which `exists` negates. It ends the loop before the next element.
  const conditionCost = decisive ? 3 : 2
  return {
    start: () => ({ result: !decisive, failure: undefined }),
    iterate(frame, accumulator) {
      frame.charge(conditionCost + 1)
      try {
        const value = body(frame)
        if (typeof value !== 'boolean') throw noSuchOverload()
        if (value === decisive) accumulator.result = decisive
      } catch (error) {
        if (!(error instanceof EvalError)) throw error
        frame.ignore()
        accumulator.failure ??= error
      }
      return accumulator.result !== decisive
    },
    end(frame, { result, failure }, hasMore) {
      frame.charge(hasMore ? conditionCost + 1 : 1)
      if (result !== decisive && failure !== undefined) throw failure
      return result
    },
  }
}

function isTrue(step: Step, frame: Frame): boolean {
  const value = step(frame)
  if (typeof value !== 'boolean') throw noSuchOverload()
  return value
}

const existsOne = (body: Step): Fold<{ count: number }> => ({
  start: () => ({ count: 0 }),
  iterate(frame, accumulator) {
    if (isTrue(body, frame)) {
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

const filtered = (body: Step, element: number): Fold<Value[]> => ({
  start: () => [],
  iterate(frame, list) {
    if (isTrue(body, frame)) {
      frame.charge(appendCost + 1)
      list.push(frame.locals[element] ?? null)
    }
    return true
  },
  end: charged,
})

const mapped = (body: Step, filter: Step | undefined, cost: number): Fold<Value[]> => ({
  start: () => [],
  iterate(frame, list) {
    if (filter !== undefined && !isTrue(filter, frame)) return true
    list.push(body(frame))
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
): Fold<(readonly [Value, Value])[]> => ({
  start: () => [],
  iterate(frame, made) {
    if (filter !== undefined && !isTrue(filter, frame)) return true
    append(made, entries(frame, body(frame)))
    frame.charge(cost)
    return true
  },
  end: (frame, made) => charged(frame, new LiteralMap(made)),
})

function entriesOf(value: Value): Entries {
  if (!(value instanceof MapValue)) throw noSuchOverload()
  return [...value.keys()].map((key) => [key, value.get(key) ?? null] as const)
}

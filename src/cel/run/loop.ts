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

/** Sets the variables of each iteration and runs it until one returns false. Returns whether there are further elements. */
type Walk = (frame: Frame, round: () => boolean) => boolean

export function compileLoop(loop: Loop, scope: Scope, compiler: LoopCompiler): Step {
  const { variables, macro } = loop
  const range = compiler.compile(loop.range, scope)
  const [firstName = '', secondName] = variables
  const [withFirst, first] = scope.with(firstName)
  const [inner, second] = secondName === undefined ? [withFirst, undefined] : withFirst.with(secondName)
  const body = compiler.compile(loop.body, inner)
  const filter = loop.filter === undefined ? undefined : compiler.compile(loop.filter, inner)
  const walk = walker(range, first, second)
  switch (macro) {
    case 'all':
    case 'exists':
      return quantifier(walk, body, macro === 'exists')
    case 'existsOne':
      return existsOne(walk, body)
    case 'filter':
      return filtered(walk, body, first)
    case 'map':
    case 'transformList':
      return mapped(walk, body, filter, compiler.isConstant(body) ? appendCost - listCost : appendCost)
    case 'transformMap':
      return transformed(walk, body, filter, 3, (frame, value) => [[frame.locals[first] ?? null, value]])
    case 'transformMapEntry':
      return transformed(walk, body, filter, 2, (_, value) => entriesOf(value))
    default:
      return macro satisfies never
  }
}

function walker(range: Step, first: number, second: number | undefined): Walk {
  return (frame, round) => {
    const over = range(frame)
    if (isList(over)) {
      for (let index = 0; index < over.length; index++) {
        frame.locals[first] = second === undefined ? over[index] : BigInt(index)
        if (second !== undefined) frame.locals[second] = over[index]
        if (!round()) return index + 1 < over.length
      }
      return false
    }
    if (!(over instanceof MapValue)) throw noSuchOverload()
    const keys = [...over.keys()]
    for (const [index, key] of keys.entries()) {
      frame.locals[first] = key
      if (second !== undefined) frame.locals[second] = over.get(key) ?? null
      if (!round()) return index + 1 < keys.length
    }
    return false
  }
}

/** all and exists: the first element that determines the result ends the loop; errors count only if there is none. */
function quantifier(walk: Walk, body: Step, decisive: boolean): Step {
  // The loop condition reads and tests the accumulator, which `exists` negates. It ends the loop before the next element.
  const conditionCost = decisive ? 3 : 2
  return (frame) => {
    let result = !decisive
    let failure: EvalError | undefined
    const hasMore = walk(frame, () => {
      frame.charge(conditionCost + 1)
      try {
        const value = body(frame)
        if (typeof value !== 'boolean') throw noSuchOverload()
        if (value === decisive) result = decisive
      } catch (error) {
        if (!(error instanceof EvalError)) throw error
        frame.ignore()
        failure ??= error
      }
      return result !== decisive
    })
    frame.charge(hasMore ? conditionCost + 1 : 1)
    if (result !== decisive && failure !== undefined) throw failure
    return result
  }
}

function isTrue(step: Step, frame: Frame): boolean {
  const value = step(frame)
  if (typeof value !== 'boolean') throw noSuchOverload()
  return value
}

function existsOne(walk: Walk, body: Step): Step {
  return (frame) => {
    let count = 0
    walk(frame, () => {
      const isMatch = isTrue(body, frame)
      if (isMatch) {
        frame.charge(2)
        count++
      }
      return true
    })
    frame.charge(2)
    return count === 1
  }
}

/** The accumulator, a list with one element, and their concatenation. */
const appendCost = 1 + listCost + addListCost

function filtered(walk: Walk, body: Step, element: number): Step {
  return (frame) => {
    const list: Value[] = []
    walk(frame, () => {
      if (isTrue(body, frame)) {
        frame.charge(appendCost + 1)
        list.push(frame.locals[element] ?? null)
      }
      return true
    })
    frame.charge(1)
    return list
  }
}

function mapped(walk: Walk, body: Step, filter: Step | undefined, cost: number): Step {
  return (frame) => {
    const list: Value[] = []
    walk(frame, () => {
      if (filter !== undefined && !isTrue(filter, frame)) return true
      list.push(body(frame))
      frame.charge(cost)
      return true
    })
    frame.charge(1)
    return list
  }
}

type Entries = Iterable<readonly [Value, Value]>

function transformed(
  walk: Walk,
  body: Step,
  filter: Step | undefined,
  /** The accumulator, the call that inserts, and the key of a single entry. */
  cost: number,
  entries: (frame: Frame, value: Value) => Entries,
): Step {
  return (frame) => {
    const made: (readonly [Value, Value])[] = []
    walk(frame, () => {
      if (filter !== undefined && !isTrue(filter, frame)) return true
      append(made, entries(frame, body(frame)))
      frame.charge(cost)
      return true
    })
    frame.charge(1)
    return new LiteralMap(made)
  }
}

function entriesOf(value: Value): Entries {
  if (!(value instanceof MapValue)) throw noSuchOverload()
  return [...value.keys()].map((key) => [key, value.get(key) ?? null] as const)
}

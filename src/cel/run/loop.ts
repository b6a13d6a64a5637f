// Loops: macros over a list or map. Each charges the cost of upstream's expanded form.
import { append } from '../../base/collections/append.ts'
import { addListCost, listCost, mapCost } from '../cost/call-cost.ts'
import type { Expr, Loop } from '../syntax/ast.ts'
import { isList } from '../values/equality.ts'
import { LiteralMap } from '../values/map-value.ts'
import { MapValue, type Value } from '../values/value.ts'
import { EvalError, noSuchOverload } from '../values/eval-error.ts'
import type { Frame, Step } from './evaluation-frame.ts'
import type { Scope } from './scope.ts'

type Compile = (expr: Expr, scope: Scope) => Step

/** Sets the variables of each iteration and runs it; stops when an iteration returns true. */
type Walk = (frame: Frame, round: () => boolean) => void

export function compileLoop(loop: Loop, scope: Scope, compile: Compile): Step {
  const { variables, macro } = loop
  const range = compile(loop.range, scope)
  const [firstName = '', secondName] = variables
  const [withFirst, first] = scope.with(firstName)
  const [inner, second] = secondName === undefined ? [withFirst, undefined] : withFirst.with(secondName)
  const body = compile(loop.body, inner)
  const filter = loop.filter === undefined ? undefined : compile(loop.filter, inner)
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
      return mapped(walk, body, filter)
    case 'transformMap':
      return transformed(walk, body, filter, (frame, value) => [[frame.locals[first] ?? null, value]])
    case 'transformMapEntry':
      return transformed(walk, body, filter, (_, value) => entriesOf(value))
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
        if (!round()) return
      }
      return
    }
    if (!(over instanceof MapValue)) throw noSuchOverload()
    for (const key of over.keys()) {
      frame.locals[first] = key
      if (second !== undefined) frame.locals[second] = over.get(key) ?? null
      if (!round()) return
    }
  }
}

/** all and exists: the first element that determines the result ends the loop; errors count only if there is none. */
function quantifier(walk: Walk, body: Step, decisive: boolean): Step {
  // Two reads of the accumulator and the test of the loop condition, which `exists` negates.
  const roundCost = decisive ? 4 : 3
  return (frame) => {
    let result = !decisive
    let failure: EvalError | undefined
    walk(frame, () => {
      frame.charge(roundCost)
      try {
        const value = body(frame)
        if (typeof value !== 'boolean') throw noSuchOverload()
        if (value === decisive) result = decisive
      } catch (error) {
        if (!(error instanceof EvalError)) throw error
        failure ??= error
      }
      return result !== decisive
    })
    frame.charge(1)
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
      frame.charge(isMatch ? 2 : 1)
      if (isMatch) count++
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
    frame.charge(listCost)
    walk(frame, () => {
      const isKept = isTrue(body, frame)
      frame.charge(isKept ? appendCost + 1 : 1)
      if (isKept) list.push(frame.locals[element] ?? null)
      return true
    })
    frame.charge(1)
    return list
  }
}

function mapped(walk: Walk, body: Step, filter: Step | undefined): Step {
  return (frame) => {
    const list: Value[] = []
    frame.charge(listCost)
    walk(frame, () => {
      if (filter !== undefined && !isTrue(filter, frame)) {
        frame.charge(1)
        return true
      }
      list.push(body(frame))
      frame.charge(appendCost)
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
  entries: (frame: Frame, value: Value) => Entries,
): Step {
  return (frame) => {
    const made: (readonly [Value, Value])[] = []
    frame.charge(mapCost)
    walk(frame, () => {
      if (filter !== undefined && !isTrue(filter, frame)) {
        frame.charge(1)
        return true
      }
      append(made, entries(frame, body(frame)))
      frame.charge(3)
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

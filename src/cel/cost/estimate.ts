// Estimate: the maximum cost of an expression, computed from the sizes that its types allow.
import type { Checked } from '../check/checker.ts'
import type { Call, Expr, Loop } from '../syntax/ast.ts'
import { isOptional, type CelType } from '../types/cel-type.ts'
import { sizeOf } from '../values/equality.ts'
import { listCost, mapCost, structCost } from './call-cost.ts'
import { estimateCall, type Argument } from './call-estimate.ts'
import { either, fixed, nothing, plus, times, unknown, type Range } from './range.ts'

/** Of an expression: its cost with all sub-expressions, its size, and the sizes of its elements. */
interface Estimate {
  readonly cost: Range
  readonly size: Range | undefined
  readonly element?: Range | undefined
}

type Locals = ReadonlyMap<string, Range | undefined>

/** Equal to upstream's estimate, since it decides which rules a definition may have. */
export function estimateCost(tree: Expr, checked: Checked): Range {
  return new Estimator(checked).of(tree, new Map()).cost
}

class Estimator {
  readonly #types: ReadonlyMap<Expr, CelType>
  readonly #checked: Checked

  constructor(checked: Checked) {
    this.#checked = checked
    this.#types = checked.types
  }

  of(expr: Expr, locals: Locals): Estimate {
    switch (expr.kind) {
      case 'literal':
        return { cost: nothing, size: fixed(sizeOf(expr.value)) }
      case 'ident':
        return { cost: fixed(1), size: this.#typeSize(expr) ?? locals.get(expr.name) }
      case 'select': {
        const { cost } = this.of(expr.operand, locals)
        const operandKind = this.#types.get(expr.operand)?.kind
        // has() has no cost of its own, nor does a selection from a value of unknown type.
        const isFree = expr.isTest || operandKind === 'dyn' || operandKind === 'opaque'
        return { cost: isFree ? cost : plus(cost, fixed(1)), size: this.#typeSize(expr) }
      }
      case 'call':
        return this.#call(expr, locals)
      case 'list': {
        const elements = expr.elements.map(({ value }) => this.of(value, locals))
        const sizes = elements.map(({ size }) => size ?? unknown)
        const element = sizes.reduce((all, size) => either(all, size), sizes[0] ?? nothing)
        return {
          cost: plus(...elements.map(({ cost }) => cost), fixed(listCost)),
          size: fixed(elements.length),
          element,
        }
      }
      case 'map': {
        const costs = expr.entries.flatMap(({ key, value }) => [this.of(key, locals).cost, this.of(value, locals).cost])
        return { cost: plus(...costs, fixed(mapCost)), size: fixed(expr.entries.length) }
      }
      case 'struct': {
        const costs = expr.fields.map(({ value }) => this.of(value, locals).cost)
        return { cost: plus(...costs, fixed(structCost)), size: undefined }
      }
      case 'loop':
        return this.#loop(expr, locals)
      case 'bind': {
        const value = this.of(expr.value, locals)
        const body = this.of(expr.body, new Map(locals).set(expr.name, value.size))
        return { ...body, cost: plus(fixed(listCost), value.cost, body.cost) }
      }
      case 'optionalMap': {
        const operand = this.of(expr.operand, locals)
        const body = this.of(expr.body, new Map(locals).set(expr.name, operand.size))
        return {
          cost: { min: operand.cost.min + 1, max: plus(operand.cost, body.cost, fixed(2)).max },
          size: body.size,
        }
      }
      default:
        return expr satisfies never
    }
  }

  /** The size that the schema allows, or one for every type of fixed size. */
  #typeSize(expr: Expr): Range | undefined {
    const type = this.#types.get(expr)
    return type === undefined ? undefined : sizeByType(type)
  }

  #call(expr: Call, locals: Locals): Estimate {
    const { name, target, args } = expr
    const reference = this.#checked.references.get(expr)
    const known = reference?.kind === 'function' ? reference : undefined
    const argument = (each: Expr): Argument & Estimate => ({ ...this.of(each, locals), type: this.#types.get(each) })
    const receiver = target === undefined || known?.isNamespaced ? undefined : argument(target)
    const given = args.map(argument)
    if (name === '_&&_' || name === '_||_') {
      const [left, right] = given.map(({ cost }) => cost)
      const both = plus(left ?? nothing, right ?? nothing)
      return { cost: { min: left?.min ?? 0, max: both.max }, size: fixed(1) }
    }
    if (name === '_?_:_') return conditional(given)
    const overloads = known?.overloads ?? []
    const estimates = overloads.map(({ id }) => estimateCall(name, id, receiver, given))
    const costs = estimates.map(({ cost }) => cost)
    const own = costs.reduce((all, cost) => either(all, cost), costs[0] ?? nothing)
    const size = estimates.map((each) => each.size).find((each) => each !== undefined)
    const below = [...(receiver === undefined ? [] : [receiver]), ...given].map(({ cost }) => cost)
    const element = name === '_[_]' ? given[0]?.element : undefined
    return { cost: plus(own, ...below), size: size ?? this.#typeSize(expr) ?? element }
  }

  #loop(expr: Loop, locals: Locals): Estimate {
    const range = this.of(expr.range, locals)
    const inner = new Map(locals)
    for (const [index, name] of expr.variables.entries())
      inner.set(name, index === expr.variables.length - 1 ? range.element : fixed(1))
    const body = this.of(expr.body, inner)
    const filter = expr.filter === undefined ? undefined : this.of(expr.filter, inner).cost
    const { start, round, end, isContainer } = loopCost(expr, body.cost)
    const perRound = filter === undefined ? round : plus(filter, either(round, fixed(1)))
    const count = range.size ?? unknown
    return {
      cost: plus(range.cost, fixed(start), fixed(end), times(count, perRound)),
      size: isContainer ? count : fixed(1),
      element: isContainer ? body.size : undefined,
    }
  }
}

function conditional([condition, then, otherwise]: readonly Estimate[]): Estimate {
  const [a, b] = [then?.size ?? unknown, otherwise?.size ?? unknown]
  const branches = either(then?.cost ?? nothing, otherwise?.cost ?? nothing)
  return { cost: plus(condition?.cost ?? nothing, branches), size: either(a, b) }
}

/** Upstream expands loops; these are the costs of the expanded expressions. */
function loopCost(
  { macro }: Loop,
  body: Range,
): { readonly start: number; readonly round: Range; readonly end: number; readonly isContainer: boolean } {
  const append = 2 + listCost
  switch (macro) {
    case 'all':
      return { start: 0, round: { min: 3, max: 3 + body.max }, end: 1, isContainer: false }
    case 'exists':
      return { start: 0, round: { min: 4, max: 4 + body.max }, end: 1, isContainer: false }
    case 'existsOne':
      return { start: 0, round: plus(body, { min: 1, max: 2 }), end: 2, isContainer: false }
    case 'filter':
      return { start: listCost, round: plus(body, { min: 1, max: append + 1 }), end: 1, isContainer: true }
    case 'map':
    case 'transformList':
      return { start: listCost, round: plus(body, fixed(append)), end: 1, isContainer: true }
    case 'transformMap':
    case 'transformMapEntry':
      return { start: mapCost, round: plus(body, fixed(macro === 'transformMap' ? 3 : 2)), end: 1, isContainer: true }
    default:
      return macro satisfies never
  }
}

const fixedKinds = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])

export function sizeByType(type: CelType): Range | undefined {
  if ('maxElements' in type && type.maxElements !== undefined) return { min: 0, max: type.maxElements }
  if (isOptional(type)) return type.parameters[0] === undefined ? undefined : sizeByType(type.parameters[0])
  return fixedKinds.has(type.kind) ? fixed(1) : undefined
}

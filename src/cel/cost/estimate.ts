// Estimate: the maximum cost of an expression, computed from the sizes that a schema allows.
import type { Checked } from '../check/checker.ts'
import type { Call, Expr, Loop, OptionalMap } from '../syntax/ast.ts'
import type { CelType } from '../types/cel-type.ts'
import { sizeOf } from '../values/equality.ts'
import { listCost, mapCost, structCost } from './call-cost.ts'
import { estimateCall, type Argument } from './call-estimate.ts'
import { either, fixed, nothing, plus, times, unknown, type Range } from './range.ts'

/** The names from a variable to a value; `@items`, `@keys` and `@values` are the parts of lists and maps. */
type Path = readonly string[]

/** Of an expression: its cost with all sub-expressions, what is known of its size, and the sizes of its elements. */
interface Estimate {
  readonly cost: Range
  readonly path: Path
  readonly size: Range | undefined
  readonly element?: Range | undefined
  readonly key?: Range | undefined
}

type Locals = ReadonlyMap<string, Omit<Estimate, 'cost'>>

/**
 * Equal to upstream's estimate, since it decides which rules a definition may have. `root` is the type of `self`; it has the
 * sizes of the schema.
 */
export function estimateCost(tree: Expr, checked: Checked, root: CelType): Range {
  return new Estimator(checked, root).of(tree, new Map()).cost
}

class Estimator {
  readonly #types: ReadonlyMap<Expr, CelType>
  readonly #checked: Checked
  readonly #root: CelType

  constructor(checked: Checked, root: CelType) {
    this.#checked = checked
    this.#types = checked.types
    this.#root = root
  }

  of(expr: Expr, locals: Locals): Estimate {
    const estimate = this.#estimate(expr, locals)
    return { ...estimate, size: estimate.size ?? this.#sizeByPath(estimate.path) ?? this.#sizeByType(expr) }
  }

  #estimate(expr: Expr, locals: Locals): Estimate {
    switch (expr.kind) {
      case 'literal':
        return { cost: nothing, path: [], size: fixed(sizeOf(expr.value)) }
      case 'ident':
        return this.#name(expr, expr.name, locals)
      case 'select': {
        const { cost, path } = this.of(expr.operand, locals)
        const kind = this.#types.get(expr.operand)?.kind
        // has() has no cost of its own, nor does a selection from a value of unknown type.
        const isCounted = !expr.isTest && (kind === 'map' || kind === 'object' || kind === 'param')
        return {
          cost: isCounted ? plus(cost, fixed(1)) : cost,
          path: expr.isTest || expr.isOptional ? [] : [...path, expr.field],
          size: undefined,
        }
      }
      case 'call':
        return this.#call(expr, locals)
      case 'list': {
        const elements = expr.elements.map(({ value }) => this.of(value, locals))
        const cost = plus(...elements.map((each) => each.cost), fixed(listCost))
        return { cost, path: [], size: fixed(elements.length), element: union(elements), key: fixed(1) }
      }
      case 'map': {
        const [keys, values] = [expr.entries.map(({ key }) => key), expr.entries.map(({ value }) => value)].map(
          (part) => part.map((each) => this.of(each, locals)),
        ) as [Estimate[], Estimate[]]
        const cost = plus(...[...keys, ...values].map((each) => each.cost), fixed(mapCost))
        return { cost, path: [], size: fixed(expr.entries.length), element: union(values), key: union(keys) }
      }
      case 'struct': {
        const costs = expr.fields.map(({ value }) => this.of(value, locals).cost)
        return { cost: plus(...costs, fixed(structCost)), path: [], size: undefined }
      }
      case 'loop':
        return this.#loop(expr, locals)
      case 'bind': {
        const { cost, ...value } = this.of(expr.value, locals)
        const body = this.of(expr.body, new Map(locals).set(expr.name, value))
        return { ...body, cost: plus(fixed(listCost), cost, body.cost) }
      }
      case 'optionalMap':
        return this.#optionalMap(expr, locals)
      default:
        return expr satisfies never
    }
  }

  #name(expr: Expr, name: string, locals: Locals): Estimate {
    const local = locals.get(name)
    if (local === undefined) return { cost: fixed(1), path: [name], size: undefined }
    const size = this.#sizeByPath(local.path) ?? this.#sizeByType(expr) ?? local.size
    return { ...local, cost: fixed(1), size }
  }

  /** The size that the schema allows. The first name of a path is not looked at, as in upstream. */
  #sizeByPath(path: Path): Range | undefined {
    let type: CelType | undefined = path.length === 0 ? undefined : this.#root
    for (const name of path.slice(1)) type = type === undefined ? undefined : partOf(type, name)
    return type === undefined ? undefined : { min: 0, max: elementsMax(type) }
  }

  #sizeByType(expr: Expr): Range | undefined {
    const type = this.#types.get(expr)
    return type === undefined ? undefined : sizeByType(type)
  }

  #call(expr: Call, locals: Locals): Estimate {
    const { name, target, args } = expr
    const reference = this.#checked.references.get(expr)
    const known = reference?.kind === 'function' ? reference : undefined
    const argument = (each: Expr): Argument & Estimate => {
      const estimate = this.of(each, locals)
      const item = estimate.path.length === 0 ? undefined : this.#sizeByPath([...estimate.path, '@items'])
      return {
        ...estimate,
        type: this.#types.get(each),
        item,
        literal: each.kind === 'literal' ? each.value : undefined,
      }
    }
    const receiver = target === undefined || known?.isNamespaced ? undefined : argument(target)
    const given = args.map(argument)
    if (name === '_&&_' || name === '_||_') {
      const [left, right] = given.map(({ cost }) => cost)
      const both = plus(left ?? nothing, right ?? nothing)
      return { cost: { min: left?.min ?? 0, max: both.max }, path: [], size: undefined }
    }
    if (name === '_?_:_') return conditional(given)
    const space = known?.isNamespaced && target?.kind === 'ident' ? `${target.name}.` : ''
    const estimates = (known?.overloads ?? []).map(({ id }) => estimateCall(space + name, id, receiver, given))
    const costs = estimates.map(({ cost }) => cost)
    const own = costs.reduce((all, cost) => either(all, cost), costs[0] ?? nothing)
    const sizes = estimates.flatMap((each) => each.size ?? [])
    const below = [...(receiver === undefined ? [] : [receiver]), ...given].map(({ cost }) => cost)
    const size = sizes.length === 0 ? undefined : sizes.reduce((all, each) => either(all, each))
    const parts = this.#parts(name, given)
    return { ...parts, cost: plus(own, ...below), size: size ?? parts.size }
  }

  /** The path of an element, and the elements of a concatenation. */
  #parts(name: string, given: readonly (Argument & Estimate)[]): Omit<Estimate, 'cost'> {
    const [first, second] = given
    if (name === '_[_]' && first !== undefined) {
      const part = first.type?.kind === 'map' ? '@values' : '@items'
      return { path: [...first.path, part], size: first.element }
    }
    if (name === '_+_' && first !== undefined && second !== undefined && (first.element ?? second.element))
      return { path: [], size: undefined, element: union([{ size: first.element }, { size: second.element }]) }
    return { path: [], size: undefined }
  }

  #loop(expr: Loop, locals: Locals): Estimate {
    const range = this.of(expr.range, locals)
    const inner = new Map(locals)
    const isMap = this.#types.get(expr.range)?.kind === 'map'
    const key = { path: [...range.path, isMap ? '@keys' : '@indices'], size: range.key }
    const value = { path: [...range.path, isMap ? '@values' : '@items'], size: range.element }
    const [first = '', second] = expr.variables
    if (second === undefined) inner.set(first, isMap ? key : value)
    else inner.set(first, key).set(second, value)
    const body = this.of(expr.body, inner)
    const filter = expr.filter === undefined ? undefined : this.of(expr.filter, inner).cost
    const { start, round, end, isContainer } = loopCost(expr, body.cost)
    // Without the filter, the accumulator is read.
    const perRound = filter === undefined ? round : plus(filter, either(round, fixed(1)))
    const count = range.size ?? unknown
    return {
      cost: plus(range.cost, fixed(start), fixed(end), times(count, perRound)),
      path: [],
      size: isContainer ? count : fixed(1),
      element: isList(expr) ? (body.size ?? unknown) : undefined,
    }
  }

  /** `operand.hasValue() ? optional.of(body with operand.value()) : optional.none()`. */
  #optionalMap({ operand, name, body, isFlat }: OptionalMap, locals: Locals): Estimate {
    const { cost: operandCost, ...value } = this.of(operand, locals)
    const held = { path: [], size: undefined, element: value.element, key: value.key }
    const made = this.of(body, new Map(locals).set(name, held))
    const some = plus(operandCost, fixed(1), fixed(listCost), made.cost, fixed(isFlat ? 0 : 1))
    return { cost: plus(operandCost, fixed(1), either(some, fixed(1))), path: [], size: undefined }
  }
}

function conditional([condition, then, otherwise]: readonly Estimate[]): Estimate {
  const a = then?.size ?? unknown
  const b = otherwise?.size ?? unknown
  const branches = either(then?.cost ?? nothing, otherwise?.cost ?? nothing)
  return { cost: plus(condition?.cost ?? nothing, branches), path: [], size: either(a, b) }
}

/** The sizes of elements together; nothing if there is none. */
const union = (elements: readonly Pick<Estimate, 'size'>[]): Range =>
  elements
    .map(({ size }) => size ?? unknown)
    .reduce((all, size) => either(all, size), elements[0]?.size ?? (elements.length === 0 ? nothing : unknown))

/** Upstream knows the elements of a list that a loop constructs from all elements. */
const isList = ({ macro, filter }: Loop): boolean =>
  filter === undefined && (macro === 'map' || macro === 'transformList')

const scalarKinds = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])
const formatSize: Range = { min: 0, max: 64 }

/** Values of libraries count as one, except for formats. Of an optional, only that of a scalar has a size. */
function sizeByType(type: CelType): Range | undefined {
  if (scalarKinds.has(type.kind)) return fixed(1)
  if (type.kind !== 'opaque') return undefined
  if (type.name === 'optional_type') return scalarKinds.has(type.parameters[0]?.kind ?? '') ? fixed(1) : undefined
  return type.name === 'kubernetes.NamedFormat' ? formatSize : fixed(1)
}

/** Objects and scalars have no elements. */
const elementsMax = (type: CelType): number => ('maxElements' in type ? (type.maxElements ?? 0) : 0)

function partOf(type: CelType, name: string): CelType | undefined {
  switch (name) {
    case '@items':
    case '@values':
      return type.kind === 'list' ? type.element : type.kind === 'map' ? type.value : undefined
    case '@keys':
      return type.kind === 'map' ? type.key : undefined
    default:
      return type.kind === 'object' ? type.fields.get(name)?.type : undefined
  }
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

// Checker: computes the types of an expression and the overloads of its calls, and reports all errors.
import { restarted, StepCounter } from '../../base/work/restarted.ts'
import { runToEnd, type Slice, type Sliced } from '../../base/work/work-slice.ts'
import type { Environment } from '../environment/environment.ts'
import type { Overload } from '../environment/function.ts'
import {
  type Bind,
  type Call,
  type Expr,
  type ListExpr,
  type Loop,
  type MapExpr,
  type OptionalMap,
  qualifiedName,
  type Select,
  type Struct,
} from '../syntax/ast.ts'
import { isKubernetes } from '../syntax/dialect.ts'
import type { Issue } from '../syntax/source.ts'
import { literalIssues } from './literal-rules.ts'
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  intType,
  isDyn,
  isOptional,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  stringType,
  typeText,
  uintType,
  type CelType,
} from '../types/cel-type.ts'
import { Uint, type Value } from '../values/value.ts'
import { isMoreGeneral, Substitution } from './substitution.ts'

/** What a name or a call refers to. */
export type Reference =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'function'; readonly overloads: readonly Overload[]; readonly isNamespaced: boolean }

export interface Checked {
  readonly type: CelType
  readonly types: ReadonlyMap<Expr, CelType>
  readonly references: ReadonlyMap<Expr, Reference>
  readonly issues: readonly Issue[]
}

export const check = (expr: Expr, environment: Environment): Checked =>
  runToEnd((slice) => checkInSlices(expr, environment, slice))

/** Like `check`, with pauses if the expression is long. */
export function* checkInSlices(expr: Expr, environment: Environment, slice: Slice): Sliced<Checked> {
  const checker = new Checker(environment, slice)
  yield* restarted(() => checker.visit(expr))
  if (slice.isUsedUp()) yield
  return checker.result(expr)
}

/** A slice has at least this many sub-expressions. */
const visitsPerCheck = 2_000

/** Variables of loops and binds, the innermost last. */
type Scope = ReadonlyMap<string, CelType>

class Checker {
  readonly #environment: Environment
  readonly #substitution = new Substitution()
  readonly #types = new Map<Expr, CelType>()
  readonly #references = new Map<Expr, Reference>()
  /** By position and message: the parts that were interrupted are checked again. */
  readonly #issues = new Map<string, Issue>()
  readonly #visits: StepCounter

  constructor(environment: Environment, slice: Slice) {
    this.#environment = environment
    this.#visits = new StepCounter(slice, visitsPerCheck)
  }

  visit(expr: Expr): void {
    this.#visit(expr, new Map())
  }

  result(expr: Expr): Checked {
    const types = this.#types
    for (const [part, type] of types) {
      const resolved = this.#substitution.resolve(type, true)
      if (resolved !== type) types.set(part, resolved)
    }
    const isStrict = isKubernetes(this.#environment.dialect) && this.#issues.size === 0
    const issues = isStrict ? literalIssues(expr, types) : [...this.#issues.values()]
    return { type: types.get(expr) ?? dynType, types, references: this.#references, issues }
  }

  #issue(at: number, message: string): CelType {
    this.#issues.set(`${at} ${message}`, { at, message })
    return errorType
  }

  #visit(expr: Expr, scope: Scope): CelType {
    const known = this.#types.get(expr)
    if (known !== undefined) return known
    const type = this.#typeOf(expr, scope)
    this.#types.set(expr, type)
    this.#visits.completed()
    return type
  }

  #typeOf(expr: Expr, scope: Scope): CelType {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value)
      case 'ident':
        return this.#named(expr, expr.name, scope) ?? this.#undeclared(expr.at, expr.name)
      case 'select':
        return this.#select(expr, scope)
      case 'call':
        return this.#call(expr, scope)
      case 'list':
        return this.#list(expr, scope)
      case 'map':
        return this.#map(expr, scope)
      case 'struct':
        return this.#struct(expr, scope)
      case 'loop':
        return this.#loop(expr, scope)
      case 'bind':
        return this.#bind(expr, scope)
      case 'optionalMap':
        return this.#optionalMap(expr, scope)
      default:
        return expr satisfies never
    }
  }

  #undeclared(at: number, name: string): CelType {
    return this.#issue(at, `undeclared reference to '${name}' (in container '${this.#environment.container}')`)
  }

  #named(expr: Expr, name: string, scope: Scope): CelType | undefined {
    const local = scope.get(name)
    if (local !== undefined) return local
    const variable = this.#environment.variable(name)
    if (variable !== undefined) {
      this.#references.set(expr, { kind: 'variable', name: variable.name })
      return variable.type
    }
    const constant = this.#environment.constant(name)
    if (constant === undefined) return undefined
    this.#references.set(expr, { kind: 'constant', value: constant.value })
    return constant.type
  }

  #select(expr: Select, scope: Scope): CelType {
    const name = qualifiedName(expr)
    const isLocal = name !== undefined && scope.has(name.split('.')[0] ?? '')
    if (name !== undefined && !isLocal) {
      const found = this.#named(expr, name, scope)
      if (found !== undefined) return found
    }
    const operand = this.#substitution.resolve(this.#visit(expr.operand, scope))
    const inside = isOptional(operand) ? (operand.parameters[0] ?? dynType) : operand
    const field = this.#field(expr, this.#substitution.resolve(inside))
    if (expr.isTest) return boolType
    if ((!isOptional(operand) && !expr.isOptional) || isOptional(field)) return field
    return optionalOf(field.kind === 'error' ? dynType : field)
  }

  #field({ at, field, isTest }: Select, operand: CelType): CelType {
    switch (operand.kind) {
      case 'map':
        return operand.value
      case 'object': {
        const found = operand.fields.get(field)
        return found?.type ?? this.#issue(at, `undefined field '${field}'`)
      }
      case 'dyn':
      case 'error':
        return operand
      case 'param':
        this.#substitution.assign([dynType], [operand])
        return dynType
      default:
        return isTest && isDyn(operand)
          ? dynType
          : this.#issue(at, `type '${typeText(operand)}' does not support field selection`)
    }
  }

  #call(expr: Call, scope: Scope): CelType {
    const { name, target, args, at } = expr
    if (name === '_&&_' || name === '_||_') return this.#logical(expr, scope)
    const namespaced = this.#namespaced(expr, scope)
    const receivers = target === undefined || namespaced !== undefined ? [] : [target]
    const types = [...receivers, ...args].map((each) => this.#substitution.resolve(this.#visit(each, scope)))
    const overloads = namespaced ?? this.#environment.overloads(name)
    if (overloads === undefined) return this.#undeclared(at, name)
    const shown = namespaced === undefined || target === undefined ? name : `${qualifiedName(target)}.${name}`
    return this.#resolve(expr, shown, overloads, types, receivers.length > 0, namespaced !== undefined)
  }

  /** `ip.isCanonical(x)`: a function with a namespace and without a receiver. */
  #namespaced({ name, target }: Call, scope: Scope): readonly Overload[] | undefined {
    const space = target === undefined ? undefined : qualifiedName(target)
    if (space === undefined || scope.has(space.split('.')[0] ?? '')) return undefined
    return this.#environment.overloads(`${space}.${name}`)
  }

  #logical({ args }: Call, scope: Scope): CelType {
    for (const arg of args) this.#expectBool(arg, scope)
    return boolType
  }

  #expectBool(expr: Expr, scope: Scope): void {
    const type = this.#visit(expr, scope)
    if (!this.#substitution.assign([type], [boolType])) this.#mismatch(expr.at, boolType, type)
  }

  #mismatch(at: number, expected: CelType, found: CelType): CelType {
    return this.#issue(at, `expected type '${this.#text(expected)}' but found '${this.#text(found)}'`)
  }

  #text(type: CelType): string {
    return typeText(this.#substitution.resolve(type, true))
  }

  #resolve(
    expr: Call,
    name: string,
    overloads: readonly Overload[],
    types: readonly CelType[],
    isMember: boolean,
    isNamespaced: boolean,
  ): CelType {
    const matching: Overload[] = []
    let result: CelType | undefined
    for (const overload of overloads) {
      if (overload.isMember !== isMember || overload.args.length !== types.length) continue
      if (overload.args.some((wanted, index) => cannotBe(types[index] ?? dynType, wanted))) continue
      const instance = this.#substitution.instance()
      const wanted = overload.args.map(instance)
      if (!this.#substitution.assign(types, wanted)) continue
      matching.push(overload)
      const given = this.#substitution.resolve(instance(overload.result))
      result = result === undefined || typeText(result) === typeText(given) ? given : dynType
    }
    if (result === undefined) {
      const [first = dynType, ...rest] = types
      const shown = isMember
        ? `${this.#text(first)}.(${rest.map((each) => this.#text(each)).join(', ')})`
        : `(${types.map((each) => this.#text(each)).join(', ')})`
      return this.#issue(expr.at, `found no matching overload for '${name}' applied to '${shown}'`)
    }
    this.#references.set(expr, { kind: 'function', overloads: matching, isNamespaced })
    return result
  }

  /** The common type of several elements: the more general one, or dyn. */
  #joined(before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type
    if (this.#substitution.assign([type], [before])) return isMoreGeneral(before, type) ? before : type
    return dynType
  }

  /** In `[?x]` and `{?k: x}` an optional is replaced by its value. */
  #element(expr: Expr, isOptionalElement: boolean, scope: Scope): CelType {
    const type = this.#substitution.resolve(this.#visit(expr, scope))
    if (!isOptionalElement) return type
    if (isOptional(type)) return type.parameters[0] ?? dynType
    return isDyn(type) ? type : this.#mismatch(expr.at, optionalOf(type), type)
  }

  #list({ elements }: ListExpr, scope: Scope): CelType {
    let joined: CelType | undefined
    for (const { value, isOptional: optional } of elements)
      joined = this.#joined(joined, this.#element(value, optional, scope))
    return listOf(joined ?? this.#substitution.fresh())
  }

  #map({ entries }: MapExpr, scope: Scope): CelType {
    let key: CelType | undefined
    let value: CelType | undefined
    for (const entry of entries) {
      key = this.#joined(key, this.#visit(entry.key, scope))
      value = this.#joined(value, this.#element(entry.value, entry.isOptional, scope))
    }
    return mapOf(key ?? this.#substitution.fresh(), value ?? this.#substitution.fresh())
  }

  #struct({ name, fields, at }: Struct, scope: Scope): CelType {
    const struct = this.#environment.struct(name)
    if (struct === undefined) return this.#noStruct(at, name, fields)
    for (const field of fields) {
      const given = this.#element(field.value, field.isOptional, scope)
      const wanted = struct.fieldType(field.name)
      if (wanted === undefined) this.#issue(field.at, `undefined field '${field.name}'`)
      else if (!this.#substitution.assign([given], [wanted]))
        this.#issue(
          field.at,
          `expected type of field '${field.name}' is '${this.#text(wanted)}' but provided type is '${this.#text(given)}'`,
        )
    }
    return struct.type
  }

  #noStruct(at: number, name: string, fields: Struct['fields']): CelType {
    const variable = this.#environment.variable(name)
    if (variable === undefined)
      return this.#environment.constant(name) === undefined
        ? this.#undeclared(at, name)
        : this.#issue(at, `'${name}' is not a message type`)
    for (const field of fields) this.#issue(field.at, `unexpected failed resolution of '${name}'`)
    return this.#issue(at, `'${this.#text(variable.type)}' is not a type`)
  }

  #loop(expr: Loop, scope: Scope): CelType {
    const { range, variables, filter, body, macro, at } = expr
    const [first, second] = this.#iterated(range, scope, variables.length === 2)
    const [firstName = '', secondName] = variables
    const inner = new Map(scope).set(firstName, first)
    if (secondName !== undefined) inner.set(secondName, second)
    switch (macro) {
      case 'all':
      case 'exists':
        this.#expectBool(body, inner)
        return boolType
      case 'existsOne':
        this.#condition(at, this.#visit(body, inner), intType)
        return boolType
      case 'filter':
        this.#condition(at, this.#visit(body, inner), listOf(first))
        return listOf(first)
      case 'map':
      case 'transformList':
      case 'transformMap':
      case 'transformMapEntry': {
        const condition = filter === undefined ? undefined : this.#visit(filter, inner)
        const result = this.#collected(expr, inner, first)
        if (condition !== undefined) this.#condition(at, condition, result)
        return result
      }
      default:
        return macro satisfies never
    }
  }

  /** The type of the list or map that a macro constructs from the values of its body. */
  #collected({ macro, body, at }: Loop, scope: Scope, key: CelType): CelType {
    const type = this.#visit(body, scope)
    if (macro === 'transformMap') return mapOf(key, type)
    if (macro !== 'transformMapEntry') return listOf(type)
    const entries = this.#substitution.resolve(type)
    if (entries.kind === 'map' || isDyn(entries)) return type
    const any = mapOf(dynType, dynType)
    return this.#noOverload(at, 'cel.@mapInsert', [any, type])
  }

  #noOverload(at: number, name: string, args: readonly CelType[]): CelType {
    const shown = args.map((each) => this.#text(each)).join(', ')
    return this.#issue(at, `found no matching overload for '${name}' applied to '(${shown})'`)
  }

  /** Where upstream expands a macro to a conditional, a condition that is not a bool is reported as upstream does. */
  #condition(at: number, type: CelType, result: CelType): void {
    if (!this.#substitution.assign([type], [boolType])) this.#noOverload(at, '_?_:_', [type, result, result])
  }

  #iterated(range: Expr, scope: Scope, hasTwo: boolean): readonly [CelType, CelType] {
    const type = this.#substitution.resolve(this.#visit(range, scope))
    switch (type.kind) {
      case 'list':
        return hasTwo ? [intType, type.element] : [type.element, dynType]
      case 'map':
        return [type.key, type.value]
      case 'param':
        this.#substitution.assign([dynType], [type])
        return [dynType, dynType]
      case 'dyn':
      case 'error':
        return [dynType, dynType]
      default:
        this.#issue(
          range.at,
          `expression of type '${this.#text(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [errorType, errorType]
    }
  }

  #bind({ name, value, body }: Bind, scope: Scope): CelType {
    return this.#visit(body, new Map(scope).set(name, this.#visit(value, scope)))
  }

  /** Upstream expands it to `operand.hasValue() ? optional.of(body with operand.value()) : optional.none()`. */
  #optionalMap({ operand, name, body, isFlat, at }: OptionalMap, scope: Scope): CelType {
    const type = this.#substitution.resolve(this.#visit(operand, scope))
    if (!isOptional(type) && !isDyn(type))
      for (const called of ['hasValue', 'value'])
        this.#issue(at, `found no matching overload for '${called}' applied to '${this.#text(type)}.()'`)
    const held = isOptional(type) ? (type.parameters[0] ?? dynType) : dynType
    const result = this.#visit(body, new Map(scope).set(name, held))
    if (!isFlat) return optionalOf(result)
    const none = optionalOf(this.#substitution.fresh())
    return this.#substitution.assign([result], [none])
      ? result
      : this.#noOverload(at, '_?_:_', [boolType, result, none])
  }
}

const unrelated = new Set<string>(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map'])

/** Whether two types obviously differ. Most overloads of an operator are excluded by it. */
const cannotBe = (type: CelType, wanted: CelType): boolean =>
  type.kind !== wanted.kind && unrelated.has(type.kind) && unrelated.has(wanted.kind)

function literalType(value: Value): CelType {
  switch (typeof value) {
    case 'boolean':
      return boolType
    case 'bigint':
      return intType
    case 'number':
      return doubleType
    case 'string':
      return stringType
    default:
      if (value === null) return nullType
      return value instanceof Uint ? uintType : bytesType
  }
}

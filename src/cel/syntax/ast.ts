// Expr: the syntax tree of an expression. Macros over a list or map are nodes, they are not expanded.
import type { Value } from '../values/value.ts'

interface Node {
  /** Offset of the operator or first token, to which errors refer. */
  readonly at: number
}

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Value
}
export interface Ident extends Node {
  readonly kind: 'ident'
  readonly name: string
}
export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** `has(a.b)`: whether the field is set. */
  readonly isTest: boolean
  /** `a.?b` */
  readonly isOptional: boolean
}
export interface Call extends Node {
  readonly kind: 'call'
  readonly name: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}
export interface ListExpr extends Node {
  readonly kind: 'list'
  readonly elements: readonly { readonly value: Expr; readonly isOptional: boolean }[]
}
export interface MapExpr extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}
export interface MapEntry extends Node {
  readonly key: Expr
  readonly value: Expr
  readonly isOptional: boolean
}
export interface Struct extends Node {
  readonly kind: 'struct'
  readonly name: string
  readonly fields: readonly StructField[]
}
export interface StructField extends Node {
  readonly name: string
  readonly value: Expr
  readonly isOptional: boolean
}

export const loopMacros = [
  'all',
  'exists',
  'existsOne',
  'map',
  'filter',
  'transformList',
  'transformMap',
  'transformMapEntry',
] as const
export type LoopMacro = (typeof loopMacros)[number]

/** A loop over a list or map: `range.macro(variables, filter, body)`. */
export interface Loop extends Node {
  readonly kind: 'loop'
  readonly macro: LoopMacro
  readonly range: Expr
  /** One: the element or key. Two: index and element, or key and value. */
  readonly variables: readonly string[]
  readonly filter: Expr | undefined
  readonly body: Expr
}

/** `cel.bind(name, value, body)`, also used for `optMap` and `optFlatMap`. */
export interface Bind extends Node {
  readonly kind: 'bind'
  readonly name: string
  readonly value: Expr
  readonly body: Expr
}

/** `optional.optMap(name, body)`: evaluates the body with the optional's value. */
export interface OptionalMap extends Node {
  readonly kind: 'optionalMap'
  readonly operand: Expr
  readonly name: string
  readonly body: Expr
  /** optFlatMap: the body returns an optional itself. */
  readonly isFlat: boolean
}

export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | Struct | Loop | Bind | OptionalMap

/** The direct sub-expressions. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case 'list':
      return expr.elements.map(({ value }) => value)
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'loop':
      return [expr.range, expr.body, ...(expr.filter === undefined ? [] : [expr.filter])]
    case 'bind':
      return [expr.value, expr.body]
    case 'optionalMap':
      return [expr.operand, expr.body]
    default:
      return expr satisfies never
  }
}

/** `a.b.c` as a qualified name; undefined for other expressions. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.isTest || expr.isOptional) return undefined
  const operand = qualifiedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}

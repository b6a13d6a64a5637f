// The syntax tree of a jq expression.

/** JSON, as jq computes with it. */
export type JqValue = null | boolean | number | string | readonly JqValue[] | { readonly [key: string]: JqValue }

export const binaryOperators = ['//', 'or', 'and', '==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%'] as const
export type BinaryOperator = (typeof binaryOperators)[number]

export type JqQuery =
  | { readonly kind: 'identity' }
  | { readonly kind: 'literal'; readonly value: JqValue }
  /** `.name`, `.["name"]` and `.[0]` */
  | { readonly kind: 'index'; readonly of: JqQuery; readonly by: JqQuery; readonly isOptional: boolean }
  /** `.[]` */
  | { readonly kind: 'iterate'; readonly of: JqQuery; readonly isOptional: boolean }
  | { readonly kind: 'pipe'; readonly from: JqQuery; readonly to: JqQuery }
  | { readonly kind: 'comma'; readonly left: JqQuery; readonly right: JqQuery }
  | { readonly kind: 'binary'; readonly operator: BinaryOperator; readonly left: JqQuery; readonly right: JqQuery }
  | { readonly kind: 'negate'; readonly of: JqQuery }
  | { readonly kind: 'list'; readonly of: JqQuery | undefined }
  | { readonly kind: 'if'; readonly condition: JqQuery; readonly consequent: JqQuery; readonly otherwise: JqQuery }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly JqQuery[] }

/** An expression that cannot be parsed, or a value that a step of it does not accept. */
export class JqError extends Error {}

// Paths: what upstream evaluates at once, and counts once, such as `a.b[0]`.
import type { Expr } from '../syntax/ast.ts'

export const isIndex = (expr: Expr): boolean => expr.kind === 'call' && (expr.name === '_[_]' || expr.name === '_[?_]')

export const isConditional = (expr: Expr): boolean => expr.kind === 'call' && expr.name === '_?_:_'

/** Names, selections, indexes, and conditionals between them. */
export const isPath = (expr: Expr): boolean =>
  expr.kind === 'ident' || (expr.kind === 'select' && !expr.isTest) || isIndex(expr) || isConditional(expr)

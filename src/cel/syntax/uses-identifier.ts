// usesIdentifier: whether an expression contains a variable.
import { childrenOf, type Expr } from './ast.ts'

export const usesIdentifier = (expr: Expr, name: string): boolean =>
  expr.kind === 'ident' ? expr.name === name : childrenOf(expr).some((child) => usesIdentifier(child, name))

// Whether an expression names a variable anywhere.
import { childrenOf, type Expr } from './ast.ts'

export const mentions = (expr: Expr, name: string): boolean =>
  expr.kind === 'ident' ? expr.name === name : childrenOf(expr).some((child) => mentions(child, name))

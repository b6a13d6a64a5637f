// Whether an expression names a variable anywhere.
import type { Expr } from './ast.ts'

export function mentions(expr: Expr, name: string): boolean {
  switch (expr.kind) {
    case 'literal':
      return false
    case 'ident':
      return expr.name === name
    case 'select':
      return mentions(expr.operand, name)
    case 'call':
      return [...(expr.target === undefined ? [] : [expr.target]), ...expr.args].some((each) => mentions(each, name))
    case 'list':
      return expr.elements.some(({ value }) => mentions(value, name))
    case 'map':
      return expr.entries.some(({ key, value }) => mentions(key, name) || mentions(value, name))
    case 'struct':
      return expr.fields.some(({ value }) => mentions(value, name))
    case 'loop':
      return [expr.range, expr.body, ...(expr.filter === undefined ? [] : [expr.filter])].some((each) =>
        mentions(each, name),
      )
    case 'bind':
      return mentions(expr.value, name) || mentions(expr.body, name)
    case 'optionalMap':
      return mentions(expr.operand, name) || mentions(expr.body, name)
    default:
      return expr satisfies never
  }
}

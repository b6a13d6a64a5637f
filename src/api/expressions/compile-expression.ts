// compileExpression: a compiled expression with one of the given result types, or its error in upstream's wording.
import { compile, type Program } from '../../cel/program.ts'
import type { Environment } from '../../cel/environment/environment.ts'
import { ExpressionError } from '../../cel/syntax/source.ts'
import { runtimeTypeName, typeText, type CelType } from '../../cel/types/cel-type.ts'
import { invalid, type FieldError } from '../../schema/validation/field-error.ts'

export type CompiledExpression =
  | { readonly kind: 'program'; readonly program: Program }
  | { readonly kind: 'wrong'; readonly message: string }

/** Without types, every result type is valid. */
export function compileExpression(
  expression: string,
  environment: Environment,
  ...types: readonly CelType[]
): CompiledExpression {
  try {
    const program = compile(expression, environment)
    const found = shown(program.type)
    const wanted = types.map(shown)
    if (wanted.length === 0 || wanted.includes(found)) return { kind: 'program', program }
    const list = wanted.length === 1 ? wanted[0] : `one of [${wanted.join(' ')}]`
    return { kind: 'wrong', message: `must evaluate to ${list} but got ${found}` }
  } catch (error) {
    if (error instanceof ExpressionError) return { kind: 'wrong', message: `compilation failed: ${error.message}` }
    throw error
  }
}

const shown = (type: CelType): string => (type.kind === 'null' ? runtimeTypeName(type) : typeText(type))

export function expressionErrors(
  expression: string,
  environment: Environment,
  path: string,
  ...types: readonly CelType[]
): FieldError[] {
  const result = compileExpression(expression, environment, ...types)
  return result.kind === 'wrong' ? [invalid(path, expression, result.message)] : []
}

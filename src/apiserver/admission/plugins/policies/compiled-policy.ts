// The expressions of a policy, compiled once per version of the policy.
import type { Variable } from '../../../../api/admissionregistration/v1/policy-params.ts'
import {
  admissionEnvironment,
  VariableTypes,
  withVariables,
} from '../../../../api/expressions/admission-environment.ts'
import { compileExpression } from '../../../../api/expressions/compile-expression.ts'
import type { Environment } from '../../../../cel/environment/environment.ts'
import type { Program } from '../../../../cel/program.ts'
import type { CelType } from '../../../../cel/types/cel-type.ts'
import { ConfigurationError } from './params.ts'

export interface CompiledExpression {
  readonly expression: string
  readonly program: Program
}

export interface CompiledVariable extends CompiledExpression {
  readonly name: string
}

/** Throws a ConfigurationError: an expression that an older server stored may not compile. */
export function compileOne(
  expression: string,
  environment: Environment,
  ...types: readonly CelType[]
): CompiledExpression {
  const text = expression.trim()
  const result = compileExpression(text, environment, ...types)
  if (result.kind === 'wrong') throw new ConfigurationError(result.message)
  return { expression: text, program: result.program }
}

export interface PolicyScope {
  readonly conditions: Environment
  /** Includes the policy's variables. */
  readonly environment: Environment
  readonly variables: readonly CompiledVariable[]
}

export function compileScope(hasParams: boolean, variables: readonly Variable[]): PolicyScope {
  const conditions = admissionEnvironment({ hasParams, hasAuthorizer: true })
  const types = new VariableTypes()
  const made = variables.map(({ name, expression }) => {
    const variable = { ...compileOne(expression, withVariables(conditions, types)), name }
    types.set(name, variable.program.type)
    return variable
  })
  return { conditions, environment: withVariables(conditions, types), variables: made }
}

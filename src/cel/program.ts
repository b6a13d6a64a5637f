// Program: an expression that was checked in an environment and can be evaluated any number of times.
import { check, type Checked } from './check/checker.ts'
import type { Environment } from './environment/environment.ts'
import { Compiler } from './run/compiler.ts'
import { Frame, type Activation } from './run/evaluation-frame.ts'
import { Scope } from './run/scope.ts'
import type { Expr } from './syntax/ast.ts'
import { parse } from './syntax/parser.ts'
import { ExpressionError } from './syntax/source.ts'
import type { CelType } from './types/cel-type.ts'
import type { Value } from './values/value.ts'

export interface Evaluation {
  readonly value: Value
  readonly cost: number
}

export class Program {
  readonly type: CelType
  readonly tree: Expr
  readonly checked: Checked
  readonly #environment: Environment
  #run: ((activation: Activation, costMax: number) => Evaluation) | undefined

  constructor(tree: Expr, checked: Checked, environment: Environment) {
    this.tree = tree
    this.checked = checked
    this.type = checked.type
    this.#environment = environment
  }

  /** Throws an EvalError, or a CostLimitError. */
  evaluate(activation: Activation, costMax: number): Evaluation {
    this.#run ??= evaluatorOf(this.tree, this.#environment, this.checked)
    return this.#run(activation, costMax)
  }
}

/** Throws an ExpressionError. */
export function compile(text: string, environment: Environment): Program {
  const tree = parse(text)
  const checked = check(tree, environment)
  if (checked.issues.length > 0) throw new ExpressionError(text, checked.issues)
  return new Program(tree, checked, environment)
}

/** The closures of a syntax tree, which need not be checked. */
export function evaluatorOf(
  tree: Expr,
  environment: Environment,
  checked: Checked | undefined,
): (activation: Activation, costMax: number) => Evaluation {
  const scope = new Scope()
  const step = new Compiler(environment, checked).compile(tree, scope)
  return (activation, costMax) => {
    const frame = new Frame(activation, scope.slotCount, costMax)
    const value = step(frame)
    return { value, cost: frame.cost }
  }
}

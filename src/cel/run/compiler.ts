// Compiler: composes closures from a syntax tree once; evaluation does not use the tree.
import { lookup } from '../../base/collections/lookup.ts'
import type { Checked } from '../check/checker.ts'
import type { Environment } from '../environment/environment.ts'
import type { Overload } from '../environment/function.ts'
import {
  qualifiedName,
  type Call,
  type Expr,
  type MapExpr,
  type OptionalMap,
  type Select,
  type Struct,
} from '../syntax/ast.ts'
import { isDyn, isNullable } from '../types/cel-type.ts'
import { equals, isList } from '../values/equality.ts'
import { MapValue, Uint, type Value } from '../values/value.ts'
import { regex } from '../regex/regex.ts'
import { EvalError } from '../values/eval-error.ts'
import { listOf, mapOf, structOf } from './aggregate.ts'
import { Frame } from './evaluation-frame.ts'
import { hasField, optionalField, unusualField } from './field-access.ts'
import { invoke } from './invocation.ts'
import { compileLoop } from './loop.ts'
import { and, conditional, not, or } from './logic.ts'
import { optionalChoice, optionalMap, unchargedNone } from './optional-steps.ts'
import { isConditional, isIndex, isPath } from './path.ts'
import type { Local, Scope } from './scope.ts'
import { prepared, withOperand, withPauses, type Step } from './step.ts'

export class Compiler {
  readonly #environment: Environment
  readonly #checked: Checked | undefined
  /** Steps whose value is known before the evaluation. They cost nothing, as in upstream. */
  readonly #constants = new Map<Step, Value>()

  /** Without the checker's results, overloads are resolved at run time. */
  constructor(environment: Environment, checked: Checked | undefined) {
    this.#environment = environment
    this.#checked = checked
  }

  compile(expr: Expr, scope: Scope): Step {
    switch (expr.kind) {
      case 'literal':
        return this.#constant(expr.value)
      case 'ident':
        return this.#named(expr, expr.name, scope) ?? missing(expr.name)
      case 'select':
        return this.#select(expr, scope)
      case 'call':
        return this.#call(expr, scope)
      case 'list':
        return this.#list(expr.elements, scope)
      case 'map':
        return this.#map(expr, scope)
      case 'struct':
        return this.#struct(expr, scope)
      case 'loop':
        return compileLoop(expr, scope, {
          compile: (each, within) => this.compile(each, within),
          isConstant: (step) => this.#constants.has(step),
        })
      case 'bind': {
        const [inner, slot] = scope.with(expr.name, this.compile(expr.value, scope))
        return prepared(
          (frame) => {
            frame.locals[slot] = undefined
          },
          this.compile(expr.body, inner),
        )
      }
      case 'optionalMap':
        return this.#optionalMap(expr, scope)
      default:
        return expr satisfies never
    }
  }

  #constant(value: Value): Step {
    const step = (): Value => value
    this.#constants.set(step, value)
    return step
  }

  /** Evaluates a step now if all its operands are constants. Throws the EvalError of the step. */
  #folded(operands: readonly Step[], step: Step): Step {
    if (!operands.every((operand) => this.#constants.has(operand))) return step
    return this.#constant(step(new Frame({}, 0, Number.POSITIVE_INFINITY, 'uninterrupted')))
  }

  #named(expr: Expr, name: string, scope: Scope): Step | undefined {
    const local = scope.local(name)
    if (local !== undefined) return localStep(local)
    const reference = this.#checked?.references.get(expr)
    if (reference?.kind === 'constant') return this.#constant(reference.value)
    const variable =
      reference?.kind === 'variable'
        ? reference.name
        : this.#checked === undefined
          ? this.#environment.variable(name)?.name
          : undefined
    if (variable !== undefined)
      return (frame) => {
        frame.charge(1)
        const value = lookup(frame.activation, variable)
        if (value === undefined) throw new EvalError(`no such attribute(s): ${variable}`)
        return value
      }
    const constant = this.#checked === undefined ? this.#environment.constant(name) : undefined
    return constant === undefined ? undefined : this.#constant(constant.value)
  }

  #select(expr: Select, scope: Scope): Step {
    const { field, isTest, isOptional } = expr
    const name = qualifiedName(expr)
    const isLocal = name !== undefined && scope.local(name.split('.')[0] ?? '') !== undefined
    const whole = name === undefined || isLocal ? undefined : this.#named(expr, name, scope)
    if (whole !== undefined) return whole
    const operand = this.#operand(expr.operand, scope)
    if (isTest) return withOperand(operand, (_, value) => hasField(value, field))
    if (isOptional)
      return withOperand(operand, (frame, value) => {
        const found = optionalField(value, field)
        if (found.value !== undefined) frame.charge(1)
        return found
      })
    return withOperand(operand, (frame, value) => {
      frame.charge(1)
      if (value instanceof MapValue) {
        const found = value.get(field)
        if (found !== undefined) return found
      }
      return unusualField(value, field)
    })
  }

  /**
   * Upstream evaluates a path such as `a.b[0]` at once and counts one for its start, also when the path starts with a call
   * or a literal.
   */
  #operand(expr: Expr, scope: Scope): Step {
    const step = this.compile(expr, scope)
    return isPath(expr) ? step : charging(step, 1)
  }

  /** A path that is an index, or a branch of a conditional, is part of the outer path: its start is not counted. */
  #part(expr: Expr, scope: Scope): Step {
    const step = this.compile(expr, scope)
    const isCounted = isPath(expr) && !isConditional(expr) && !this.#constants.has(step)
    return isCounted ? charging(step, -1) : step
  }

  #index({ name, args: [operand, key] }: Call, scope: Scope): readonly Step[] {
    if (operand === undefined || key === undefined) throw new Error(`${name} has an operand and a key`)
    return [this.#operand(operand, scope), this.#part(key, scope)]
  }

  #call(expr: Call, scope: Scope): Step {
    const { name, target, args } = expr
    const reference = this.#checked?.references.get(expr)
    const known = reference?.kind === 'function' ? reference : undefined
    const space = target === undefined ? undefined : qualifiedName(target)
    const loose = space === undefined ? undefined : this.#environment.overloads(`${space}.${name}`)
    const isNamespaced = known?.isNamespaced ?? (this.#checked === undefined && loose !== undefined)
    const parts = target === undefined || isNamespaced ? args : [target, ...args]
    const steps = isIndex(expr)
      ? this.#index(expr, scope)
      : parts.map((part, index) =>
          isConditional(expr) && index > 0 ? this.#part(part, scope) : this.compile(part, scope),
        )
    const special = logical(name, steps) ?? optionalChoice(name, steps)
    if (special !== undefined) return special
    const all = (isNamespaced ? loose : undefined) ?? this.#environment.overloads(name) ?? []
    const overloads = known?.overloads ?? all.filter(fits(parts.length, target !== undefined && !isNamespaced))
    if (overloads.length === 0 && known === undefined) return failing(`unbound function: ${name}`)
    const step = invoke(isNamespaced ? `${space}.${name}` : name, overloads, steps, this.#isSure(overloads, parts))
    if (name === '_[?_]') return unchargedNone(step)
    if (patternFunctions.has(name)) this.#checkPattern(steps[1])
    if (conversions.has(name) && steps.length === 1) return this.#folded(steps, step)
    return name === '@in' ? this.#membership(steps, step) : step
  }

  /** A pattern that is a constant is compiled before the evaluation. Throws the EvalError of the pattern. */
  #checkPattern(step: Step | undefined): void {
    const pattern = step === undefined ? undefined : this.#constants.get(step)
    if (typeof pattern === 'string') regex(pattern)
  }

  /** Upstream looks a value up in a list of constants without a cost. */
  #membership(steps: readonly Step[], step: Step): Step {
    const [value, list] = steps
    const constants = list === undefined ? undefined : this.#constants.get(list)
    if (value === undefined || constants === undefined || !isList(constants)) return step
    if (constants.length === 0) return this.#constant(false)
    return constants.every(isPrimitive) ? withOperand(value, (_, found) => constants.some(equalTo(found))) : step
  }

  /** With one overload and known types of arguments, nothing is resolved at run time. */
  #isSure(overloads: readonly Overload[], parts: readonly Expr[]): boolean {
    const [only, other] = overloads
    if (only === undefined || other !== undefined || this.#checked === undefined) return false
    return parts.every((part, index) => {
      const type = this.#checked?.types.get(part)
      const wanted = only.args[index]
      if (wanted === undefined || isDyn(wanted) || wanted.kind === 'param') return true
      return type !== undefined && !isDyn(type) && !isNullable(wanted)
    })
  }

  #list(elements: readonly { readonly value: Expr; readonly isOptional: boolean }[], scope: Scope): Step {
    const steps = elements.map(({ value, isOptional }) => ({ step: this.compile(value, scope), isOptional }))
    if (steps.some(({ isOptional }) => isOptional)) return listOf(steps)
    return this.#folded(
      steps.map(({ step }) => step),
      listOf(steps),
    )
  }

  #map({ entries }: MapExpr, scope: Scope): Step {
    const steps = entries.map(({ key, value, isOptional }) => ({
      key: this.compile(key, scope),
      step: this.compile(value, scope),
      isOptional,
    }))
    if (steps.some(({ isOptional }) => isOptional)) return mapOf(steps)
    return this.#folded(
      steps.flatMap(({ key, step }) => [key, step]),
      mapOf(steps),
    )
  }

  #struct({ name, fields }: Struct, scope: Scope): Step {
    const struct = this.#environment.struct(name)
    const steps = fields.map(({ name: field, value, isOptional }) => ({
      field,
      step: this.compile(value, scope),
      isOptional,
    }))
    return struct === undefined ? failing(`unknown type: ${name}`) : structOf(struct, steps)
  }

  #optionalMap({ operand, name, body, isFlat }: OptionalMap, scope: Scope): Step {
    const outer = this.compile(operand, scope)
    const [inner, slot] = scope.with(name)
    return optionalMap(outer, slot, this.compile(body, inner), isFlat)
  }
}

/** Functions that upstream calls before the evaluation if their argument is a constant. */
const conversions = new Set('bool bytes double dyn duration int string timestamp type uint'.split(' '))

const patternFunctions = new Set(['find', 'findAll', 'matches'])

const isPrimitive = (value: Value): boolean => typeof value !== 'object' || value instanceof Uint
const equalTo =
  (value: Value) =>
  (other: Value): boolean =>
    equals(other, value)

const charging = (step: Step, cost: number): Step => prepared((frame) => frame.charge(cost), step)

/** A variable of a loop, or one that is computed when it is first read. */
function localStep({ slot, make }: Local): Step {
  if (make === undefined)
    return (frame) => {
      frame.charge(1)
      return frame.locals[slot] ?? null
    }
  const computed = withOperand(make, ({ locals }, value) => (locals[slot] = value))
  const evaluate: Step = (frame) => {
    frame.charge(1)
    const known = frame.locals[slot]
    return known === undefined ? computed(frame) : known
  }
  const { inSlices } = computed
  if (inSlices === undefined) return evaluate
  return withPauses(evaluate, function* (frame) {
    frame.charge(1)
    const known = frame.locals[slot]
    return known === undefined ? yield* inSlices(frame) : known
  })
}

const failing =
  (message: string): Step =>
  () => {
    throw new EvalError(message)
  }

const missing = (name: string): Step => failing(`no such attribute(s): ${name}`)

const fits =
  (count: number, isMember: boolean) =>
  (overload: Overload): boolean =>
    overload.args.length === count && overload.isMember === isMember

function logical(name: string, [first, second, third]: readonly Step[]): Step | undefined {
  if (first === undefined) return undefined
  if (name === '!_') return not(first)
  if (second === undefined) return undefined
  if (name === '_&&_') return and(first, second)
  if (name === '_||_') return or(first, second)
  return name === '_?_:_' && third !== undefined ? conditional(first, second, third) : undefined
}

// Evaluates an expression of admission within a cost budget. An expression that calls an authorizer is interrupted and
// evaluated again with the decision.
import { resourceAttributes, type AccessAttributes } from '../../authorization/attributes.ts'
import {
  PendingAuthorizationError,
  type AuthorizationDecision,
  type AuthorizationDecisions,
  type AuthorizationQuery,
} from '../../../cel/library/kubernetes/authorizer-functions.ts'
import type { Outcome as ProgramOutcome, Program } from '../../../cel/program.ts'
import type { Activation } from '../../../cel/run/evaluation-frame.ts'
import { Interrupt } from '../../../cel/values/eval-error.ts'
import type { Value } from '../../../cel/values/value.ts'
import { parseFieldSelector } from '../../../api/selectors/field-selector-text.ts'
import { parseLabelSelector } from '../../../api/selectors/label-selector-text.ts'
import type { AdmissionHost } from '../framework/admission-plugin.ts'
import type { User } from '../../request/request.ts'
import { assertedAccount } from '../../request/user-names.ts'
import type { ExpressionInput } from './activation.ts'

/** Cost limit of one expression. */
export const expressionCostMax = 1_000_000

/** The total cost limit of all expressions of a policy, or of all match conditions of a webhook. */
export class Budget {
  #left: number

  constructor(cost: number) {
    this.#left = cost
  }

  spend(cost: number): void {
    this.#left -= cost
    if (this.#left < 0) throw new OutOfBudgetError()
  }
}

export const policyBudget = 10_000_000
export const conditionsBudget = policyBudget / 4

export class OutOfBudgetError extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run')
  }
}

export type Outcome =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'failed'; readonly message: string }

/** What an evaluation waits for: the authorizers, for a user; and its next slice. */
export interface EvaluationContext {
  readonly user: User
  readonly host: Pick<AdmissionHost, 'authorize' | 'inSlices'>
  readonly signal: AbortSignal
}

/** A variable must be evaluated before the evaluation can continue. */
export class PendingVariableError extends Interrupt {
  readonly program: Program
  readonly activation: Activation
  /** Takes the result. */
  readonly resolve: (outcome: ProgramOutcome) => void

  constructor(program: Program, activation: Activation, resolve: (outcome: ProgramOutcome) => void) {
    super('the variable has not been evaluated yet')
    this.program = program
    this.activation = activation
    this.resolve = resolve
  }
}

/** Throws an OutOfBudgetError; every other error is returned as an outcome. */
export async function evaluateExpression(
  program: Program,
  expression: string,
  activation: Activation,
  { answers }: ExpressionInput,
  budget: Budget,
  context: EvaluationContext,
): Promise<Outcome> {
  const { value, cost, error } = await outcomeOf(program, activation, answers, context)
  if (error !== undefined)
    return { kind: 'failed', message: `expression '${expression}' resulted in error: ${error.message}` }
  budget.spend(cost)
  return { kind: 'value', value }
}

/** Evaluates again with each decision and each variable that the evaluation has to wait for. */
async function outcomeOf(
  program: Program,
  activation: Activation,
  answers: AuthorizationDecisions,
  context: EvaluationContext,
): Promise<ProgramOutcome> {
  const { host, signal } = context
  for (;;)
    try {
      return await host.inSlices((slice) => program.outcomeInSlices(activation, expressionCostMax, slice), signal)
    } catch (error) {
      if (error instanceof PendingAuthorizationError) answers.set(error.query, await answerTo(error.query, context))
      else if (error instanceof PendingVariableError)
        error.resolve(await outcomeOf(error.program, error.activation, answers, context))
      else throw error
    }
}

async function answerTo(
  question: AuthorizationQuery,
  { user, host, signal }: EvaluationContext,
): Promise<AuthorizationDecision> {
  try {
    const decision = await host.authorize(attributesOf(question, user), signal)
    return { isAllowed: decision.kind === 'allowed', reason: decision.reason(), error: '' }
  } catch (error) {
    signal.throwIfAborted()
    return { isAllowed: false, reason: '', error: error instanceof Error ? error.message : String(error) }
  }
}

function attributesOf(question: AuthorizationQuery, requester: User): AccessAttributes {
  const { serviceAccount, path, verb, fieldSelector = '', labelSelector = '', ...on } = question
  const user = serviceAccount === undefined ? requester : assertedAccount(serviceAccount.namespace, serviceAccount.name)
  if (path !== undefined) return { kind: 'path', user, verb, path }
  return resourceAttributes(user, verb, {
    ...on,
    ...(fieldSelector === '' ? {} : { fields: parseFieldSelector(fieldSelector) }),
    ...(labelSelector === '' ? {} : { labels: parseLabelSelector(labelSelector) }),
  })
}

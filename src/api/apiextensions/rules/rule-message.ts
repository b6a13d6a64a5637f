// The message of a messageExpression. A message that fails, is empty, too long or has several lines is not used.
import type { ValidationRule } from '../schema/json-schema-props.ts'
import { CostLimitError } from '../../../cel/run/evaluation-frame.ts'
import type { Outcome } from '../../../cel/program.ts'
import type { CostBudget } from './cost-budget.ts'

const messageBytesMax = 5 * 1024

export type EvaluatedMessage =
  /** undefined: the message of the rule is used. */
  | { readonly kind: 'message'; readonly message: string | undefined }
  /** The budget is exceeded, and no further rule is evaluated. */
  | { readonly kind: 'budget'; readonly detail: string }

export function evaluatedMessage(
  outcome: Outcome,
  { messageExpression = '' }: ValidationRule,
  budget: CostBudget,
): EvaluatedMessage {
  if (!budget.spend(outcome.cost))
    return {
      kind: 'budget',
      detail:
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    }
  if (outcome.error instanceof CostLimitError) {
    budget.end()
    return {
      kind: 'budget',
      detail: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(messageExpression)}`,
    }
  }
  const text = typeof outcome.value === 'string' ? outcome.value.trim() : ''
  const isUsable = text !== '' && !text.includes('\n') && new TextEncoder().encode(text).length <= messageBytesMax
  return { kind: 'message', message: isUsable ? text : undefined }
}

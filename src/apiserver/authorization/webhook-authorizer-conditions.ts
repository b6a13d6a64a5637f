// matchConditions of an authorization webhook: the webhook is called only if all are true.
import { apiEnvironment } from '../../api/expressions/api-environment.ts'
import { compileExpression } from '../../api/expressions/compile-expression.ts'
import type { Program } from '../../cel/program.ts'
import { CostLimitError } from '../../cel/run/evaluation-frame.ts'
import { boolType, listOf, mapOf, objectType, stringType, stringFields } from '../../cel/types/cel-type.ts'
import { EvalError } from '../../cel/values/eval-error.ts'
import { fromJson } from '../../cel/values/json-value-conversion.ts'
import type { ConfigReader } from '../config/config-reader.ts'

const selector = objectType('kubernetes.SelectorAttributes', {
  rawSelector: stringType,
  requirements: listOf(
    objectType('kubernetes.SelectorRequirement', { ...stringFields('key', 'operator'), values: listOf(stringType) }),
  ),
})
const requestType = objectType('kubernetes.SubjectAccessReviewSpec', {
  ...stringFields('user', 'uid'),
  groups: listOf(stringType),
  extra: mapOf(stringType, listOf(stringType)),
  resourceAttributes: objectType('kubernetes.ResourceAttributes', {
    ...stringFields('namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'),
    fieldSelector: selector,
    labelSelector: selector,
  }),
  nonResourceAttributes: objectType('kubernetes.NonResourceAttributes', stringFields('path', 'verb')),
})
const environment = apiEnvironment.with({ request: requestType })
const costMax = 2_500_000

export interface AuthorizerCondition {
  readonly text: string
  readonly program: Program
}

export function authorizerCondition(config: ConfigReader): AuthorizerCondition {
  const text = config.string('expression')
  const result = compileExpression(text, environment, boolType)
  if (result.kind === 'wrong') throw config.error('expression', `cannot be used: ${result.message}`)
  config.rejectUnknownFields()
  return { text, program: result.program }
}

/** `spec`: the spec of the SubjectAccessReview in v1. Throws if a condition fails and none is false. */
export function matchesConditions(conditions: readonly AuthorizerCondition[], spec: object): boolean {
  if (conditions.length === 0) return true
  const request = fromJson(spec, requestType)
  const failures: string[] = []
  for (const { text, program } of conditions)
    try {
      if (program.evaluate({ request }, costMax).value === false) return false
    } catch (error) {
      if (!(error instanceof EvalError || error instanceof CostLimitError)) throw error
      failures.push(`cel evaluation error: expression '${text}' resulted in error: ${error.message}`)
    }
  if (failures.length > 0) throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`)
  return true
}

// Rules of an autoscaler's behavior: how fast it may scale in either direction.
import { append } from '../../../base/collections/append.ts'
import { invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { quantityNanos } from '../../../schema/scalar/quantity.ts'
import type { HorizontalPodAutoscalerBehavior, HPAScalingPolicy, HPAScalingRules } from './autoscaler-spec.ts'

const windowSecondsMax = 3600
const periodSecondsMax = 1800
const selectPolicies = ['Disabled', 'Max', 'Min']
const policyTypes = ['Percent', 'Pods']

export const validateBehavior = (behavior: HorizontalPodAutoscalerBehavior = {}): FieldError[] =>
  (['scaleUp', 'scaleDown'] as const).flatMap((name) => {
    const rules = behavior[name]
    return rules === undefined ? [] : validateRules(rules, `spec.behavior.${name}`)
  })

function validateRules(rules: HPAScalingRules, path: string): FieldError[] {
  const { stabilizationWindowSeconds: windowSeconds = 0, selectPolicy, policies = [], tolerance } = rules
  const errors: FieldError[] = []
  const windowPath = `${path}.stabilizationWindowSeconds`
  if (windowSeconds < 0) errors.push(invalid(windowPath, windowSeconds, 'must be greater than or equal to zero'))
  if (windowSeconds > windowSecondsMax)
    errors.push(invalid(windowPath, windowSeconds, `must be less than or equal to ${windowSecondsMax}`))
  if (selectPolicy !== undefined && !selectPolicies.includes(selectPolicy))
    errors.push(notSupported(`${path}.selectPolicy`, selectPolicy, selectPolicies))
  if (policies.length === 0) errors.push(required(`${path}.policies`, 'must specify at least one Policy'))
  for (const [index, policy] of policies.entries()) append(errors, validatePolicy(policy, `${path}.policies[${index}]`))
  if (tolerance !== undefined && (quantityNanos(tolerance) ?? 0n) < 0n)
    errors.push(invalid(`${path}.tolerance`, tolerance, 'must be greater than or equal to 0'))
  return errors
}

function validatePolicy({ type, value, periodSeconds }: HPAScalingPolicy, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (!policyTypes.includes(type)) errors.push(notSupported(`${path}.type`, type ?? '', policyTypes))
  for (const [name, amount] of Object.entries({ value, periodSeconds }))
    if (amount <= 0) errors.push(invalid(`${path}.${name}`, amount, 'must be greater than zero'))
  if (periodSeconds > periodSecondsMax)
    errors.push(invalid(`${path}.periodSeconds`, periodSeconds, `must be less than or equal to ${periodSecondsMax}`))
  return errors
}

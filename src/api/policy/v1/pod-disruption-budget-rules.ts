// Rules of a PodDisruptionBudget: one bound, as a count or a percentage.
import { append } from '../../../base/collections/append.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateCountOrPercent } from '../../validation/count-or-percent.ts'
import { validateLabelSelector } from '../../validation/label-selector-rules.ts'
import { validatePercentLimit } from '../../validation/percent-limit.ts'
import type { PodDisruptionBudgetSpec } from './pod-disruption-budget-spec.ts'

export function validatePodDisruptionBudget(spec: PodDisruptionBudgetSpec): FieldError[] {
  const errors: FieldError[] = []
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined)
    errors.push(invalid('spec', inGoNames(spec), 'minAvailable and maxUnavailable cannot be both set'))
  for (const name of ['minAvailable', 'maxUnavailable'] as const) {
    const value = spec[name]
    if (value !== undefined)
      append(errors, [...validateCountOrPercent(value, `spec.${name}`), ...validatePercentLimit(value, `spec.${name}`)])
  }
  if (spec.selector !== undefined) append(errors, validateLabelSelector(spec.selector, 'spec.selector'))
  return errors
}

// Messages show this struct with Go's field names.
const inGoNames = (spec: PodDisruptionBudgetSpec) => ({
  MinAvailable: spec.minAvailable ?? null,
  Selector: spec.selector ?? null,
  MaxUnavailable: spec.maxUnavailable ?? null,
  UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
})

// Rules of a LabelSelector.
import { forbidden, invalid, required, type FieldError } from '../../schema/validation/field-error.ts'
import type { LabelSelector } from '../meta/v1/label-selector.ts'
import { validateLabels } from './metadata-rules.ts'
import { labelValueErrors, qualifiedNameErrors } from './names.ts'

/** The error that Deployments and ReplicaSets add when their selector is unusable. */
export function unusableSelector(selector: LabelSelector | undefined, path: string): FieldError[] {
  if (selector === undefined || validateLabelSelector(selector, path).length === 0) return []
  const { matchExpressions } = selector
  const shown = matchExpressions?.map(({ key, operator, ...rest }) => ({
    key: key ?? '',
    operator: operator ?? '',
    ...rest,
  }))
  const value = shown === undefined ? selector : { ...selector, matchExpressions: shown }
  return [invalid(path, value, 'invalid label selector')]
}

export function validateLabelSelector(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  path: string,
): FieldError[] {
  const errors = validateLabels(matchLabels, `${path}.matchLabels`)
  for (const [index, { key, operator, values = [] }] of matchExpressions.entries()) {
    const at = `${path}.matchExpressions[${index}]`
    const isSet = operator === 'In' || operator === 'NotIn'
    if (isSet && values.length === 0)
      errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    if (!isSet && values.length > 0 && ['Exists', 'DoesNotExist'].includes(operator))
      errors.push(forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    if (!isSet && !['Exists', 'DoesNotExist'].includes(operator))
      errors.push(invalid(`${at}.operator`, operator ?? '', 'not a valid selector operator'))
    for (const detail of qualifiedNameErrors(key ?? '')) errors.push(invalid(`${at}.key`, key ?? '', detail))
    for (const [position, value] of values.entries())
      for (const detail of labelValueErrors(value)) errors.push(invalid(`${at}.values[${position}]`, value, detail))
  }
  return errors
}

// Rules of tolerations. What they tolerate stands in tolerations.ts.
import { invalid, type FieldError } from '../../../schema/field-error.ts'
import { labelValueErrors, qualifiedNameErrors } from '../../names.ts'
import type { Toleration } from './affinity.ts'

export const validateTolerations = (tolerations: readonly Toleration[], path: string): FieldError[] =>
  tolerations.flatMap((toleration, index) => validateToleration(toleration, `${path}[${index}]`))

// Operators and effects that do not exist are refused by the enumerations of the fields.
const validateToleration = (toleration: Toleration, path: string): FieldError[] => [
  ...validateScope(toleration, path),
  ...validateValue(toleration, `${path}.operator`),
  ...validateDuration(toleration, `${path}.effect`),
]

/** Which taints are meant: those of a key, or all of them. */
function validateScope({ key, operator }: Toleration, path: string): FieldError[] {
  if (key !== undefined) return qualifiedNameErrors(key).map((detail) => invalid(`${path}.key`, key, detail))
  const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
  return operator === 'Exists' ? [] : [invalid(`${path}.operator`, operator ?? '', why)]
}

/** A value is compared, so it must be one; existence compares none. Upstream reports both at the operator. */
function validateValue({ operator = 'Equal', value = '' }: Toleration, path: string): FieldError[] {
  const details: Readonly<Record<string, string>> = {
    Equal: labelValueErrors(value).join(';'),
    Exists: value === '' ? '' : "value must be empty when `operator` is 'Exists'",
  }
  const detail = details[operator] ?? ''
  return detail === '' ? [] : [invalid(path, value, detail)]
}

/** Only an eviction can be put off. */
const validateDuration = ({ effect, tolerationSeconds }: Toleration, path: string): FieldError[] =>
  tolerationSeconds === undefined || effect === 'NoExecute'
    ? []
    : [invalid(path, effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set")]

// Rules of tolerations. Matching against taints is in tolerations.ts.
import { invalid, notSupported, type FieldError } from '../../../../schema/validation/field-error.ts'
import { labelValueErrors, qualifiedNameErrors } from '../../../validation/names.ts'
import { taintEffects, tolerationOperators, type Toleration } from './affinity.ts'

export const validateTolerations = (tolerations: readonly Toleration[], path: string): FieldError[] =>
  tolerations.flatMap((toleration, index) => validateToleration(toleration, `${path}[${index}]`))

const validateToleration = (toleration: Toleration, path: string): FieldError[] => [
  ...validateScope(toleration, path),
  ...validateDuration(toleration, `${path}.effect`),
  ...validateValue(toleration, `${path}.operator`),
  ...validateKnown(toleration.effect, taintEffects, `${path}.effect`),
]

const validateKnown = (value: string | undefined, known: readonly string[], path: string): FieldError[] =>
  value === undefined || known.includes(value) ? [] : [notSupported(path, value, known)]

/** A toleration applies to taints with a key, or to all taints. */
function validateScope({ key, operator }: Toleration, path: string): FieldError[] {
  if (key !== undefined) return qualifiedNameErrors(key).map((detail) => invalid(`${path}.key`, key, detail))
  const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
  return operator === 'Exists' ? [] : [invalid(`${path}.operator`, operator ?? '', why)]
}

/**
 * With an operator that compares, the value must be valid; with Exists it must be empty. Upstream reports both at the
 * operator.
 */
function validateValue({ operator = 'Equal', value = '' }: Toleration, path: string): FieldError[] {
  if (operator !== 'Equal' && operator !== 'Exists') return validateKnown(operator, tolerationOperators, path)
  const detail =
    operator === 'Equal'
      ? labelValueErrors(value).join(';')
      : value === ''
        ? ''
        : "value must be empty when `operator` is 'Exists'"
  return detail === '' ? [] : [invalid(path, value, detail)]
}

/** Only eviction can be delayed. */
const validateDuration = ({ effect, tolerationSeconds }: Toleration, path: string): FieldError[] =>
  tolerationSeconds === undefined || effect === 'NoExecute'
    ? []
    : [invalid(path, effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set")]

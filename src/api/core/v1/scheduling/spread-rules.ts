// Rules of topology spread constraints.
import { append } from '../../../../base/collections/append.ts'
import {
  duplicate,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import { validateLabelSelector } from '../../../validation/label-selector-rules.ts'
import { validateMatchLabelKeys } from './affinity-rules.ts'
import type { TopologySpreadConstraint } from './affinity.ts'

/** Upstream reports each pair of equal constraints; a response has no room for more of these errors. */
const duplicatesMax = 100

export function validateSpread(constraints: readonly TopologySpreadConstraint[], path: string): FieldError[] {
  const kinds = constraints.map(({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`)
  const later = new Map<string, number>()
  for (const kind of kinds) later.set(kind, (later.get(kind) ?? 0) + 1)
  let room = duplicatesMax
  return constraints.flatMap((constraint, index) => {
    const kind = kinds[index] ?? ''
    const duplicates = (later.get(kind) ?? 1) - 1
    later.set(kind, duplicates)
    const length = Math.min(duplicates, room)
    room -= length
    const twice = duplicate(`${path}[${index}].{topologyKey, whenUnsatisfiable}`, kind)
    return [...validateConstraint(constraint, `${path}[${index}]`), ...Array.from({ length }, () => twice)]
  })
}

function validateConstraint(constraint: Partial<TopologySpreadConstraint>, path: string): FieldError[] {
  const { maxSkew = 0, topologyKey, minDomains, labelSelector, matchLabelKeys = [] } = constraint
  const unsatisfiable: string = constraint.whenUnsatisfiable ?? ''
  const errors: FieldError[] = []
  if (maxSkew <= 0) errors.push(invalid(`${path}.maxSkew`, maxSkew, 'must be greater than zero'))
  if (!topologyKey) errors.push(required(`${path}.topologyKey`, 'can not be empty'))
  // Other invalid values are rejected by the enumeration of the field.
  if (unsatisfiable === '')
    errors.push(notSupported(`${path}.whenUnsatisfiable`, '', ['DoNotSchedule', 'ScheduleAnyway']))
  if (minDomains !== undefined && minDomains <= 0)
    errors.push(invalid(`${path}.minDomains`, minDomains, 'must be greater than zero'))
  if (minDomains !== undefined && unsatisfiable !== 'DoNotSchedule')
    errors.push(
      invalid(
        `${path}.minDomains`,
        minDomains,
        `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${unsatisfiable}`,
      ),
    )
  append(errors, validateMatchLabelKeys(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`))
  return labelSelector === undefined
    ? errors
    : [...errors, ...validateLabelSelector(labelSelector, `${path}.labelSelector`)]
}

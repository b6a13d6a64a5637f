// Rules of topology spread constraints.
import { duplicate, invalid, notSupported, required, type FieldError } from '../../../schema/field-error.ts'
import { validateLabelSelector } from '../../label-selector-rules.ts'
import { validateMatchLabelKeys } from './affinity-rules.ts'
import type { TopologySpreadConstraint } from './affinity.ts'

export const validateSpread = (constraints: readonly TopologySpreadConstraint[], path: string): FieldError[] =>
  constraints.flatMap((constraint, index) => [
    ...validateConstraint(constraint, `${path}[${index}]`),
    ...constraints
      .slice(index + 1)
      .filter((other) => isSameKind(constraint, other))
      .map(({ topologyKey, whenUnsatisfiable }) =>
        duplicate(`${path}[${index}].{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`),
      ),
  ])

const isSameKind = (a: TopologySpreadConstraint, b: TopologySpreadConstraint): boolean =>
  a.topologyKey === b.topologyKey && a.whenUnsatisfiable === b.whenUnsatisfiable

function validateConstraint(constraint: Partial<TopologySpreadConstraint>, path: string): FieldError[] {
  const { maxSkew = 0, topologyKey, minDomains, labelSelector, matchLabelKeys = [] } = constraint
  const unsatisfiable: string = constraint.whenUnsatisfiable ?? ''
  const errors: FieldError[] = []
  if (maxSkew <= 0) errors.push(invalid(`${path}.maxSkew`, maxSkew, 'must be greater than zero'))
  if (!topologyKey) errors.push(required(`${path}.topologyKey`, 'can not be empty'))
  // Other wrong values are refused by the enumeration of the field.
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
  errors.push(...validateMatchLabelKeys(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`))
  return labelSelector === undefined
    ? errors
    : [...errors, ...validateLabelSelector(labelSelector, `${path}.labelSelector`)]
}

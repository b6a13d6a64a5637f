// Rules of statuses that several kinds share: counts that cannot be negative or exceed one another, and conditions.
import { lookup } from '../../base/collections/lookup.ts'
import { areRepeated } from '../../base/collections/first-indexes.ts'
import {
  duplicate,
  invalid,
  notSupported,
  required,
  tooLong,
  type FieldError,
} from '../../schema/validation/field-error.ts'
import { qualifiedNameErrors } from './names.ts'
import { type Int64 } from '../../schema/scalar/int64.ts'

/** Numbers of a status by name; other fields are ignored. */
type Counts = object

const countOf = (status: Counts, name: string): number => {
  const value = lookup(status as Readonly<Record<string, unknown>>, name)
  return typeof value === 'number' ? value : 0
}

export const validateCounts = (status: Counts, names: readonly string[]): FieldError[] =>
  names
    .filter((name) => countOf(status, name) < 0)
    .map((name) => invalid(`status.${name}`, countOf(status, name), 'must be greater than or equal to 0'))

/** Counts that must not exceed the count `whole`. `shown` is upstream's name of that count. */
export const validateSubcounts = (
  status: Counts,
  names: readonly string[],
  whole: string,
  shown: string,
): FieldError[] =>
  names
    .filter((name) => countOf(status, name) > countOf(status, whole))
    .map((name) => invalid(`status.${name}`, countOf(status, name), `cannot be greater than ${shown}`))

const replicaSubcounts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']

/** The status of a ReplicaSet or a ReplicationController. */
export const validateReplicaStatus = (status: Counts): FieldError[] => [
  ...validateCounts(status, ['replicas', ...replicaSubcounts, 'observedGeneration']),
  ...validateSubcounts(status, replicaSubcounts, 'replicas', 'status.replicas'),
  ...validateSubcounts(status, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
]

interface Collisions {
  readonly collisionCount?: number
}

/** Names of revisions depend on it, so it must not decrease. */
export const validateCollisions = ({ collisionCount }: Collisions, old: Collisions): FieldError[] =>
  old.collisionCount !== undefined && (collisionCount === undefined || collisionCount < old.collisionCount)
    ? [invalid('status.collisionCount', collisionCount ?? 0, 'cannot be decremented')]
    : []

interface StatusCondition {
  readonly type?: string
  readonly status?: string
  readonly observedGeneration?: Int64
  readonly lastTransitionTime?: string | null
  readonly reason?: string
  readonly message?: string
}

const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/
const reasonRule =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
const reasonMax = 1024
const messageMax = 32 * 1024

/** Conditions of the type that newer kinds share. */
export function validateStatusConditions(conditions: readonly StatusCondition[], path: string): FieldError[] {
  const repeated = areRepeated(conditions, ({ type = '' }) => type)
  return conditions.flatMap((condition, index) => {
    const at = `${path}[${index}]`
    const errors = repeated[index] ? [duplicate(`${at}.type`, condition.type ?? '')] : []
    return [...errors, ...validateStatusCondition(condition, at)]
  })
}

function validateStatusCondition(condition: StatusCondition, path: string): FieldError[] {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition
  const errors = qualifiedNameErrors(type).map((detail) => invalid(`${path}.type`, type, detail))
  if (!['False', 'True', 'Unknown'].includes(status))
    errors.push(notSupported(`${path}.status`, status, ['False', 'True', 'Unknown']))
  if (observedGeneration < 0)
    errors.push(invalid(`${path}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero'))
  if (!lastTransitionTime) errors.push(required(`${path}.lastTransitionTime`, 'must be set'))
  if (reason === '') errors.push(required(`${path}.reason`, 'must be set'))
  else if (!reasonPattern.test(reason)) errors.push(invalid(`${path}.reason`, reason, reasonRule))
  if (reason.length > reasonMax) errors.push(tooLong(`${path}.reason`, reasonMax))
  if (message.length > messageMax) errors.push(tooLong(`${path}.message`, messageMax))
  return errors
}

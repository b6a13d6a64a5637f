// Rules of a Job's status: counters do not decrease, and a finished Job remains finished, with its times.
import { append } from '../../../base/collections/append.ts'
import { duplicate, invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { validateCounts } from '../../validation/status-rules.ts'
import { parseIndexes } from './job-indexes.ts'
import type { JobSpec } from './job-spec.ts'

/** The fields that are checked here. The kind's own file imports this one. */
interface JobStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  readonly startTime?: string
  readonly completionTime?: string
  readonly active?: number
  readonly succeeded?: number
  readonly failed?: number
  readonly ready?: number
  readonly terminating?: number
  readonly completedIndexes?: string
  readonly failedIndexes?: string
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] }
}

interface Job {
  readonly spec: JobSpec
  readonly status: JobStatus
}

export function validateJobStatusUpdate(job: Job, old: Job): FieldError[] {
  const { spec, status } = job
  return [
    ...validateCounts(status, ['active', 'succeeded', 'failed', 'ready', 'terminating']),
    ...validateUncounted(status),
    ...validateConditionsTogether(job),
    ...validateFinished(status),
    ...validateIndexes(spec, status),
    ...(status.ready !== undefined && status.ready > (status.active ?? 0)
      ? [invalid('status.ready', status.ready, 'cannot set more ready pods than active')]
      : []),
    ...validateTransition(job, old),
  ]
}

const isTrue = ({ conditions = [] }: JobStatus, type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === 'True')

const isFinished = (status: JobStatus): boolean => isTrue(status, 'Complete') || isTrue(status, 'Failed')

function validateUncounted({ uncountedTerminatedPods: pods }: JobStatus): FieldError[] {
  const seen = new Set<string>()
  return (['succeeded', 'failed'] as const).flatMap((name) =>
    (pods?.[name] ?? []).flatMap((uid, index) => {
      const path = `status.uncountedTerminatedPods.${name}[${index}]`
      if (uid === '') return [invalid(path, uid, 'must not be empty')]
      if (seen.has(uid)) return [duplicate(path, uid)]
      seen.add(uid)
      return []
    }),
  )
}

/** Upstream does not show the conditions as a value. */
const conditionsError = (detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field: 'status.conditions',
  message: `Invalid value: ${detail}`,
})

function validateConditionsTogether({ spec, status }: Job): FieldError[] {
  const is = (type: string) => isTrue(status, type)
  const rules: readonly (readonly [isBroken: boolean, detail: string])[] = [
    [is('Complete') && is('Failed'), 'cannot set Complete=True and Failed=true conditions'],
    [is('Complete') && is('FailureTarget'), 'cannot set Complete=True and FailureTarget=true conditions'],
    [is('Failed') && !is('FailureTarget'), 'cannot set Failed=True condition without the FailureTarget=true condition'],
    [
      is('Complete') && !is('SuccessCriteriaMet'),
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ],
    [is('SuccessCriteriaMet') && is('Failed'), 'cannot set SuccessCriteriaMet=True and Failed=true conditions'],
    [
      is('SuccessCriteriaMet') && is('FailureTarget'),
      'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
    ],
    [
      spec.successPolicy !== undefined && is('Complete') && !is('SuccessCriteriaMet'),
      'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
    ],
  ]
  return rules.filter(([isBroken]) => isBroken).map(([, detail]) => conditionsError(detail))
}

function validateFinished(status: JobStatus): FieldError[] {
  const { startTime, completionTime, active = 0, terminating = 0, uncountedTerminatedPods: pods } = status
  const errors: FieldError[] = []
  const rejectCompletion = (detail: string) => errors.push(invalid('status.completionTime', completionTime, detail))
  if (completionTime !== undefined && !isTrue(status, 'Complete'))
    rejectCompletion('cannot set completionTime when there is no Complete=True condition')
  if (completionTime === undefined && isTrue(status, 'Complete'))
    errors.push(required('status.completionTime', 'completionTime is required for Complete jobs'))
  if (startTime !== undefined && completionTime !== undefined && Date.parse(completionTime) < Date.parse(startTime))
    rejectCompletion('completionTime cannot be set before startTime')
  if (!isFinished(status)) return errors
  if (active > 0) errors.push(invalid('status.active', active, 'active>0 is invalid for finished job'))
  if (startTime === undefined) errors.push(required('status.startTime', 'startTime is required for finished job'))
  if ((pods?.succeeded ?? []).length + (pods?.failed ?? []).length > 0)
    errors.push(
      invalid('status.uncountedTerminatedPods', pods, 'uncountedTerminatedPods needs to be empty for finished job'),
    )
  if (terminating > 0)
    errors.push(invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job'))
  return errors
}

function validateIndexes(spec: JobSpec, { completedIndexes = '', failedIndexes }: JobStatus): FieldError[] {
  const errors = validateFormat(spec, 'completedIndexes', completedIndexes)
  if (completedIndexes !== '' && spec.completionMode !== 'Indexed')
    errors.push(
      invalid(
        'status.completedIndexes',
        completedIndexes,
        'cannot set non-empty completedIndexes when non-indexed completion mode',
      ),
    )
  if (failedIndexes === undefined) return errors
  const reject = (detail: string) => errors.push(invalid('status.failedIndexes', failedIndexes, detail))
  if (spec.backoffLimitPerIndex === undefined)
    reject('cannot set non-null failedIndexes when backoffLimitPerIndex is null')
  else append(errors, validateFormat(spec, 'failedIndexes', failedIndexes))
  const both = commonIndex(completedIndexes, failedIndexes)
  if (both !== undefined) reject(`failedIndexes and completedIndexes overlap at index: ${both}`)
  return errors
}

function validateFormat({ completions }: JobSpec, name: string, text: string): FieldError[] {
  const parsed = completions === undefined ? undefined : parseIndexes(text, completions)
  return parsed?.kind === 'broken' ? [invalid(`status.${name}`, text, `error parsing ${name}: ${parsed.why}`)] : []
}

/** The first index that is in both texts, whose intervals are in increasing order. */
function commonIndex(text: string, other: string): number | undefined {
  const intervals = intervalsOf(text)
  const others = intervalsOf(other)
  for (let at = 0, otherAt = 0; ;) {
    const interval = intervals[at]
    const otherInterval = others[otherAt]
    if (interval === undefined || otherInterval === undefined) return undefined
    const [low, high] = interval
    const [otherLow, otherHigh] = otherInterval
    if (low <= otherHigh && otherLow <= high) return Math.max(low, otherLow)
    // An interval that is not one, with NaN as a limit, is passed over.
    if (low <= otherLow || Number.isNaN(low + high)) at++
    else otherAt++
  }
}

const intervalsOf = (text: string): (readonly [low: number, high: number])[] =>
  text === ''
    ? []
    : text.split(',').map((interval) => {
        const [low = NaN, high = low] = interval.split('-').map(Number)
        return [low, high] as const
      })

function validateTransition({ spec, status }: Job, { status: old }: Job): FieldError[] {
  const errors = ['Failed', 'Complete', 'FailureTarget']
    .filter((type) => isTrue(old, type) && !isTrue(status, type))
    .map((type) => conditionsError(`cannot disable the terminal ${type}=True condition`))
  for (const name of ['failed', 'succeeded'] as const)
    if ((status[name] ?? 0) < (old[name] ?? 0))
      errors.push(invalid(`status.${name}`, status[name] ?? 0, `cannot decrease the ${name} counter`))
  const { startTime, completionTime } = status
  if (completionTime && old.completionTime && completionTime !== old.completionTime)
    errors.push(invalid('status.completionTime', completionTime, 'completionTime cannot be mutated'))
  if (old.startTime && !spec.suspend && !equalValues(startTime, old.startTime))
    errors.push(required('status.startTime', 'startTime cannot be removed for unsuspended job'))
  if (isTrue(old, 'SuccessCriteriaMet') && !isTrue(status, 'SuccessCriteriaMet'))
    errors.push(conditionsError('cannot disable the SuccessCriteriaMet=True condition'))
  if (isTrue(old, 'Complete') && !isTrue(old, 'SuccessCriteriaMet') && isTrue(status, 'SuccessCriteriaMet'))
    errors.push(conditionsError('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'))
  return errors
}

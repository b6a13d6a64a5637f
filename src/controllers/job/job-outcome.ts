// The outcome of a Job: the interim conditions (FailureTarget, SuccessCriteriaMet) and the final ones (Failed,
// Complete).
import { rfc3339 } from '../../base/time/clock.ts'
import type { Job, JobCondition } from '../../api/batch/v1/job.ts'
import { podRestarts } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { Tally } from './pod-accounting.ts'
import { hasLimitPerIndex, isTracked } from './job-pods.ts'
import { failureVerdict, successMatch } from './job-policies.ts'
import { secondsAsMs } from '../../schema/scalar/int64.ts'

export interface Outcome {
  readonly kind: 'succeeds' | 'fails'
  readonly reason: string
  readonly message: string
}

const fails = (reason: string, message: string): Outcome => ({ kind: 'fails', reason, message })
const succeeds = (reason: string, message: string): Outcome => ({ kind: 'succeeds', reason, message })

export const interimTypes = { succeeds: 'SuccessCriteriaMet', fails: 'FailureTarget' } as const
export const finalTypes = { succeeds: 'Complete', fails: 'Failed' } as const

/** The outcome, as soon as it is certain. */
export function outcomeOf(
  job: Job,
  pods: readonly Pod[],
  counts: Tally,
  active: number,
  nowMs: number,
): Outcome | undefined {
  return decided(job) ?? failure(job, pods, counts, nowMs) ?? success(job, counts, active)
}

/** An interim condition is not revoked. */
function decided({ status }: Job): Outcome | undefined {
  for (const kind of ['fails', 'succeeds'] as const) {
    const found = status.conditions?.find((each) => each.type === interimTypes[kind] && each.status === 'True')
    if (found !== undefined) return { kind, reason: found.reason ?? '', message: found.message ?? '' }
  }
  return undefined
}

function failure(job: Job, pods: readonly Pod[], counts: Tally, nowMs: number): Outcome | undefined {
  const { spec } = job
  for (const pod of pods) {
    const verdict = isTracked(pod) ? failureVerdict(job, pod) : undefined
    if (verdict?.action === 'FailJob') return fails('PodFailurePolicy', verdict.message)
  }
  if (counts.failed > (spec.backoffLimit ?? 6) || restartedTooOften(job, pods))
    return fails('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  if ((deadlineLeftMs(job, nowMs) ?? 1) <= 0)
    return fails('DeadlineExceeded', 'Job was active longer than specified deadline')
  if (!hasLimitPerIndex(job)) return undefined
  if (counts.failedIndexes.size > (spec.maxFailedIndexes ?? Infinity))
    return fails('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
  const isOver = counts.failedIndexes.size + counts.succeededIndexes.size >= (spec.completions ?? 0)
  return isOver && counts.failedIndexes.size > 0 ? fails('FailedIndexes', 'Job has failed indexes') : undefined
}

/** Restarts of containers in place count against the backoff limit too. */
function restartedTooOften({ spec }: Job, pods: readonly Pod[]): boolean {
  if (spec.template.spec.restartPolicy !== 'OnFailure') return false
  const limit = spec.backoffLimit ?? 6
  const restarts = pods
    .filter(({ status }) => status.phase === 'Running' || status.phase === 'Pending')
    .reduce(
      (sum, pod) =>
        sum +
        podRestarts(pod) +
        (pod.status.initContainerStatuses ?? []).reduce((all, each) => all + each.restartCount, 0),
      0,
    )
  return limit === 0 ? restarts > 0 : restarts >= limit
}

/** The time until the active deadline; undefined when there is none. */
export function deadlineLeftMs({ spec, status }: Job, nowMs: number): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || status.startTime === undefined || spec.suspend) return undefined
  return Date.parse(status.startTime) + secondsAsMs(spec.activeDeadlineSeconds) - nowMs
}

function success(job: Job, counts: Tally, active: number): Outcome | undefined {
  if (job.spec.suspend || isBeingDeleted(job)) return undefined
  const matched = successMatch(job, counts.succeededIndexes)
  if (matched !== undefined) return succeeds('SuccessPolicy', matched)
  const { completions } = job.spec
  const isComplete = completions === undefined ? counts.succeeded > 0 && active === 0 : counts.succeeded >= completions
  return isComplete ? succeeds('CompletionsReached', 'Reached expected number of succeeded pods') : undefined
}

/** The conditions with this one added or replaced. */
export function withJobCondition(
  conditions: readonly JobCondition[],
  { type, status = 'True', reason, message }: { type: string; status?: string; reason: string; message: string },
  nowMs: number,
): readonly JobCondition[] {
  const before = conditions.find((each) => each.type === type)
  if (before?.status === status || (before === undefined && status === 'False')) return conditions
  const now = rfc3339(nowMs)
  const changed = { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message }
  return before === undefined ? [...conditions, changed] : conditions.map((each) => (each === before ? changed : each))
}

// syncOf: what the metrics of the Job controller count of one reconcile, as upstream does.
import { hasJobCondition, type Job, type JobStatus } from '../../api/batch/v1/job.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { JobSync } from '../metrics/job-metrics.ts'
import type { AppliedPlan, Plan } from '../runtime/controller.ts'

export function syncOf({ object, plan, creates, failure, hasStatus, seconds }: AppliedPlan<Job>): JobSync {
  const { spec, status: before } = object
  const { status: after = before } = hasStatus ? (plan as { readonly status?: JobStatus }) : {}
  const isNew = (type: string) => !hasJobCondition(object, type) && hasJobCondition({ ...object, status: after }, type)
  const final = (['Complete', 'Failed'] as const).find(isNew)
  const { reason = '' } = after.conditions?.find(({ type }) => type === final) ?? {}
  return {
    action: actionOf(object, plan),
    completionMode: spec.completionMode ?? 'NonIndexed',
    isFailed: failure !== undefined,
    seconds,
    creates,
    createReason: createReasonOf(object, plan),
    succeeded: Math.max(0, (after.succeeded ?? 0) - (before.succeeded ?? 0)),
    failed: Math.max(0, (after.failed ?? 0) - (before.failed ?? 0)),
    finished: final === undefined ? undefined : { isSucceeded: final === 'Complete', reason },
  }
}

/** Pods of a Job with failed or terminating pods are created again. */
function createReasonOf({ spec, status }: Job, plan: Plan): JobSync['createReason'] {
  const { failed = 0, terminating = 0 } = (plan.status ?? status) as JobStatus
  if (spec.podReplacementPolicy === 'Failed' && failed > 0) return 'recreate_failed'
  return failed > 0 || terminating > 0 ? 'recreate_terminating_or_failed' : 'new'
}

function actionOf(object: Job, { changes, status }: Plan): JobSync['action'] {
  const after = { ...object, status: (status ?? object.status) as JobStatus }
  const isEnding = ['SuccessCriteriaMet', 'FailureTarget', 'Complete', 'Failed'].some((type) =>
    hasJobCondition(after, type),
  )
  if (isEnding || isBeingDeleted(object)) return 'reconciling'
  if (changes.some(({ kind }) => kind === 'create')) return 'pods_created'
  return object.spec.suspend || changes.some(({ kind }) => kind === 'delete') ? 'pods_deleted' : 'tracking'
}

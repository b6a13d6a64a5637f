// Counts each pod of a Job exactly once. A finished pod is first recorded in the status (`uncountedTerminatedPods`, or
// its completion index), then its finalizer is removed, then it is counted. After a crash the status shows the next
// step, and the finalizer prevents that a pod disappears before it is recorded.
import type { Job, JobStatus } from '../../api/batch/v1/job.ts'
import { pod as podKind, type Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { Change } from '../runtime/controller.ts'
import { IndexSet } from './completion-indexes.ts'
import {
  failuresBefore,
  hasLimitPerIndex,
  indexOf,
  isFailed,
  isIndexed,
  isSucceeded,
  isTracked,
  podsByIndex,
  trackingFinalizer,
} from './job-pods.ts'
import { failureVerdict, isIgnored } from './job-policies.ts'

/** Pods recorded by one plan; the others follow with the next. */
const recordedMax = 500

export interface Tally {
  /** All finished pods, counted or not. */
  readonly succeeded: number
  readonly failed: number
  readonly succeededIndexes: IndexSet
  readonly failedIndexes: IndexSet
}

/** The numbers of succeeded and failed pods, including those not counted yet. */
export function tallyPods(job: Job, pods: readonly Pod[]): Tally {
  const { status } = job
  const recorded = recordedIn(status)
  const open = pods.filter(
    (pod) => isTracked(pod) && !recorded.succeeded.has(pod.metadata.uid) && !recorded.failed.has(pod.metadata.uid),
  )
  const newlyFailed = open.filter((pod) => isFailed(pod, job) && !isIgnored(job, pod)).length
  const { succeededIndexes, failedIndexes } = indexesOf(job, pods)
  return {
    succeeded: isIndexed(job)
      ? succeededIndexes.size
      : (status.succeeded ?? 0) + recorded.succeeded.size + open.filter(isSucceeded).length,
    failed: (status.failed ?? 0) + recorded.failed.size + newlyFailed,
    succeededIndexes,
    failedIndexes,
  }
}

/** The indexes in the status, with those of the pods that are not recorded in it yet. */
function indexesOf(job: Job, pods: readonly Pod[]): Pick<Tally, 'succeededIndexes' | 'failedIndexes'> {
  const { status, spec } = job
  const completions = spec.completions ?? 0
  const of = (isMeant: (pod: Pod) => boolean): number[] =>
    pods.filter((pod) => isTracked(pod) && indexOf(pod, job) >= 0 && isMeant(pod)).map((pod) => indexOf(pod, job))
  const failed = IndexSet.parse(status.failedIndexes, completions)
  return {
    succeededIndexes: isIndexed(job)
      ? IndexSet.parse(status.completedIndexes, completions).with(of(isSucceeded))
      : IndexSet.empty,
    failedIndexes: hasLimitPerIndex(job)
      ? failed.with(of((pod) => isFailed(pod, job) && isIndexLost(job, pod)))
      : failed,
  }
}

/** Whether the failure of this pod exceeds the backoff limit of its index. */
export function isIndexLost(job: Job, pod: Pod): boolean {
  const verdict = failureVerdict(job, pod)
  if (verdict?.action === 'FailIndex') return true
  return verdict?.action !== 'Ignore' && failuresBefore(pod) >= (job.spec.backoffLimitPerIndex ?? Infinity)
}

const recordedIn = ({ uncountedTerminatedPods: uncounted }: JobStatus) => ({
  succeeded: new Set(uncounted?.succeeded),
  failed: new Set(uncounted?.failed),
})

export interface JobEnding {
  /** How the Job is about to end, if it is. */
  readonly outcome: 'succeeds' | 'fails' | undefined
}

export interface Accounting {
  readonly status: JobStatus
  readonly changes: readonly Change[]
  /** All pods are counted. */
  readonly isSettled: boolean
}

/** The new counts of the status, and the patches that release the pods that the stored status has recorded. */
export function accountPods(
  job: Job,
  pods: readonly Pod[],
  { succeededIndexes, failedIndexes }: Tally,
  { outcome }: JobEnding,
): Accounting {
  const { status } = job
  const recorded = recordedIn(status)
  const tracked = new Map(pods.filter(isTracked).map((pod) => [pod.metadata.uid, pod]))
  const counts = { succeeded: status.succeeded ?? 0, failed: status.failed ?? 0 }
  const next = { succeeded: new Set<string>(), failed: new Set<string>() }
  for (const result of ['succeeded', 'failed'] as const)
    for (const uid of recorded[result])
      if (tracked.has(uid)) next[result].add(uid)
      else counts[result]++
  const storedIndexes = IndexSet.parse(status.completedIndexes, job.spec.completions ?? 0)
  const byIndex = podsByIndex(job, pods)
  const released: Pod[] = []
  for (const pod of tracked.values()) {
    const { uid } = pod.metadata
    // A pod that was recorded as failed while it was being deleted may still exit with 0. It stays failed.
    const hasFailed = isFailed(pod, job) || recorded.failed.has(uid) || outcome === 'fails'
    if (isBeingDeleted(job)) released.push(pod)
    else if (isSucceeded(pod) && !recorded.failed.has(uid)) {
      const isRecorded = isIndexed(job)
        ? storedIndexes.has(indexOf(pod, job)) || indexOf(pod, job) < 0
        : recorded.succeeded.has(uid)
      if (isRecorded) released.push(pod)
      else if (!isIndexed(job) && next.succeeded.size < recordedMax) next.succeeded.add(uid)
    } else if (hasFailed) {
      if (recorded.failed.has(uid) || isIgnored(job, pod)) {
        if (outcome !== undefined || !isNeededForItsIndex(job, pod, byIndex, failedIndexes)) released.push(pod)
      } else if (next.failed.size < recordedMax) next.failed.add(uid)
    } else if (outcome === 'succeeds' && isBeingDeleted(pod)) released.push(pod)
  }
  const { succeeded: _, failed: __, completedIndexes: ___, failedIndexes: ____, ...kept } = status
  return {
    status: {
      ...kept,
      ...positive('succeeded', isIndexed(job) ? succeededIndexes.size : counts.succeeded),
      ...positive('failed', counts.failed),
      ...(succeededIndexes.size === 0 ? {} : { completedIndexes: succeededIndexes.toString() }),
      ...(hasLimitPerIndex(job) ? { failedIndexes: failedIndexes.toString() } : {}),
      uncountedTerminatedPods: {
        ...(next.succeeded.size === 0 ? {} : { succeeded: [...next.succeeded] }),
        ...(next.failed.size === 0 ? {} : { failed: [...next.failed] }),
      },
    },
    changes: released.map(releasePod),
    isSettled: tracked.size === 0 && next.succeeded.size + next.failed.size === 0,
  }
}

const positive = (name: string, count: number): object => (count > 0 ? { [name]: count } : {})

/** The last failed pod of an index is kept until its replacement has copied its failure count. */
function isNeededForItsIndex(
  job: Job,
  pod: Pod,
  byIndex: ReadonlyMap<number, readonly Pod[]>,
  failedIndexes: IndexSet,
): boolean {
  if (!hasLimitPerIndex(job)) return false
  const index = indexOf(pod, job)
  if (index < 0 || failedIndexes.has(index)) return false
  const { creationTimestamp, uid } = pod.metadata
  return !(byIndex.get(index) ?? []).some(
    (other) =>
      other.metadata.uid !== uid &&
      (other.metadata.creationTimestamp > creationTimestamp || failuresBefore(other) > failuresBefore(pod)),
  )
}

export const releasePod = (object: Pod): Change => ({
  kind: 'patch',
  of: podKind,
  object,
  patch: { metadata: { uid: object.metadata.uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } },
})

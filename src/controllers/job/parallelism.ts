// Parallelism of a Job: how many pods should run now, which are created and deleted, and the backoff after failures.
import type { Job } from '../../api/batch/v1/job.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isPodTerminating } from '../workload/pod-availability.ts'
import type { Change } from '../runtime/controller.ts'
import { createPod, deletePod, podsBurstMax } from '../workload/pod-from-template.ts'
import { rankedForDeletion } from '../workload/pod-ranking.ts'
import type { Tally } from './pod-accounting.ts'
import { finishedMs, hasLimitPerIndex, indexOf, isFailed, isIndexed, isSucceeded, newJobPod } from './job-pods.ts'
import { isIgnored } from './job-policies.ts'

const backoffMsInitial = 10_000
const backoffMsMax = 600_000

export interface Parallelism {
  readonly changes: readonly Change[]
  /** The remaining backoff after a failure. */
  readonly waitMs?: number
}

export function adjustParallelism(
  job: Job,
  pods: readonly Pod[],
  active: readonly Pod[],
  counts: Tally,
  nowMs: number,
): Parallelism {
  if (job.spec.suspend) return { changes: active.map(deletePod) }
  const wanted = wantedPods(job, active.length, counts)
  const surplus = surplusPods(job, active, counts, Math.max(0, active.length - wanted), nowMs)
  if (surplus.length > 0) return { changes: surplus.slice(0, podsBurstMax).map(deletePod) }
  const ending = job.spec.podReplacementPolicy === 'Failed' ? pods.filter(isPodTerminating).length : 0
  const missing = Math.min(wanted - ending - active.length, podsBurstMax)
  if (missing <= 0) return { changes: [] }
  return isIndexed(job) ? indexedPods(job, pods, active, counts, missing, nowMs) : plainPods(job, pods, missing, nowMs)
}

function wantedPods({ spec }: Job, active: number, { succeeded, failedIndexes }: Tally): number {
  const parallelism = spec.parallelism ?? 1
  if (spec.completions === undefined) return succeeded > 0 ? active : parallelism
  return Math.max(0, Math.min(spec.completions - succeeded - failedIndexes.size, parallelism))
}

/** The pods to delete; of an Indexed Job first those with a duplicate, finished or invalid index. */
function surplusPods(job: Job, active: readonly Pod[], counts: Tally, atLeast: number, nowMs: number): Pod[] {
  const ranked = rankedForDeletion(active, [], nowMs)
  if (!isIndexed(job)) return ranked.slice(0, atLeast)
  const taken = new Set<number>([...counts.succeededIndexes, ...counts.failedIndexes])
  const misplaced = ranked.toReversed().filter((pod) => {
    const index = indexOf(pod, job)
    if (index < 0 || taken.has(index)) return true
    taken.add(index)
    return false
  })
  const others = ranked.filter((pod) => !misplaced.includes(pod))
  return [...misplaced, ...others.slice(0, Math.max(0, atLeast - misplaced.length))]
}

function plainPods(job: Job, pods: readonly Pod[], missing: number, nowMs: number): Parallelism {
  const waitMs = backoffLeftMs(pods, nowMs)
  if (waitMs > 0) return { changes: [], waitMs }
  const object = newJobPod(job, undefined)
  return { changes: Array.from({ length: missing }, () => createPod(object)) }
}

function indexedPods(
  job: Job,
  pods: readonly Pod[],
  active: readonly Pod[],
  counts: Tally,
  missing: number,
  nowMs: number,
): Parallelism {
  const isOwn = hasLimitPerIndex(job)
  const wholeMs = isOwn ? 0 : backoffLeftMs(pods, nowMs)
  if (wholeMs > 0) return { changes: [], waitMs: wholeMs }
  const replacesEnding = job.spec.podReplacementPolicy !== 'Failed'
  const busy = new Set(
    [...active, ...(replacesEnding ? [] : pods.filter(isPodTerminating))].map((pod) => indexOf(pod, job)),
  )
  const changes: Change[] = []
  const waitsMs: number[] = []
  for (let index = 0; index < (job.spec.completions ?? 0) && changes.length < missing; index++) {
    if (busy.has(index) || counts.succeededIndexes.has(index) || counts.failedIndexes.has(index)) continue
    const failed = isOwn ? lastFailed(job, pods, index) : undefined
    const waitMs =
      failed === undefined
        ? 0
        : backoffLeftMs(
            pods.filter((pod) => indexOf(pod, job) === index),
            nowMs,
          )
    if (waitMs > 0) waitsMs.push(waitMs)
    else {
      const earlier = failed === undefined ? undefined : { pod: failed, isIgnored: isIgnored(job, failed) }
      changes.push(createPod(newJobPod(job, index, earlier)))
    }
  }
  return { changes, ...(waitsMs.length === 0 ? {} : { waitMs: Math.min(...waitsMs) }) }
}

const lastFailed = (job: Job, pods: readonly Pod[], index: number): Pod | undefined =>
  pods
    .filter((pod) => indexOf(pod, job) === index && isFailed(pod, job))
    .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1))
    .at(-1)

/** 10 s after the first failure, doubled with each further failure since the last success. */
function backoffLeftMs(pods: readonly Pod[], nowMs: number): number {
  const ended = pods
    .filter((pod) => isSucceeded(pod) || pod.status.phase === 'Failed')
    .map((pod) => ({ pod, atMs: finishedMs(pod) }))
    .toSorted((a, b) => b.atMs - a.atMs)
  const success = ended.findIndex(({ pod }) => isSucceeded(pod))
  const failures = success < 0 ? ended : ended.slice(0, success)
  const [last] = failures
  if (last === undefined) return 0
  const delayMs = Math.min(backoffMsInitial * 2 ** Math.min(failures.length - 1, 20), backoffMsMax)
  return Math.max(0, last.atMs + delayMs - nowMs)
}

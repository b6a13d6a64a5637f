// Parallelism of a Job: how many pods should run now, which are created and deleted, and the backoff after failures.
import type { Job } from '../../api/batch/v1/job.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isPodTerminating } from '../workload/pod-availability.ts'
import type { Change, PlanView } from '../runtime/controller.ts'
import { podCreation, podsBurstMax } from '../workload/pod-burst.ts'
import { createPod, deletePod } from '../workload/pod-from-template.ts'
import { rankedForDeletion } from '../workload/pod-ranking.ts'
import type { Tally } from './pod-accounting.ts'
import {
  finishedMs,
  hasLimitPerIndex,
  indexedPodMaker,
  indexOf,
  isFailed,
  isIndexed,
  isSucceeded,
  newJobPod,
  podsByIndex,
} from './job-pods.ts'
import { isIgnored } from './job-policies.ts'

const backoffMsInitial = 10_000
const backoffMsMax = 600_000

export interface Parallelism {
  readonly changes: readonly Change[]
  /** The remaining backoff after a failure, or until more pods may be created. */
  readonly waitMs?: number
}

export function adjustParallelism(
  job: Job,
  pods: readonly Pod[],
  active: readonly Pod[],
  counts: Tally,
  view: Pick<PlanView, 'byIndex' | 'nowMs'>,
): Parallelism {
  const { nowMs } = view
  if (job.spec.suspend) return { changes: active.slice(0, podsBurstMax).map(deletePod) }
  const wanted = wantedPods(job, active.length, counts)
  const surplus = surplusPods(job, active, counts, Math.max(0, active.length - wanted), nowMs)
  if (surplus.length > 0) return { changes: surplus.slice(0, podsBurstMax).map(deletePod) }
  const ending = job.spec.podReplacementPolicy === 'Failed' ? pods.filter(isPodTerminating).length : 0
  const unmet = wanted - ending - active.length
  if (unmet <= 0) return { changes: [] }
  const { count, waitMs } = podCreation(job, job.spec.template, active, view)
  const missing = Math.min(unmet, count)
  const created = isIndexed(job)
    ? indexedPods(job, pods, active, counts, missing, nowMs)
    : plainPods(job, pods, missing, nowMs)
  return waitMs === undefined ? created : { ...created, waitMs: Math.min(created.waitMs ?? Infinity, waitMs) }
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
  const isOver = (index: number) => counts.succeededIndexes.has(index) || counts.failedIndexes.has(index)
  const taken = new Set<number>()
  const misplaced = ranked.toReversed().filter((pod) => {
    const index = indexOf(pod, job)
    if (index < 0 || taken.has(index) || isOver(index)) return true
    taken.add(index)
    return false
  })
  const isMisplaced = new Set(misplaced)
  const others = ranked.filter((pod) => !isMisplaced.has(pod))
  return [...misplaced, ...others.slice(0, Math.max(0, atLeast - misplaced.length))]
}

function plainPods(job: Job, pods: readonly Pod[], missing: number, nowMs: number): Parallelism {
  const waitMs = backoffLeftMs(pods, nowMs)
  if (waitMs > 0) return { changes: [], waitMs }
  const object = newJobPod(job)
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
  const byIndex = podsByIndex(job, pods)
  const podOf = indexedPodMaker(job)
  const changes: Change[] = []
  let waitMs = Infinity
  // An index gets no pod now only if it has one, so the loop is as long as what exists and one burst.
  for (const index of counts.succeededIndexes.union(counts.failedIndexes).missingBelow(job.spec.completions ?? 0)) {
    if (changes.length >= missing) break
    if (busy.has(index)) continue
    const own = byIndex.get(index) ?? []
    const failed = isOwn ? lastFailed(job, own) : undefined
    const indexMs = failed === undefined ? 0 : backoffLeftMs(own, nowMs)
    if (indexMs > 0) waitMs = Math.min(waitMs, indexMs)
    else {
      const earlier = failed === undefined ? undefined : { pod: failed, isIgnored: isIgnored(job, failed) }
      changes.push(createPod(podOf(index, earlier)))
    }
  }
  return { changes, ...(waitMs === Infinity ? {} : { waitMs }) }
}

/** The last pod that failed, of those of one index. */
const lastFailed = (job: Job, pods: readonly Pod[]): Pod | undefined =>
  pods
    .filter((pod) => isFailed(pod, job))
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

// The number of pods, or of claims, that one plan creates or deletes. It is bounded by count, as upstream's burst is, and
// by the bytes of what the pods are made from: a plan holds a copy of parts of it for each pod. While thousands of pods of
// the namespace wait for a node, further ones are created slowly: they would only wait too, and everything that reads pods
// would take longer for all namespaces.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { isBound, pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import type { ObjectIndex, PlanView } from '../runtime/controller.ts'
import { isPodActive } from './pod-availability.ts'

/** Pods created or deleted by one plan; the others follow with the next. */
export const podsBurstMax = 500
/** The bytes that the pods of one plan take together as JSON. One pod may exceed them. */
const burstBytesMax = 8 << 20

const bursts = new WeakMap<object, number>()

/** The largest number of pods that one plan creates from this template or spec. */
export const podBurstOf = (source: object): number =>
  getOrInsert(bursts, source, () =>
    Math.max(1, Math.min(podsBurstMax, Math.floor(burstBytesMax / JSON.stringify(source).length))),
  )

/** So many pods of a namespace wait for a node before further ones are created slowly. */
export const waitingPodsMax = 5_000
/** So many pods of one workload wait in any case, so that another workload of the namespace does not delay it. */
export const ownWaitingPodsMax = 10
/** The time between two bursts for each pod that waits: 50 pods a second at first, and fewer the more there are. */
export const msPerWaitingPod = 2

const isWaiting = (object: Pod): boolean => !isBound(object) && isPodActive(object)

/** Pods that wait for a node, by namespace. */
export const waitingPods: ObjectIndex<Pod> = {
  kind: pod,
  name: 'waiting',
  valuesOf: (object) => (isWaiting(object) ? [namespaceOf(object)] : []),
}

export interface PodCreation {
  /** The largest number of pods that the plan creates. */
  readonly count: number
  /** When more may be created. */
  readonly waitMs: number | undefined
}

/** How many pods a plan creates for the workload; `source` is the template or spec of which they are made. */
export function podCreation(
  owner: ApiObject,
  source: object,
  active: readonly Pod[],
  { byIndex, nowMs }: Pick<PlanView, 'byIndex' | 'nowMs'>,
): PodCreation {
  const burst = podBurstOf(source)
  const waiting = byIndex(waitingPods, namespaceOf(owner))
  const space = waitingPodsMax - waiting.length
  if (space > 0) return { count: Math.min(burst, space), waitMs: undefined }
  const newestMs = waiting.reduce((ms, { metadata }) => Math.max(ms, Date.parse(metadata.creationTimestamp)), 0)
  const waitMs = newestMs + waiting.length * msPerWaitingPod - nowMs
  if (waitMs <= 0) return { count: burst, waitMs: undefined }
  const own = active.reduce((count, each) => (isWaiting(each) ? count + 1 : count), 0)
  return { count: Math.min(burst, Math.max(0, ownWaitingPodsMax - own)), waitMs }
}

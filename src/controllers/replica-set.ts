// ReplicaSet: as many pods as the spec says; the surplus goes, the least useful first.
import { isPodAvailable, isPodFinished, isPodReady, podRestarts, readyForMs } from '../api/core/v1/pod-readiness.ts'
import { pod, type Pod } from '../api/core/v1/pod.ts'
import { replicaSet, type ReplicaSet, type ReplicaSetStatus } from '../api/apps/v1/replica-set.ts'
import { isBeingDeleted } from '../api/object.ts'
import { selects } from '../api/selectors.ts'
import { defineController, type Change } from './controller.ts'

/** Pods made or removed by one plan; the rest follows with the next. */
const burstPods = 500

export const replicaSetController = defineController<ReplicaSet>({
  name: 'replica-set',
  component: 'replicaset-controller',
  reconciles: replicaSet,
  owns: [pod],
  plan(object, { owned, nowMs }) {
    const pods = owned(pod)
    const active = pods.filter((candidate) => !isBeingDeleted(candidate) && !isPodFinished(candidate))
    const status = statusOf(object, pods, active, nowMs)
    const waitMs = availabilityWaitMs(object, active, nowMs)
    const requeue = waitMs === undefined ? {} : { requeueAfterMs: waitMs }
    if (isBeingDeleted(object)) return { changes: [], status, ...requeue }
    const missing = Math.max(-burstPods, Math.min(burstPods, object.spec.replicas - active.length))
    return {
      changes: missing >= 0 ? createPods(object, missing) : deletePods(ranked(active, nowMs), -missing),
      status,
      ...requeue,
    }
  },
})

function createPods({ metadata, spec }: ReplicaSet, count: number): Change[] {
  const { labels, annotations, finalizers } = spec.template.metadata
  const object = {
    metadata: {
      generateName: `${metadata.name}-`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    spec: spec.template.spec,
  }
  return Array.from({ length: count }, () => ({
    kind: 'create',
    of: pod,
    object,
    tell: (made) => ({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${made.metadata.name}` }),
  }))
}

const deletePods = (pods: readonly Pod[], count: number): Change[] =>
  pods.slice(0, count).map((object) => ({
    kind: 'delete',
    of: pod,
    object,
    tell: (gone) => ({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${gone.metadata.name}` }),
  }))

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/** The least useful first: unassigned, not running, not ready, cheap to delete, ready for the shortest time, young. */
function ranked(pods: readonly Pod[], nowMs: number): Pod[] {
  const deletionCost = ({ metadata }: Pod) =>
    Number(metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0)
  const keys: ((object: Pod) => number)[] = [
    ({ spec }) => (spec.nodeName === undefined ? 0 : 1),
    ({ status }) => phaseRank[status.phase ?? ''] ?? 0,
    (object) => (isPodReady(object) ? 1 : 0),
    deletionCost,
    (object) => (isPodReady(object) ? readyForMs(object, nowMs) : 0),
    (object) => -podRestarts(object),
    ({ metadata }) => -Date.parse(metadata.creationTimestamp),
  ]
  return pods.toSorted((a, b) => {
    for (const key of keys) if (key(a) !== key(b)) return key(a) - key(b)
    return 0
  })
}

function statusOf(object: ReplicaSet, pods: readonly Pod[], active: readonly Pod[], nowMs: number): ReplicaSetStatus {
  const { spec, metadata, status } = object
  const labelled = active.filter((candidate) =>
    selects({ matchLabels: spec.template.metadata.labels ?? {} }, candidate.metadata.labels),
  )
  const counts = {
    fullyLabeledReplicas: labelled.length,
    readyReplicas: active.filter(isPodReady).length,
    availableReplicas: active.filter((candidate) => isPodAvailable(candidate, spec.minReadySeconds ?? 0, nowMs)).length,
  }
  return {
    ...(status.conditions === undefined ? {} : { conditions: status.conditions }),
    replicas: active.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    observedGeneration: metadata.generation ?? 0,
    terminatingReplicas: pods.filter((candidate) => isBeingDeleted(candidate) && !isPodFinished(candidate)).length,
  }
}

/** When the next ready pod will have been ready for long enough. */
function availabilityWaitMs(
  { spec: { minReadySeconds = 0 } }: ReplicaSet,
  active: readonly Pod[],
  nowMs: number,
): number | undefined {
  if (minReadySeconds === 0) return undefined
  const waits = active
    .filter(isPodReady)
    .map((candidate) => minReadySeconds * 1000 - readyForMs(candidate, nowMs))
    .filter((ms) => ms > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

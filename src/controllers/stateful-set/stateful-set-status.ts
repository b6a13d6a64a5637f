// The status of a StatefulSet: pod counts by readiness and revision.
import type { ControllerRevision } from '../../api/apps/v1/controller-revision.ts'
import type { StatefulSet } from '../../api/apps/v1/stateful-set.ts'
import type { StatefulSetStatus } from '../../api/apps/v1/stateful-set-spec.ts'
import { isPodAvailable, isPodReady } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import { revisionNameOf } from './pod-identity.ts'

export const isRunningAndReady = (pod: Pod): boolean => pod.status.phase === 'Running' && isPodReady(pod)

export function statefulSetStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  current: ControllerRevision,
  update: ControllerRevision,
  nowMs: number,
): StatefulSetStatus {
  const { metadata, spec, status } = set
  const countOf = (isMeant: (pod: Pod) => boolean) => pods.reduce((count, pod) => (isMeant(pod) ? count + 1 : count), 0)
  const ofRevision = ({ metadata: { name } }: ControllerRevision) =>
    countOf((pod) => !isBeingDeleted(pod) && revisionNameOf(pod) === name)
  const counts = {
    readyReplicas: countOf(isRunningAndReady),
    currentReplicas: ofRevision(current),
    updatedReplicas: ofRevision(update),
  }
  const isRolledOut =
    spec.updateStrategy.type === 'RollingUpdate' &&
    [counts.updatedReplicas, counts.readyReplicas, pods.length].every((count) => count === spec.replicas)
  const { conditions } = status
  return {
    observedGeneration: metadata.generation ?? 0,
    replicas: pods.length,
    ...present({ ...counts, ...(isRolledOut ? { currentReplicas: counts.updatedReplicas } : {}) }),
    availableReplicas: pods.filter(
      (pod) => pod.status.phase === 'Running' && isPodAvailable(pod, spec.minReadySeconds ?? 0, nowMs),
    ).length,
    currentRevision: (isRolledOut ? update : current).metadata.name,
    updateRevision: update.metadata.name,
    collisionCount: status.collisionCount ?? 0,
    ...(conditions === undefined ? {} : { conditions }),
  }
}

const present = (counts: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))

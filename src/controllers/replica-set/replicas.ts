// Replicas: the plan that ReplicaSets and ReplicationControllers share. They differ only in their selectors. Missing
// pods are created; surplus pods are deleted in the order of pod-ranking.ts.
import { leastOf } from '../../base/collections/extremes.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { isPodAvailable, isPodReady } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodTemplateSpec } from '../../api/core/v1/pod-spec/pod-template-spec.ts'
import { isBeingDeleted, type ApiObject } from '../../api/meta/object.ts'
import { selects } from '../../api/selectors/selectors.ts'
import { availabilityWaitMs, isPodActive, isPodTerminating, requeueAfter } from '../workload/pod-availability.ts'
import type { ControllerFamilies } from '../metrics/controller-families.ts'
import type { AppliedPlan, Change, Plan, PlanView } from '../runtime/controller.ts'
import { podCreation, podsBurstMax } from '../workload/pod-burst.ts'
import { createPod, deletePod, podFromTemplate } from '../workload/pod-from-template.ts'
import { rankedForDeletion } from '../workload/pod-ranking.ts'

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string | null
}

/** The fields that both kinds have. */
interface ReplicatedWorkload extends ApiObject {
  readonly spec: { readonly replicas: number; readonly minReadySeconds?: number }
  readonly status: { readonly conditions?: readonly Condition[] }
}

export interface ReplicasInput {
  readonly template: PodTemplateSpec
  /** The pods of all ReplicaSets of one Deployment: pods on a node with many of them are deleted first. */
  readonly related: () => readonly Pod[]
  /** Whether the kind's status has `terminatingReplicas`. */
  readonly countsTerminating: boolean
}

export function planReplicas(object: ReplicatedWorkload, input: ReplicasInput, view: PlanView): Plan {
  const { nowMs } = view
  const pods = view.owned(pod)
  const active = pods.filter(isPodActive)
  const missing = isBeingDeleted(object) ? 0 : object.spec.replicas - active.length
  const status = statusOf(object, pods, active, input, nowMs)
  const creation = missing > 0 ? podCreation(object, input.template, active, view) : undefined
  const changes = podChanges(object.metadata.name, missing, creation?.count ?? 0, active, input, nowMs)
  return {
    changes,
    measured: deletionAgeRatios(changes, active, nowMs),
    status,
    statusOnFailure: (error) => ({ ...status, ...failureConditions(object, missing, error, nowMs) }),
    ...requeueAfter(availabilityWaitMs(active, object.spec.minReadySeconds ?? 0, nowMs), creation?.waitMs),
  }
}

function podChanges(
  name: string,
  missing: number,
  createdMax: number,
  active: readonly Pod[],
  { template, related }: ReplicasInput,
  nowMs: number,
): Change[] {
  if (missing === 0) return []
  if (missing > 0) {
    const object = podFromTemplate(name, template)
    return Array.from({ length: Math.min(missing, createdMax) }, () => createPod(object))
  }
  const surplus = Math.min(-missing, podsBurstMax)
  // When all pods are deleted their order does not matter.
  const chosen = surplus === active.length ? active : rankedForDeletion(active, related(), nowMs).slice(0, surplus)
  return chosen.map(deletePod)
}

/**
 * As upstream measures the ranking: the ages of the ready pods that were chosen for deletion, in multiples of the age of the
 * youngest ready pod.
 */
function deletionAgeRatios(changes: readonly Change[], active: readonly Pod[], nowMs: number): readonly number[] {
  const chosen = changes.flatMap((change) => (change.kind === 'delete' ? [change.object as Pod] : []))
  if (chosen.length === 0 || chosen.length === active.length) return []
  const ageMs = ({ metadata }: Pod) => nowMs - Date.parse(metadata.creationTimestamp)
  const youngestMs = Math.max(1, leastOf(active.filter(isPodReady).map(ageMs)))
  return chosen.filter(isPodReady).map((each) => Math.floor(ageMs(each) / youngestMs))
}

/** Records what the plan of a ReplicaSet or ReplicationController measured. */
export function measureReplicas({ plan }: Pick<AppliedPlan, 'plan'>, metrics: ControllerFamilies): void {
  for (const ratio of (plan.measured ?? []) as readonly number[]) metrics.replicaSetDeletionAges.observe({}, ratio)
}

function statusOf(
  { metadata, spec, status }: ReplicatedWorkload,
  pods: readonly Pod[],
  active: readonly Pod[],
  { template, countsTerminating }: ReplicasInput,
  nowMs: number,
): object {
  const matchLabels = template.metadata.labels ?? {}
  const counts = {
    fullyLabeledReplicas: active.filter(({ metadata: { labels } }) => selects({ matchLabels }, labels)).length,
    readyReplicas: active.filter(isPodReady).length,
    availableReplicas: active.filter((each) => isPodAvailable(each, spec.minReadySeconds ?? 0, nowMs)).length,
  }
  const conditions = (status.conditions ?? []).filter(({ type }) => type !== failureType)
  return {
    replicas: active.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    ...(countsTerminating ? { terminatingReplicas: pods.filter(isPodTerminating).length } : {}),
    observedGeneration: metadata.generation ?? 0,
    ...(conditions.length === 0 ? {} : { conditions }),
  }
}

const failureType = 'ReplicaFailure'

function failureConditions({ status }: ReplicatedWorkload, missing: number, { message }: Error, nowMs: number): object {
  const before = status.conditions?.find(({ type }) => type === failureType)
  const others = (status.conditions ?? []).filter(({ type }) => type !== failureType)
  const failure: Condition = {
    type: failureType,
    status: 'True',
    reason: missing > 0 ? 'FailedCreate' : 'FailedDelete',
    message,
    lastTransitionTime: rfc3339(nowMs),
  }
  // A known failure keeps its condition, so that each retry does not write the status.
  return { conditions: [...others, before?.reason === failure.reason ? before : failure] }
}

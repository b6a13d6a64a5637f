// The status of a Deployment: counts over its ReplicaSets, and the conditions that kubectl rollout status waits for.
import { rfc3339 } from '../../base/clock.ts'
import type { Deployment, DeploymentCondition, DeploymentStatus } from '../../api/apps/v1/deployment.ts'
import type { ReplicaSet } from '../../api/apps/v1/replica-set.ts'
import { rollingBounds } from './replica-sets.ts'

type Counted = 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas'

const sum = (sets: readonly ReplicaSet[], name: Counted): number =>
  sets.reduce((total, { status }) => total + (status[name] ?? 0), 0)

interface Verdict {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

export function deploymentStatus(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  all: readonly ReplicaSet[],
  nowMs: number,
): DeploymentStatus {
  const { metadata, spec, status } = deployment
  const availableReplicas = sum(all, 'availableReplicas')
  const counts = {
    replicas: sum(all, 'replicas'),
    updatedReplicas: newSet?.status.replicas ?? 0,
    readyReplicas: sum(all, 'readyReplicas'),
    availableReplicas,
    unavailableReplicas: Math.max(0, all.reduce((total, set) => total + set.spec.replicas, 0) - availableReplicas),
  }
  const next: DeploymentStatus = {
    ...(status.collisionCount === undefined ? {} : { collisionCount: status.collisionCount }),
    observedGeneration: metadata.generation ?? 0,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    terminatingReplicas: sum(all, 'terminatingReplicas'),
  }
  const minAvailable = spec.replicas - rollingBounds(deployment).unavailable
  const availability: Verdict =
    availableReplicas >= minAvailable
      ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
      : {
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        }
  const progress = progressVerdict(deployment, next, newSet, nowMs)
  const isMoving = progress?.reason === 'ReplicaSetUpdated' && hasProgressed(status, next)
  const conditions = [...withCondition(status.conditions ?? [], 'Available', availability, nowMs, false)]
  return {
    ...next,
    conditions:
      progress === undefined ? conditions : withCondition(conditions, 'Progressing', progress, nowMs, isMoving),
  }
}

const conditionOf = ({ status }: Deployment, type: string): DeploymentCondition | undefined =>
  status.conditions?.find((condition) => condition.type === type)

const count = (value: number | undefined): number => value ?? 0

function isComplete({ spec }: Deployment, next: DeploymentStatus): boolean {
  return [next.updatedReplicas, next.replicas, next.availableReplicas].every((value) => count(value) === spec.replicas)
}

function hasProgressed(before: DeploymentStatus, next: DeploymentStatus): boolean {
  const oldReplicas = (status: DeploymentStatus) => count(status.replicas) - count(status.updatedReplicas)
  return (
    count(next.updatedReplicas) > count(before.updatedReplicas) ||
    oldReplicas(next) < oldReplicas(before) ||
    count(next.readyReplicas) > count(before.readyReplicas) ||
    count(next.availableReplicas) > count(before.availableReplicas)
  )
}

function progressVerdict(
  deployment: Deployment,
  next: DeploymentStatus,
  newSet: ReplicaSet | undefined,
  nowMs: number,
): Verdict | undefined {
  const name =
    newSet === undefined
      ? `Deployment ${JSON.stringify(deployment.metadata.name)}`
      : `ReplicaSet ${JSON.stringify(newSet.metadata.name)}`
  const current = conditionOf(deployment, 'Progressing')
  const wasComplete = current?.reason === 'NewReplicaSetAvailable'
  if (isComplete(deployment, next))
    return { status: 'True', reason: 'NewReplicaSetAvailable', message: `${name} has successfully progressed.` }
  if (current === undefined) {
    if (newSet === undefined) return undefined
    return {
      status: 'True',
      reason: 'NewReplicaSetCreated',
      message: `Created new replica set ${JSON.stringify(newSet.metadata.name)}`,
    }
  }
  if (hasProgressed(deployment.status, next))
    return { status: 'True', reason: 'ReplicaSetUpdated', message: `${name} is progressing.` }
  if (!wasComplete && progressLeftMs(deployment, nowMs) <= 0)
    return { status: 'False', reason: 'ProgressDeadlineExceeded', message: `${name} has timed out progressing.` }
  // A template or scale that changed after completion starts the clock anew.
  return wasComplete && count(next.updatedReplicas) < deployment.spec.replicas
    ? { status: 'True', reason: 'ReplicaSetUpdated', message: `${name} is progressing.` }
    : { status: current.status as 'True' | 'False', reason: current.reason ?? '', message: current.message ?? '' }
}

/** How long the rollout may still go without progress. */
export function progressLeftMs(deployment: Deployment, nowMs: number): number {
  const since = conditionOf(deployment, 'Progressing')?.lastUpdateTime
  return since === undefined ? Infinity : Date.parse(since) + deployment.spec.progressDeadlineSeconds * 1000 - nowMs
}

/** The conditions with this one changed. Times move only when something moves. */
function withCondition(
  conditions: readonly DeploymentCondition[],
  type: string,
  verdict: Verdict,
  nowMs: number,
  touch: boolean,
): DeploymentCondition[] {
  const before = conditions.find((condition) => condition.type === type)
  if (before?.status === verdict.status && before.reason === verdict.reason && !touch) return [...conditions]
  const now = rfc3339(nowMs)
  const lastTransitionTime = before?.status === verdict.status ? (before.lastTransitionTime ?? now) : now
  return [
    ...conditions.filter((condition) => condition.type !== type),
    { type, ...verdict, lastUpdateTime: now, lastTransitionTime },
  ]
}

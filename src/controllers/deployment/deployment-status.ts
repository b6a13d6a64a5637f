// The status of a Deployment: the sums over its ReplicaSets, and the conditions that `kubectl rollout status` reads.
import { rfc3339 } from '../../base/time/clock.ts'
import type { Deployment, DeploymentCondition, DeploymentStatus } from '../../api/apps/v1/deployment.ts'
import type { ReplicaSet } from '../../api/apps/v1/replica-set.ts'
import { rollingBounds } from './deployment-replica-sets.ts'

type Counted = 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas'

const sum = (sets: readonly ReplicaSet[], name: Counted): number =>
  sets.reduce((total, { status }) => total + (status[name] ?? 0), 0)

type Verdict = Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>
type Conditions = readonly DeploymentCondition[]

export interface StatusInput {
  readonly newSet: ReplicaSet | undefined
  readonly all: readonly ReplicaSet[]
  /** The name of the ReplicaSet that the same plan creates. */
  readonly created?: string
  readonly nowMs: number
}

export function deploymentStatus(deployment: Deployment, input: StatusInput): DeploymentStatus {
  const { metadata, spec, status } = deployment
  const counts = countsOf(input)
  const next: DeploymentStatus = {
    ...(status.collisionCount === undefined ? {} : { collisionCount: status.collisionCount }),
    observedGeneration: metadata.generation ?? 0,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    terminatingReplicas: sum(input.all, 'terminatingReplicas'),
  }
  let conditions = withPause(deployment, input.nowMs)
  if (input.created !== undefined && hasDeadline(deployment))
    conditions = withCondition(conditions, createdVerdict(input.created), input.nowMs)
  else if (
    conditionOf(conditions, 'Progressing') === undefined &&
    input.newSet !== undefined &&
    hasDeadline(deployment)
  )
    conditions = withCondition(conditions, foundVerdict(input.newSet.metadata.name), input.nowMs)
  conditions = withCondition(conditions, availability(spec.replicas, deployment, counts.availableReplicas), input.nowMs)
  if (!spec.paused) conditions = withProgress(deployment, next, conditions, input)
  conditions = withReplicaFailure(conditions, input)
  return conditions.length === 0 ? next : { ...next, conditions: [...conditions] }
}

function countsOf({ newSet, all }: StatusInput) {
  const availableReplicas = sum(all, 'availableReplicas')
  return {
    replicas: sum(all, 'replicas'),
    updatedReplicas: newSet?.status.replicas ?? 0,
    readyReplicas: sum(all, 'readyReplicas'),
    availableReplicas,
    unavailableReplicas: Math.max(0, all.reduce((total, set) => total + set.spec.replicas, 0) - availableReplicas),
  }
}

/** This value means no deadline. */
const noDeadlineSeconds = 2_147_483_647
export const hasDeadline = ({ spec }: Deployment): boolean => spec.progressDeadlineSeconds !== noDeadlineSeconds

const conditionOf = (conditions: Conditions, type: string): DeploymentCondition | undefined =>
  conditions.find((condition) => condition.type === type)

const availability = (replicas: number, deployment: Deployment, available: number): Verdict =>
  available >= replicas - rollingBounds(deployment).unavailable
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      }

const foundVerdict = (name: string): Verdict => ({
  type: 'Progressing',
  status: 'True',
  reason: 'FoundNewReplicaSet',
  message: `Found new replica set ${JSON.stringify(name)}`,
})

const createdVerdict = (name: string): Verdict => ({
  type: 'Progressing',
  status: 'True',
  reason: 'NewReplicaSetCreated',
  message: `Created new replica set ${JSON.stringify(name)}`,
})

export const creationFailed = (status: DeploymentStatus, name: string, error: Error, nowMs: number) => ({
  ...status,
  conditions: withCondition(
    status.conditions ?? [],
    {
      type: 'Progressing',
      status: 'False',
      reason: 'ReplicaSetCreateError',
      message: `Failed to create new replica set ${JSON.stringify(name)}: ${error.message}`,
    },
    nowMs,
  ),
})

/** Pausing and resuming restart the progress deadline: a paused rollout does not time out. */
function withPause(deployment: Deployment, nowMs: number): Conditions {
  const conditions = deployment.status.conditions ?? []
  const reason = conditionOf(conditions, 'Progressing')?.reason
  if (!hasDeadline(deployment) || reason === 'ProgressDeadlineExceeded') return conditions
  const isPaused = deployment.spec.paused ?? false
  if (isPaused === (reason === 'DeploymentPaused')) return conditions
  const verdict = isPaused
    ? { reason: 'DeploymentPaused', message: 'Deployment is paused' }
    : { reason: 'DeploymentResumed', message: 'Deployment is resumed' }
  return withCondition(conditions, { type: 'Progressing', status: 'Unknown', ...verdict }, nowMs)
}

function withProgress(
  deployment: Deployment,
  next: DeploymentStatus,
  conditions: Conditions,
  { newSet, nowMs }: StatusInput,
): Conditions {
  if (!hasDeadline(deployment)) return conditions.filter(({ type }) => type !== 'Progressing')
  const current = conditionOf(conditions, 'Progressing')
  if (current?.reason === 'NewReplicaSetAvailable' && count(next.replicas) === count(next.updatedReplicas))
    return conditions
  const name =
    newSet === undefined
      ? `Deployment ${JSON.stringify(deployment.metadata.name)}`
      : `ReplicaSet ${JSON.stringify(newSet.metadata.name)}`
  const verdict = (status: string, reason: string, message: string): Verdict => ({
    type: 'Progressing',
    status,
    reason,
    message: `${name} ${message}`,
  })
  if (isComplete(deployment, next))
    return withCondition(conditions, verdict('True', 'NewReplicaSetAvailable', 'has successfully progressed.'), nowMs)
  if (hasProgressed(deployment.status, next))
    return withCondition(conditions, verdict('True', 'ReplicaSetUpdated', 'is progressing.'), nowMs, true)
  if (isTimedOut(deployment, current, nowMs))
    return withCondition(conditions, verdict('False', 'ProgressDeadlineExceeded', 'has timed out progressing.'), nowMs)
  return conditions
}

const count = (value: number | undefined): number => value ?? 0

export const isComplete = ({ spec, metadata }: Deployment, next: DeploymentStatus): boolean =>
  [next.updatedReplicas, next.replicas, next.availableReplicas].every((value) => count(value) === spec.replicas) &&
  (next.observedGeneration ?? 0) >= (metadata.generation ?? 0)

function hasProgressed(before: DeploymentStatus, next: DeploymentStatus): boolean {
  const oldReplicas = (status: DeploymentStatus) => count(status.replicas) - count(status.updatedReplicas)
  return (
    count(next.updatedReplicas) > count(before.updatedReplicas) ||
    oldReplicas(next) < oldReplicas(before) ||
    count(next.readyReplicas) > count(before.readyReplicas) ||
    count(next.availableReplicas) > count(before.availableReplicas)
  )
}

function isTimedOut(deployment: Deployment, current: DeploymentCondition | undefined, nowMs: number): boolean {
  if (current === undefined || current.reason === 'NewReplicaSetAvailable') return false
  if (current.reason === 'ProgressDeadlineExceeded') return true
  return deadlineMs(deployment, current) < nowMs
}

const deadlineMs = ({ spec }: Deployment, { lastUpdateTime }: DeploymentCondition): number =>
  Date.parse(lastUpdateTime ?? '') + spec.progressDeadlineSeconds * 1000

/** How long until the progress deadline; undefined when none applies. */
export function progressLeftMs(deployment: Deployment, next: DeploymentStatus, nowMs: number): number | undefined {
  const current = conditionOf(next.conditions ?? [], 'Progressing')
  if (current === undefined || deployment.spec.paused || !hasDeadline(deployment)) return undefined
  if (
    isComplete(deployment, next) ||
    ['ProgressDeadlineExceeded', 'NewReplicaSetAvailable'].includes(current.reason ?? '')
  )
    return undefined
  return Math.max(0, deadlineMs(deployment, current) - nowMs) + 1000
}

/** Copies the ReplicaFailure condition of a ReplicaSet, the new one's first. */
function withReplicaFailure(conditions: Conditions, { newSet, all, nowMs }: StatusInput): Conditions {
  const failures = [...(newSet === undefined ? [] : [newSet]), ...all].flatMap(({ status }) =>
    (status.conditions ?? []).filter(({ type }) => type === 'ReplicaFailure'),
  )
  const [first] = failures
  if (first === undefined) return conditions.filter(({ type }) => type !== 'ReplicaFailure')
  const { type, status, reason, message } = first
  return withCondition(
    conditions,
    { type, status, ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) },
    nowMs,
  )
}

/** The conditions with this one last. Its times change only if it changes, or if `touch` is set. */
function withCondition(conditions: Conditions, verdict: Verdict, nowMs: number, touch = false): DeploymentCondition[] {
  const before = conditionOf(conditions, verdict.type)
  if (before?.status === verdict.status && before.reason === verdict.reason && !touch) return [...conditions]
  const now = rfc3339(nowMs)
  const lastTransitionTime = before?.status === verdict.status ? (before.lastTransitionTime ?? now) : now
  return [
    ...conditions.filter(({ type }) => type !== verdict.type),
    { ...verdict, lastUpdateTime: now, lastTransitionTime },
  ]
}

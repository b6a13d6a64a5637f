// Scaling decisions of a rollout: how many replicas each ReplicaSet should have next. Pure functions of the current
// state.
import type { Deployment } from '../../api/apps/v1/deployment.ts'
import type { ReplicaSet } from '../../api/apps/v1/replica-set.ts'
import {
  byAge,
  desiredReplicasAnnotation,
  maxReplicas,
  maxReplicasAnnotation,
  rollingBounds,
  totalReplicas,
} from './deployment-replica-sets.ts'

/** A ReplicaSet and its desired number of replicas. */
export interface Step {
  readonly set: ReplicaSet
  readonly replicas: number
}

const available = (sets: readonly ReplicaSet[]): number =>
  sets.reduce((sum, { status }) => sum + (status.availableReplicas ?? 0), 0)

/** How many replicas the new ReplicaSet may have now; the total never exceeds the surge. */
export function newReplicas(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  all: readonly ReplicaSet[],
): number {
  const { spec } = deployment
  const own = newSet?.spec.replicas ?? 0
  if (spec.strategy.type === 'Recreate') return spec.replicas
  const total = totalReplicas(all)
  const max = maxReplicas(deployment)
  if (own >= spec.replicas) return spec.replicas
  return total >= max ? own : own + Math.min(max - total, spec.replicas - own)
}

/** Scales old ReplicaSets down within the availability limit: first their unhealthy pods, then the others. */
export function oldSteps(deployment: Deployment, newSet: ReplicaSet, old: readonly ReplicaSet[]): Step[] {
  const all = [...old, newSet]
  if (totalReplicas(old) === 0) return []
  const minAvailable = deployment.spec.replicas - rollingBounds(deployment).unavailable
  const newUnavailable = newSet.spec.replicas - (newSet.status.availableReplicas ?? 0)
  let budget = totalReplicas(all) - minAvailable - newUnavailable
  if (budget <= 0) return []
  const next = new Map(old.map((set) => [set, set.spec.replicas]))
  for (const set of old.toSorted(byAge)) {
    const unhealthy = set.spec.replicas - (set.status.availableReplicas ?? 0)
    const gone = Math.min(budget, Math.max(0, unhealthy))
    next.set(set, set.spec.replicas - gone)
    budget -= gone
  }
  let spare = available(all) - minAvailable
  for (const set of old.toSorted(byAge)) {
    const gone = Math.min(Math.max(0, spare), next.get(set) ?? 0)
    next.set(set, (next.get(set) ?? 0) - gone)
    spare -= gone
  }
  return [...next]
    .filter(([set, replicas]) => replicas !== set.spec.replicas)
    .map(([set, replicas]) => ({ set, replicas }))
}

/** Whether the Deployment has been scaled since its ReplicaSets were last written. */
export const wasScaled = (deployment: Deployment, all: readonly ReplicaSet[]): boolean =>
  all.some(({ spec, metadata }) => {
    const desired = metadata.annotations?.[desiredReplicasAnnotation]
    return spec.replicas > 0 && desired !== undefined && Number(desired) !== deployment.spec.replicas
  })

/** Scaling during a rollout: the difference is distributed over all ReplicaSets in proportion to their size. */
export function proportionalSteps(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  all: readonly ReplicaSet[],
): Step[] {
  const active = all.filter(({ spec }) => spec.replicas > 0)
  const only =
    active.length === 0 ? (newSet ?? all.toSorted(byAge).at(-1)) : active.length === 1 ? active[0] : undefined
  if (only !== undefined)
    return only.spec.replicas === deployment.spec.replicas ? [] : [{ set: only, replicas: deployment.spec.replicas }]
  if (
    newSet !== undefined &&
    newSet.spec.replicas === deployment.spec.replicas &&
    (newSet.status.availableReplicas ?? 0) === deployment.spec.replicas
  )
    return active.filter((set) => set !== newSet).map((set) => ({ set, replicas: 0 }))
  if (deployment.spec.strategy.type !== 'RollingUpdate') return []
  const allowed = deployment.spec.replicas > 0 ? maxReplicas(deployment) : 0
  const toAdd = allowed - totalReplicas(active)
  if (toAdd === 0) return []
  let left = toAdd
  const sorted = active.toSorted((a, b) => b.spec.replicas - a.spec.replicas || (toAdd > 0 ? byAge(b, a) : byAge(a, b)))
  const steps = sorted.map((set) => {
    const share = shareOf(set, deployment, allowed)
    const given = toAdd > 0 ? Math.min(share, left) : Math.max(share, left)
    left -= given
    return { set, replicas: set.spec.replicas + given }
  })
  // The remainder from rounding goes to the largest.
  return steps
    .map((step, index) => (index === 0 ? { ...step, replicas: Math.max(0, step.replicas + left) } : step))
    .filter(({ set, replicas }) => replicas !== set.spec.replicas)
}

function shareOf({ spec, metadata }: ReplicaSet, deployment: Deployment, allowed: number): number {
  if (deployment.spec.replicas === 0) return -spec.replicas
  const before = Number(metadata.annotations?.[maxReplicasAnnotation] ?? 0) || (deployment.status.replicas ?? 0)
  return before === 0 ? 0 : Math.round((spec.replicas * allowed) / before) - spec.replicas
}

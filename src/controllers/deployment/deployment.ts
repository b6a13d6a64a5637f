// Deployment: rolls out a pod template over ReplicaSets, within the limits of its strategy.
import type { EventNote } from '../../client/events/event-recorder.ts'
import { deployment, type Deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet, type ReplicaSet } from '../../api/apps/v1/replica-set.ts'
import { isBeingDeleted, namespaceOf, objectKey } from '../../api/meta/object.ts'
import { selects } from '../../api/selectors/selectors.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { requeueAfter } from '../workload/pod-availability.ts'
import { defineController, type Change, type Plan, type PlanView } from '../runtime/controller.ts'
import {
  annotationsFor,
  byAge,
  findNew,
  newReplicaSet,
  newReplicaSetName,
  revisionAnnotation,
  revisionOfSet,
  sizeAnnotations,
} from './deployment-replica-sets.ts'
import { newReplicas, oldSteps, proportionalSteps, wasScaled, type Step } from './replica-set-scaling.ts'
import { creationFailed, deploymentStatus, isComplete, progressLeftMs } from './deployment-status.ts'

export const deploymentController = defineController<Deployment>({
  name: 'deployment',
  account: 'deployment-controller',
  reconciles: deployment,
  owns: [replicaSet],
  claims: ({ spec }, { metadata }) => selects(spec.selector, metadata.labels),
  plan(object, view) {
    const all = view.owned(replicaSet)
    const newSet = findNew(object, all)
    const old = all.filter((set) => set !== newSet)
    if (!isBeingDeleted(object) && isReadyForNew(object, newSet, old)) return createNew(object, old, view)
    const status = deploymentStatus(object, { newSet, all, nowMs: view.nowMs })
    if (isBeingDeleted(object)) return { changes: [], status }
    return {
      changes: nextChanges(object, newSet, old),
      status,
      ...requeueAfter(progressLeftMs(object, status, view.nowMs)),
    }
  },
})

/**
 * A ReplicaSet is created when the template has none; the strategy Recreate first waits until all old pods are gone.
 */
function isReadyForNew(object: Deployment, newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): boolean {
  if (newSet !== undefined || object.spec.paused || wasScaled(object, old)) return false
  return object.spec.strategy.type !== 'Recreate' || !old.some((set) => set.spec.replicas > 0 || hasPods(set))
}

function createNew(object: Deployment, old: readonly ReplicaSet[], { find, nowMs }: PlanView): Plan {
  const name = newReplicaSetName(object)
  const deps = { newSet: undefined, all: old, nowMs }
  if (find(replicaSet, objectKey(namespaceOf(object), name)) !== undefined) {
    // Another object has the name. The next name is hashed with the incremented collision count.
    const status = deploymentStatus(object, deps)
    return { changes: [], status: { ...status, collisionCount: (object.status.collisionCount ?? 0) + 1 } }
  }
  const replicas = newReplicas(object, undefined, old)
  const status = deploymentStatus(object, { ...deps, created: name })
  const create: Change = {
    kind: 'create',
    of: replicaSet,
    object: newReplicaSet(object, replicas, nextRevision(undefined, old)),
    ...(replicas === 0 ? {} : { event: () => scaledNote(name, 0, replicas) }),
    failureEvent: ({ message }) => ({
      type: 'Warning',
      reason: 'ReplicaSetCreateError',
      message: `Failed to create new replica set ${JSON.stringify(name)}: ${message}`,
    }),
  }
  return { changes: [create], status, statusOnFailure: (error) => creationFailed(object.status, name, error, nowMs) }
}

/** The next step of the rollout only. The step after it is planned when its effect is observed. */
function nextChanges(object: Deployment, newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): Change[] {
  const all = newSet === undefined ? old : [...old, newSet]
  if (object.spec.paused || wasScaled(object, all)) {
    const scaled = scaleAll(object, proportionalSteps(object, newSet, all), all)
    return scaled.length > 0 || !object.spec.paused ? scaled : cleanUp(object, old)
  }
  if (newSet === undefined) return recreate(object, undefined, old)
  const revision = nextRevision(newSet, old)
  const annotated = [...annotateDeployment(object, revision), ...annotateNew(object, newSet, revision)]
  if (annotated.length > 0) return annotated
  const rollout = object.spec.strategy.type === 'Recreate' ? recreate(object, newSet, old) : roll(object, newSet, old)
  if (rollout.length > 0) return rollout
  return isComplete(object, object.status) ? cleanUp(object, old) : []
}

function nextRevision(newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): bigint {
  const next = old.map(revisionOfSet).reduce((highest, each) => (each > highest ? each : highest), 0n) + 1n
  const own = newSet === undefined ? 0n : revisionOfSet(newSet)
  return own > next ? own : next
}

function annotateDeployment(object: Deployment, revision: bigint): Change[] {
  if (object.metadata.annotations?.[revisionAnnotation] === String(revision)) return []
  const annotations = { ...object.metadata.annotations, [revisionAnnotation]: String(revision) }
  const annotated = { ...object, metadata: { ...object.metadata, annotations } }
  // The revision is bookkeeping of the controller, so it must not increment the generation.
  return [{ kind: 'update', of: deployment, through: 'status', object: annotated }]
}

function annotateNew(object: Deployment, set: ReplicaSet, revision: bigint): Change[] {
  const annotations = annotationsFor(object, set.metadata.annotations ?? {}, revision)
  const minReadySeconds = object.spec.minReadySeconds ?? 0
  if (equalValues(annotations, set.metadata.annotations) && (set.spec.minReadySeconds ?? 0) === minReadySeconds)
    return []
  const updated = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, minReadySeconds } }
  return [{ kind: 'update', of: replicaSet, object: updated }]
}

const hasPods = ({ status }: ReplicaSet): boolean => (status.replicas ?? 0) + (status.terminatingReplicas ?? 0) > 0

function roll(object: Deployment, newSet: ReplicaSet, old: readonly ReplicaSet[]): Change[] {
  const replicas = newReplicas(object, newSet, [...old, newSet])
  if (replicas !== newSet.spec.replicas) return scaleAll(object, [{ set: newSet, replicas }], [])
  return scaleAll(object, oldSteps(object, newSet, old), [])
}

function recreate(object: Deployment, newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): Change[] {
  const active = old.filter(({ spec }) => spec.replicas > 0)
  const ending = active.map((set) => ({ set, replicas: 0 }))
  if (active.length > 0) return scaleAll(object, ending, [])
  if (newSet === undefined || old.some(hasPods) || newSet.spec.replicas === object.spec.replicas) return []
  return scaleAll(object, [{ set: newSet, replicas: object.spec.replicas }], [])
}

/** Scales the sets of the steps. The `annotated` sets get the current size annotations even if they are not scaled. */
function scaleAll(object: Deployment, steps: readonly Step[], annotated: readonly ReplicaSet[]): Change[] {
  const scaled = new Set(steps.map(({ set }) => set))
  const kept = annotated
    .filter((set) => !scaled.has(set) && set.spec.replicas > 0)
    .map((set) => ({ set, replicas: set.spec.replicas }))
  return [...steps, ...kept].flatMap(({ set, replicas }): Change[] => {
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(object) }
    const before = set.spec.replicas
    if (replicas === before && equalValues(annotations, set.metadata.annotations)) return []
    const updated = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } }
    const scaledEvent = { event: () => scaledNote(set.metadata.name, before, replicas) }
    return [{ kind: 'update', of: replicaSet, object: updated, ...(before === replicas ? {} : scaledEvent) }]
  })
}

const scaledNote = (name: string, from: number, to: number): EventNote => ({
  type: 'Normal',
  reason: 'ScalingReplicaSet',
  message: `Scaled ${to > from ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`,
})

const compareRevisions = (a: ReplicaSet, b: ReplicaSet): number => {
  const left = revisionOfSet(a)
  const right = revisionOfSet(b)
  return left === right ? 0 : left < right ? -1 : 1
}

/** Deletes old ReplicaSets without pods beyond the history limit, the oldest revision first. */
function cleanUp({ spec }: Deployment, old: readonly ReplicaSet[]): Change[] {
  const alive = old.filter((set) => !isBeingDeleted(set))
  const surplus = alive.length - spec.revisionHistoryLimit
  if (surplus <= 0) return []
  return alive
    .toSorted((a, b) => compareRevisions(a, b) || byAge(a, b))
    .slice(0, surplus)
    .filter(
      (set) =>
        set.spec.replicas === 0 &&
        !hasPods(set) &&
        (set.status.observedGeneration ?? 0) >= (set.metadata.generation ?? 0),
    )
    .map((set) => ({ kind: 'delete', of: replicaSet, object: set }))
}

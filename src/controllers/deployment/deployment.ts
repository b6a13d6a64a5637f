// Deployment: rolls its pods from one template to the next, within the bounds that its strategy sets.
import type { EventNote } from '../../client/event-recorder.ts'
import { deployment, type Deployment } from '../../api/apps/v1/deployment.ts'
import { replicaSet, type ReplicaSet } from '../../api/apps/v1/replica-set.ts'
import { isBeingDeleted } from '../../api/object.ts'
import { equalValues } from '../../schema/json-value.ts'
import { defineController, type Change, type Plan } from '../controller.ts'
import {
  annotationsFor,
  byAge,
  findNew,
  newReplicaSet,
  revisionAnnotation,
  revisionOfSet,
  totalReplicas,
} from './replica-sets.ts'
import { newReplicas, oldSteps, proportionalSteps, wasScaled, type Step } from './scaling.ts'
import { deploymentStatus, progressLeftMs } from './status.ts'

export const deploymentController = defineController<Deployment>({
  name: 'deployment',
  component: 'deployment-controller',
  reconciles: deployment,
  owns: [replicaSet],
  plan(object, { owned, nowMs }) {
    const all = owned(replicaSet)
    const newSet = findNew(object, all)
    const old = all.filter((set) => set !== newSet)
    const status = deploymentStatus(object, newSet, all, nowMs)
    const leftMs = progressLeftMs(object, nowMs)
    const isWatched = Number.isFinite(leftMs) && leftMs > 0 && !isFinished(status)
    const requeue = isWatched ? { requeueAfterMs: leftMs + 1000 } : {}
    if (isBeingDeleted(object)) return { changes: [], status }
    return { ...nextChanges(object, newSet, old), status, ...requeue }
  },
})

const isFinished = ({ conditions = [] }: Deployment['status']): boolean =>
  conditions.some(
    ({ type, reason }) =>
      type === 'Progressing' && (reason === 'NewReplicaSetAvailable' || reason === 'ProgressDeadlineExceeded'),
  )

/** The next step of the rollout, and only that: what follows is planned once its effect is seen. */
function nextChanges(
  object: Deployment,
  newSet: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Pick<Plan, 'changes'> {
  const all = newSet === undefined ? old : [...old, newSet]
  if (object.spec.paused || wasScaled(object, all))
    return { changes: scaleAll(object, proportionalSteps(object, newSet, all), all) }
  const revision = nextRevision(newSet, old)
  const annotated = annotateDeployment(object, revision)
  if (newSet === undefined) return { changes: [...annotated, ...createNew(object, old, revision)] }
  const step = annotateNew(object, newSet, revision)
  if (annotated.length + step.length > 0) return { changes: [...annotated, ...step] }
  const rollout = object.spec.strategy.type === 'Recreate' ? recreate(object, newSet, old) : roll(object, newSet, old)
  return { changes: rollout.length > 0 ? rollout : cleanUp(object, old) }
}

const nextRevision = (newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): number =>
  Math.max(revisionOfSet(newSet ?? ({ metadata: {} } as ReplicaSet)), Math.max(0, ...old.map(revisionOfSet)) + 1)

function annotateDeployment(object: Deployment, revision: number): Change[] {
  if (object.metadata.annotations?.[revisionAnnotation] === String(revision)) return []
  const annotations = { ...object.metadata.annotations, [revisionAnnotation]: String(revision) }
  return [
    {
      kind: 'update',
      of: deployment,
      object: { ...object, metadata: { ...object.metadata, annotations } },
    },
  ]
}

function annotateNew(object: Deployment, set: ReplicaSet, revision: number): Change[] {
  const annotations = annotationsFor(object, set.metadata.annotations ?? {}, revision)
  const minReadySeconds = object.spec.minReadySeconds ?? 0
  if (equalValues(annotations, set.metadata.annotations) && (set.spec.minReadySeconds ?? 0) === minReadySeconds)
    return []
  const updated = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, minReadySeconds } }
  return [{ kind: 'update', of: replicaSet, object: updated }]
}

function createNew(object: Deployment, old: readonly ReplicaSet[], revision: number): Change[] {
  if (object.spec.strategy.type === 'Recreate' && (totalReplicas(old) > 0 || old.some(hasPods)))
    return scaleAll(
      object,
      old.filter(({ spec }) => spec.replicas > 0).map((set) => ({ set, replicas: 0 })),
      old,
    )
  const replicas = newReplicas(object, undefined, old)
  const made = newReplicaSet(object, replicas, revision)
  return [
    {
      kind: 'create',
      of: replicaSet,
      object: made,
      ...(replicas === 0 ? {} : { tell: ({ metadata }) => scaledNote(metadata.name, 0, replicas) }),
    },
  ]
}

const hasPods = ({ status }: ReplicaSet): boolean => (status.replicas ?? 0) + (status.terminatingReplicas ?? 0) > 0

function roll(object: Deployment, newSet: ReplicaSet, old: readonly ReplicaSet[]): Change[] {
  const replicas = newReplicas(object, newSet, [...old, newSet])
  if (replicas !== newSet.spec.replicas) return scaleAll(object, [{ set: newSet, replicas }], [])
  return scaleAll(object, oldSteps(object, newSet, old), [])
}

function recreate(object: Deployment, newSet: ReplicaSet, old: readonly ReplicaSet[]): Change[] {
  const active = old.filter(({ spec }) => spec.replicas > 0)
  if (active.length > 0)
    return scaleAll(
      object,
      active.map((set) => ({ set, replicas: 0 })),
      [],
    )
  if (old.some(hasPods) || newSet.spec.replicas === object.spec.replicas) return []
  return scaleAll(object, [{ set: newSet, replicas: object.spec.replicas }], [])
}

/** Scales the sets of the steps; `annotated` sets are told the present bounds even when their number stays. */
function scaleAll(object: Deployment, steps: readonly Step[], annotated: readonly ReplicaSet[]): Change[] {
  const scaled = new Set(steps.map(({ set }) => set))
  const kept = annotated
    .filter((set) => !scaled.has(set) && set.spec.replicas > 0)
    .map((set) => ({ set, replicas: set.spec.replicas }))
  return [...steps, ...kept].flatMap(({ set, replicas }): Change[] => {
    const annotations = annotationsFor(object, set.metadata.annotations ?? {}, revisionOfSet(set))
    if (replicas === set.spec.replicas && equalValues(annotations, set.metadata.annotations)) return []
    const updated = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } }
    const before = set.spec.replicas
    return [
      {
        kind: 'update',
        of: replicaSet,
        object: updated,
        ...(before === replicas ? {} : { tell: () => scaledNote(set.metadata.name, before, replicas) }),
      },
    ]
  })
}

const scaledNote = (name: string, from: number, to: number): EventNote => ({
  type: 'Normal',
  reason: 'ScalingReplicaSet',
  message: `Scaled ${to > from ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`,
})

/** Old ReplicaSets beyond the history limit go, the oldest revision first, once nothing runs in them. */
function cleanUp({ spec }: Deployment, old: readonly ReplicaSet[]): Change[] {
  const surplus = old.length - spec.revisionHistoryLimit
  if (surplus <= 0) return []
  const idle = old.filter(
    (set) =>
      set.spec.replicas === 0 &&
      !hasPods(set) &&
      set.status.observedGeneration === set.metadata.generation &&
      !isBeingDeleted(set),
  )
  return idle
    .toSorted((a, b) => revisionOfSet(a) - revisionOfSet(b) || byAge(a, b))
    .slice(0, surplus)
    .map((set) => ({ kind: 'delete', of: replicaSet, object: set }))
}

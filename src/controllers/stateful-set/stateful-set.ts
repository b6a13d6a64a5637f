// StatefulSet: pods with stable names, order and volume claims; scaled and updated in order or in parallel.
import { append } from '../../base/collections/append.ts'
import { controllerRevision, type ControllerRevision } from '../../api/apps/v1/controller-revision.ts'
import { statefulSet, type StatefulSet } from '../../api/apps/v1/stateful-set.ts'
import { resolveCount } from '../../api/validation/count-or-percent.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { isPodAvailable, isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted, keyOf, namespaceOf, objectKey } from '../../api/meta/object.ts'
import { selects } from '../../api/selectors/selectors.ts'
import { availabilityWaitMs, requeueAfter } from '../workload/pod-availability.ts'
import { defineController, type Change, type PlanView } from '../runtime/controller.ts'
import { planRevision, surplusRevisions } from '../workload/controller-revisions.ts'
import { podBurstOf, podCreation, podsBurstMax, waitingPods, type PodCreation } from '../workload/pod-burst.ts'
import {
  claimNames,
  isInRange,
  missingLabels,
  newClaim,
  newPod,
  ordinalOf,
  podName,
  revisionNameOf,
  startOrdinal,
} from './pod-identity.ts'
import { isStale, ownClaim } from './claim-retention.ts'
import { isRunningAndReady, statefulSetStatus } from './stateful-set-status.ts'

export const statefulSetController = defineController<StatefulSet>({
  name: 'stateful-set',
  account: 'statefulset-controller',
  reconciles: statefulSet,
  owns: [controllerRevision, pod],
  indexes: [waitingPods],
  watches: [
    {
      kind: persistentVolumeClaim,
      enqueues: ({ now, before }, { within }) => {
        const claim = now ?? before
        if (claim === undefined) return []
        const isOurs = (set: StatefulSet) =>
          (set.spec.volumeClaimTemplates ?? []).some(({ metadata }) =>
            claim.metadata.name.startsWith(`${metadata.name}-${set.metadata.name}-`),
          )
        return within(statefulSet, namespaceOf(claim)).filter(isOurs).map(keyOf)
      },
    },
  ],
  claims: (set, candidate) =>
    selects(set.spec.selector, candidate.metadata.labels) &&
    (candidate.kind !== pod.kind || ordinalOf(set, candidate) >= 0),
  plan(object, view) {
    const found = planRevision(object, 'controller.kubernetes.io/hash', view)
    if (found.kind === 'change') return { changes: isBeingDeleted(object) ? [] : [found.change] }
    if (found.kind === 'collision')
      return { changes: [], status: { ...object.status, collisionCount: (object.status.collisionCount ?? 0) + 1 } }
    const { revision: update, revisions } = found
    const current = revisions.find(({ metadata }) => metadata.name === object.status.currentRevision) ?? update
    const pods = view.owned(pod).filter((each) => ordinalOf(object, each) >= 0)
    const status = statefulSetStatus(object, pods, current, update, view.nowMs)
    const waitMs = availabilityWaitMs(pods, object.spec.minReadySeconds ?? 0, view.nowMs)
    if (isBeingDeleted(object)) return { changes: [], status, ...requeueAfter(waitMs) }
    const creation = podCreation(object, object.spec, pods, view)
    const rollout = { set: object, pods, current, update, creation, view }
    const changes = nextChanges(rollout)
    const live = new Set([current.metadata.name, update.metadata.name, ...pods.map(revisionNameOf)])
    const history = surplusRevisions(object, revisions, ({ metadata }) => live.has(metadata.name))
    return { changes: [...changes, ...history], status, ...requeueAfter(waitMs, creation.waitMs) }
  },
})

interface Rollout {
  readonly set: StatefulSet
  readonly pods: readonly Pod[]
  readonly current: ControllerRevision
  readonly update: ControllerRevision
  readonly creation: PodCreation
  readonly view: PlanView
}

/**
 * The changes for the first ordinal that needs any; with the pod management policy Parallel for all ordinals, up to the
 * burst. An ordinal needs no change only if its pod or one of its claims exists, and ends the loop if it needs a pod that
 * may not be created yet, so the loop is as long as what exists and one burst, however many replicas are wanted.
 */
function nextChanges(rollout: Rollout): Change[] {
  const { set, pods, creation } = rollout
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel'
  const burst = podBurstOf(set.spec)
  const byOrdinal = new Map(pods.map((each) => [ordinalOf(set, each), each]))
  const changes: Change[] = []
  let missing = 0
  for (let ordinal = startOrdinal(set); isInRange(set, ordinal); ordinal++) {
    const existing = byOrdinal.get(ordinal)
    if (existing === undefined && ++missing > creation.count) return changes
    const step = fillOrdinal(rollout, ordinal, existing)
    append(changes, step.changes)
    if (changes.length >= burst) return changes.slice(0, burst)
    if (isOrdered && !step.isSettled) return changes
  }
  const condemned = pods
    .filter((each) => !isInRange(set, ordinalOf(set, each)))
    .toSorted((a, b) => ordinalOf(set, b) - ordinalOf(set, a))
  const firstUnhealthy = condemned.findLast((each) => !isHealthy(rollout, each))
  for (const leaving of condemned) {
    if (changes.length >= burst) break
    append(changes, ownedClaims(rollout, leaving))
    if (!isBeingDeleted(leaving) && (!isOrdered || isHealthy(rollout, leaving) || leaving === firstUnhealthy))
      changes.push(deletePod(set, leaving))
    if (isOrdered) return changes
  }
  return changes.length > 0 ? changes.slice(0, burst) : replaceOutdated(rollout)
}

const isHealthy = ({ set, view }: Rollout, each: Pod): boolean =>
  !isBeingDeleted(each) && isRunningAndReady(each) && isPodAvailable(each, set.spec.minReadySeconds ?? 0, view.nowMs)

const noChanges: readonly Change[] = []

interface OrdinalStep {
  readonly changes: readonly Change[]
  /** Whether the next ordinal may be processed. */
  readonly isSettled: boolean
}

function fillOrdinal(rollout: Rollout, ordinal: number, existing: Pod | undefined): OrdinalStep {
  const { set } = rollout
  if (existing === undefined) {
    const isReady = !hasStaleClaim(rollout, ordinal)
    const missing = missingClaims(rollout, ordinal)
    if (!isReady || missing.length > 0) return { changes: isReady ? missing : [], isSettled: false }
    return { changes: [createPod(rollout, ordinal)], isSettled: false }
  }
  if (isBeingDeleted(existing)) return { changes: [], isSettled: false }
  if (isPodFinished(existing)) return { changes: [deletePod(set, existing)], isSettled: false }
  const missing = missingLabels(set, existing, ordinal)
  const relabel: readonly Change[] =
    missing === undefined
      ? noChanges
      : [
          {
            kind: 'patch',
            of: pod,
            object: existing,
            patch: { metadata: { uid: existing.metadata.uid, labels: missing } },
          },
        ]
  const claims = existing.status.phase === 'Pending' ? missingClaims(rollout, ordinal) : noChanges
  const owned = ownedClaims(rollout, existing)
  const isUnchanged = relabel.length + claims.length + owned.length === 0
  return {
    changes: isUnchanged ? noChanges : [...relabel, ...claims, ...owned],
    isSettled: isHealthy(rollout, existing),
  }
}

const claimOf = ({ set, view }: Rollout, name: string) =>
  view.find(persistentVolumeClaim, objectKey(namespaceOf(set), name))

const hasStaleClaim = (rollout: Rollout, ordinal: number): boolean =>
  claimNames(rollout.set, ordinal).some((name) => {
    const claim = claimOf(rollout, name)
    return claim !== undefined && (isBeingDeleted(claim) || isStale(claim, podName(rollout.set, ordinal)))
  })

const missingClaims = ({ set, view }: Rollout, ordinal: number): readonly Change[] =>
  (set.spec.volumeClaimTemplates ?? []).length === 0
    ? noChanges
    : claimNames(set, ordinal)
        .map((name, index) => ({ name, index }))
        .filter(({ name }) => view.find(persistentVolumeClaim, objectKey(namespaceOf(set), name)) === undefined)
        .slice(0, podBurstOf(set.spec))
        .map(({ name, index }) => createClaim(set, ordinal, name, index))

function createClaim(set: StatefulSet, ordinal: number, name: string, index: number): Change {
  const of = `${podName(set, ordinal)} in StatefulSet ${set.metadata.name}`
  return {
    kind: 'create',
    of: persistentVolumeClaim,
    object: newClaim(set, name, index),
    event: () => ({
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Create Claim ${name} Pod ${of} success`,
    }),
    failureEvent: ({ message }) => ({
      type: 'Warning',
      reason: 'FailedCreate',
      message: `Create Claim ${name} for Pod ${of} failed error: ${message}`,
    }),
  }
}

function ownedClaims(rollout: Rollout, each: Pod): readonly Change[] {
  const { set } = rollout
  if ((set.spec.volumeClaimTemplates ?? []).length === 0) return noChanges
  return claimNames(set, ordinalOf(set, each)).flatMap((name) => {
    const claim = claimOf(rollout, name)
    return claim === undefined ? [] : ownClaim(set, each, claim)
  })
}

/** A pod below the partition is recreated with the current revision, not the updated one. */
function createPod({ set, current, update }: Rollout, ordinal: number): Change {
  const { type, rollingUpdate } = set.spec.updateStrategy
  const isHeldBack = type === 'RollingUpdate' && ordinal < startOrdinal(set) + (rollingUpdate?.partition ?? 0)
  return {
    kind: 'create',
    of: pod,
    object: newPod(set, ordinal, isHeldBack ? current : update),
    ...podEvents(set, 'Create', podName(set, ordinal)),
  }
}

const deletePod = (set: StatefulSet, object: Pod): Change => ({
  kind: 'delete',
  of: pod,
  object,
  ...podEvents(set, 'Delete', object.metadata.name),
})

const podEvents = (
  set: StatefulSet,
  verb: 'Create' | 'Delete',
  name: string,
): Pick<Change, 'event' | 'failureEvent'> => {
  const what = `${verb} Pod ${name} in StatefulSet ${set.metadata.name}`
  return {
    event: () => ({ type: 'Normal', reason: `Successful${verb}`, message: `${what} successful` }),
    failureEvent: ({ message }) => ({
      type: 'Warning',
      reason: `Failed${verb}`,
      message: `${what} failed error: ${message}`,
    }),
  }
}

/** Deletes outdated pods from the highest ordinal down to the partition, within maxUnavailable. */
function replaceOutdated(rollout: Rollout): Change[] {
  const { set, pods, update } = rollout
  const { type, rollingUpdate } = set.spec.updateStrategy
  if (type !== 'RollingUpdate') return []
  const { maxUnavailable, partition = 0 } = rollingUpdate ?? {}
  const unavailableMax = Math.max(
    1,
    maxUnavailable === undefined ? 1 : resolveCount(maxUnavailable, set.spec.replicas, 'up'),
  )
  const inOrder = pods
    .filter((each) => isInRange(set, ordinalOf(set, each)))
    .toSorted((a, b) => ordinalOf(set, b) - ordinalOf(set, a))
  // An explicit maxUnavailable applies to all pods, including those below the partition.
  const isCounted = (each: Pod) => maxUnavailable !== undefined && ordinalOf(set, each) < startOrdinal(set) + partition
  let unavailable = inOrder.filter((each) => isCounted(each) && !isHealthy(rollout, each)).length
  const outdated: Pod[] = []
  for (const each of inOrder) {
    if (ordinalOf(set, each) < startOrdinal(set) + partition) break
    if (unavailable >= unavailableMax || outdated.length >= podsBurstMax) break
    const isOutdated = revisionNameOf(each) !== update.metadata.name && !isBeingDeleted(each)
    if (isOutdated) outdated.push(each)
    if (isOutdated || !isHealthy(rollout, each)) unavailable++
  }
  return outdated.map((each) => deletePod(set, each))
}

// DaemonSet: one pod on each matching node, replaced when the template changes.
import { append } from '../../base/collections/append.ts'
import { leastOf } from '../../base/collections/extremes.ts'
import { controllerRevision } from '../../api/apps/v1/controller-revision.ts'
import { daemonSet, type DaemonSet } from '../../api/apps/v1/daemon-set.ts'
import type { DaemonSetStatus } from '../../api/apps/v1/daemon-set-spec.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { isPodAvailable, isPodFinished, isPodReady } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted, keyOf } from '../../api/meta/object.ts'
import { selects } from '../../api/selectors/selectors.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import { availabilityWaitMs, requeueAfter } from '../workload/pod-availability.ts'
import { defineController, type Change, type Plan } from '../runtime/controller.ts'
import { podBurstOf, podsBurstMax } from '../workload/pod-burst.ts'
import { createPod, deletePod } from '../workload/pod-from-template.ts'
import { hashOfRevision, planRevision, surplusRevisions } from '../workload/controller-revisions.ts'
import { FailedPodBackoff } from './failed-pod-backoff.ts'
import {
  daemonPod,
  generationLabel,
  hashLabel,
  isRelevantChange,
  nodeVerdict,
  targetNode,
  templateGeneration,
} from './node-placement.ts'
import { rollingUpdate, surgeOf, type NodePods } from './daemon-set-update.ts'

export const daemonSetController = defineController<DaemonSet>({
  name: 'daemon-set',
  account: 'daemon-set-controller',
  component: 'daemonset-controller',
  reconciles: daemonSet,
  owns: [controllerRevision, pod],
  measureStale: ({ daemonSetStaleSyncs }) =>
    daemonSetStaleSyncs.add({ group: daemonSet.group, resource: daemonSet.plural }),
  watches: [
    {
      kind: node,
      enqueues: ({ now, before }, { all }) =>
        isRelevantChange(now as Node | undefined, before as Node | undefined) ? all(daemonSet).map(keyOf) : [],
    },
  ],
  claims: ({ spec }, { metadata }) => selects(spec.selector, metadata.labels),
  plan(object, view) {
    const found = planRevision(object, hashLabel, view)
    if (found.kind === 'change') return { changes: isBeingDeleted(object) ? [] : [found.change] }
    if (found.kind === 'collision')
      return { changes: [], status: { ...object.status, collisionCount: (object.status.collisionCount ?? 0) + 1 } }
    const hash = hashOfRevision(found.revision, object)
    const generation = templateGeneration(object)
    const isUpdated = ({ metadata: { labels } }: Pod) =>
      labels?.[hashLabel] === hash || (generation !== undefined && labels?.[generationLabel] === generation)
    const pods = view.owned(pod)
    const places = nodePlacements(object, pods, view.all(node))
    const status = statusOf(object, places, isUpdated, view.nowMs)
    const waitMs = availabilityWaitMs(pods, object.spec.minReadySeconds ?? 0, view.nowMs)
    if (isBeingDeleted(object)) return { changes: [], status, ...requeueAfter(waitMs) }
    const failures = FailedPodBackoff.restore(view.state, hash, view.nowMs)
    const placed = placePods(object, places, failures, isUpdated, hash)
    const running = places.filter(({ verdict }) => verdict === 'run')
    const rolled =
      placed.changes.length === 0 && object.spec.updateStrategy.type === 'RollingUpdate'
        ? rollingUpdate({ object, hash, nodes: running, isUpdated, nowMs: view.nowMs })
        : []
    const live = new Set([hash, ...pods.map(({ metadata }) => metadata.labels?.[hashLabel])])
    const history = surplusRevisions(object, found.revisions, (revision) => live.has(hashOfRevision(revision, object)))
    return {
      changes: [...placed.changes, ...rolled, ...history],
      events: placed.events,
      status,
      ...requeueAfter(waitMs, placed.waitMs),
      nextState: failures.state,
    }
  },
})

interface NodePlacement extends NodePods {
  readonly verdict: 'run' | 'continue' | 'leave' | 'gone'
}

/** Every node with its pods and the pods that target it, oldest first; including nodes that no longer exist. */
function nodePlacements(object: DaemonSet, pods: readonly Pod[], nodes: readonly Node[]): NodePlacement[] {
  const byNode = new Map<string, Pod[]>(nodes.map(({ metadata }) => [metadata.name, []]))
  for (const each of pods) {
    if (isBeingDeleted(each) && isPodFinished(each)) continue
    const name = targetNode(each) ?? ''
    const list = byNode.get(name)
    if (list === undefined) byNode.set(name, [each])
    else list.push(each)
  }
  const verdicts = new Map(nodes.map((each) => [each.metadata.name, nodeVerdict(object, each)]))
  return [...byNode]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([nodeName, there]) => ({
      nodeName,
      pods: there.toSorted(byAge),
      verdict: verdicts.get(nodeName) ?? ('gone' as const),
    }))
}

const byAge = (a: Pod, b: Pod): number => {
  const bound = Number(b.spec.nodeName !== undefined) - Number(a.spec.nodeName !== undefined)
  if (bound !== 0) return bound
  const left = a.metadata.creationTimestamp
  const right = b.metadata.creationTimestamp
  return left === right ? (a.metadata.name < b.metadata.name ? -1 : 1) : left < right ? -1 : 1
}

interface PlacementChanges {
  readonly changes: readonly Change[]
  readonly events: readonly EventNote[]
  readonly waitMs: number | undefined
}

/** Creates missing pods, and deletes misplaced, finished and duplicate ones. */
function placePods(
  object: DaemonSet,
  places: readonly NodePlacement[],
  failures: FailedPodBackoff,
  isUpdated: (pod: Pod) => boolean,
  hash: string,
): PlacementChanges {
  const missing: string[] = []
  const removed: Pod[] = []
  const events: EventNote[] = []
  const waitsMs: number[] = []
  const allowsSurge = surgeOf(object, places.length) > 0
  for (const { nodeName, pods, verdict } of places) {
    const alive = pods.filter((each) => !isBeingDeleted(each))
    if (verdict === 'leave' || verdict === 'gone') append(removed, alive)
    else if (pods.length === 0) {
      if (verdict === 'run') missing.push(nodeName)
    } else {
      for (const ended of alive.filter(isPodFinished)) {
        const waitMs = ended.status.phase === 'Failed' ? failures.tryReplace(nodeName) : 0
        if (waitMs > 0) {
          waitsMs.push(waitMs)
          continue
        }
        removed.push(ended)
        events.push(endedNote(ended, nodeName))
      }
      append(
        removed,
        surplusOf(
          alive.filter((each) => !isPodFinished(each)),
          allowsSurge ? isUpdated : undefined,
        ),
      )
    }
  }
  const created = missing.slice(0, missing.length === 0 ? 0 : podBurstOf(object.spec.template))
  return {
    changes: [
      ...removed.map(deletePod),
      ...created.map((nodeName) => createPod(daemonPod(object, nodeName, hash))),
    ].slice(0, podsBurstMax),
    events,
    waitMs: waitsMs.length === 0 ? undefined : leastOf(waitsMs),
  }
}

/** All pods except the oldest; with a surge, except the oldest of the old and the oldest of the new template. */
function surplusOf(running: readonly Pod[], isUpdated: ((pod: Pod) => boolean) | undefined): readonly Pod[] {
  if (isUpdated === undefined) return running.slice(1)
  const fresh = running.filter(isUpdated)
  const old = running.filter((each) => !isUpdated(each))
  return [...fresh.slice(1), ...old.slice(1)]
}

function endedNote({ metadata, status }: Pod, nodeName: string): EventNote {
  const name = `${metadata.namespace}/${metadata.name}`
  return status.phase === 'Failed'
    ? {
        type: 'Warning',
        reason: 'FailedDaemonPod',
        message: `Found failed daemon pod ${name} on node ${nodeName}, will try to kill it`,
      }
    : {
        type: 'Normal',
        reason: 'SucceededDaemonPod',
        message: `Found succeeded daemon pod ${name} on node ${nodeName}, will try to delete it`,
      }
}

function statusOf(
  { metadata, spec, status }: DaemonSet,
  places: readonly NodePlacement[],
  isUpdated: (pod: Pod) => boolean,
  nowMs: number,
): DaemonSetStatus {
  const wanted = places.filter(({ verdict }) => verdict === 'run')
  const oldest = wanted.flatMap(({ pods }) => pods.slice(0, 1))
  const available = oldest.filter((each) => isPodAvailable(each, spec.minReadySeconds ?? 0, nowMs)).length
  const misplaced = places.filter(({ verdict, pods }) => ['continue', 'leave'].includes(verdict) && pods.length > 0)
  const counts = {
    updatedNumberScheduled: oldest.filter(isUpdated).length,
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
  }
  return {
    currentNumberScheduled: oldest.length,
    numberMisscheduled: misplaced.length,
    desiredNumberScheduled: wanted.length,
    numberReady: oldest.filter(isPodReady).length,
    observedGeneration: metadata.generation ?? 0,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    ...(status.collisionCount === undefined ? {} : { collisionCount: status.collisionCount }),
    ...(status.conditions === undefined ? {} : { conditions: status.conditions }),
  } satisfies Plan['status']
}

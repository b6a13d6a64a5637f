// Event handlers: changes of nodes, pods and the kinds that plugins watch update the snapshot and the queue, and become
// cluster events that may make waiting pods schedulable.
import type { Cause } from '../../base/observability/flow-recorder.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { isBound, pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { isBeingDeleted, type ObjectKey } from '../../api/meta/object.ts'
import type { Informers } from '../../client/informer/informers.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { ClusterEvent } from '../framework/framework.ts'
import type { Nominator } from '../framework/nominator.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'

export interface EventHandlerDeps {
  readonly informers: Informers
  readonly snapshot: Snapshot
  readonly nominator: Nominator
  /** Kinds besides nodes, pods and namespaces that plugins watch. */
  readonly kinds: readonly Kind[]
  onClusterEvent(event: ClusterEvent, cause: Cause): void
  /** A pod without a node. `mayHelp`: its requirements have changed. */
  onPending(pod: Pod, cause: Cause, mayHelp: boolean): void
  /** A pod that has a node or no longer needs one. */
  onNotPending(key: ObjectKey, pod: Pod, isGone: boolean): void
}

export function addEventHandlers(deps: EventHandlerDeps): void {
  const { informers, snapshot, onClusterEvent } = deps
  informers.of(node).onChange(({ now, before, key, cause }) => {
    if (now === undefined) return snapshot.removeNode(key)
    snapshot.setNode(now)
    if (before === undefined) onClusterEvent({ kind: 'node-added', node: now }, cause)
    else if (isRelevantNodeChange(now, before)) onClusterEvent({ kind: 'node-changed', node: now, before }, cause)
  })
  informers.of(namespace).onChange(({ now, before, key, cause }) => {
    snapshot.setNamespace(key, now && (now.metadata.labels ?? {}))
    if (!equalValues(now?.metadata.labels, before?.metadata.labels))
      onClusterEvent({ kind: 'object-changed', resource: namespace.plural, now, before }, cause)
  })
  informers.of(pod).onChange(({ now, before, key, cause }) => onPod(deps, key, now, before, cause))
  for (const kind of new Set(deps.kinds))
    if (kind.plural !== namespace.plural)
      informers.of(kind).onChange(({ now, before, cause }) => {
        onClusterEvent({ kind: 'object-changed', resource: kind.plural, now, before }, cause)
      })
}

function onPod(deps: EventHandlerDeps, key: ObjectKey, now: Pod | undefined, before: Pod | undefined, cause: Cause) {
  const { snapshot, nominator, onClusterEvent } = deps
  if (now === undefined || isPodFinished(now)) {
    const last = now ?? before
    if (last === undefined) return
    nominator.set(last, undefined)
    snapshot.remove(last)
    deps.onNotPending(key, last, true)
    if (before !== undefined && isBound(before) && !isPodFinished(before))
      onClusterEvent({ kind: 'pod-removed', pod: before }, cause)
  } else if (isBound(now)) {
    nominator.set(now, undefined)
    deps.onNotPending(key, now, false)
    snapshot.place(now, now.spec.nodeName)
    if (before === undefined || !isBound(before)) onClusterEvent({ kind: 'pod-placed', pod: now }, cause)
    else if (isRelevantPodChange(now, before)) onClusterEvent({ kind: 'pod-changed', pod: now, before }, cause)
  } else if (isBeingDeleted(now)) {
    nominator.set(now, undefined)
    deps.onNotPending(key, now, false)
  } else {
    // A nomination that is decided but not written yet stays until the pod's status changes.
    const nominated = now.status.nominatedNodeName
    nominator.set(now, nominated === before?.status.nominatedNodeName ? nominator.nodeOf(now) : nominated)
    deps.onPending(now, cause, before !== undefined && isRelevantPodChange(now, before))
  }
}

/** Heartbeats are not relevant. */
const isRelevantNodeChange = (now: Node, before: Node): boolean =>
  !equalValues(now.spec, before.spec) ||
  !equalValues(now.metadata.labels, before.metadata.labels) ||
  !equalValues(now.status.allocatable, before.status.allocatable)

const isRelevantPodChange = (now: Pod, before: Pod): boolean =>
  now.metadata.generation !== before.metadata.generation ||
  now.metadata.deletionTimestamp !== before.metadata.deletionTimestamp ||
  !equalValues(now.metadata.labels, before.metadata.labels) ||
  !equalValues(now.status.resourceClaimStatuses, before.status.resourceClaimStatuses)

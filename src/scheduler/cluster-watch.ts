// Cluster watch: changes of nodes, pods and what plugins watch become deltas of the snapshot, moves of the queue, and
// events that may help pods which wait.
import type { Cause } from '../base/flow.ts'
import { namespace } from '../api/core/v1/namespace.ts'
import { node, type Node } from '../api/core/v1/node.ts'
import { isPodFinished } from '../api/core/v1/pod-readiness.ts'
import { isBound, pod, type Pod } from '../api/core/v1/pod.ts'
import type { Kind } from '../api/kind.ts'
import { isBeingDeleted, type ObjectKey } from '../api/object.ts'
import type { Informers } from '../client/informers.ts'
import { equalValues } from '../schema/json-value.ts'
import type { WakeEvent } from './framework.ts'
import type { Nominator } from './nominator.ts'
import type { Snapshot } from './snapshot/snapshot.ts'

export interface ClusterWatchParts {
  readonly informers: Informers
  readonly snapshot: Snapshot
  readonly nominator: Nominator
  /** Kinds beside nodes, pods and namespaces that plugins want to hear of. */
  readonly kinds: readonly Kind[]
  wake(event: WakeEvent, cause: Cause): void
  /** A pod that has no node; `isNews` when it asks for something else than before. */
  onPending(pod: Pod, cause: Cause, isNews: boolean): void
  /** A pod that needs no node any more, or has one. */
  onSettled(key: ObjectKey, pod: Pod, isGone: boolean): void
}

export function watchCluster(parts: ClusterWatchParts): void {
  const { informers, snapshot, wake } = parts
  informers.of(node).onChange(({ now, before, key, cause }) => {
    if (now === undefined) return snapshot.removeNode(key)
    snapshot.setNode(now)
    if (before === undefined) wake({ kind: 'node-added', node: now }, cause)
    else if (isNodeNews(now, before)) wake({ kind: 'node-changed', node: now, before }, cause)
  })
  informers.of(namespace).onChange(({ now, before, key, cause }) => {
    snapshot.setNamespace(key, now && (now.metadata.labels ?? {}))
    if (!equalValues(now?.metadata.labels, before?.metadata.labels))
      wake({ kind: 'object-changed', resource: namespace.plural, now, before }, cause)
  })
  informers.of(pod).onChange(({ now, before, key, cause }) => onPod(parts, key, now, before, cause))
  for (const kind of new Set(parts.kinds))
    if (kind.plural !== namespace.plural)
      informers.of(kind).onChange(({ now, before, cause }) => {
        wake({ kind: 'object-changed', resource: kind.plural, now, before }, cause)
      })
}

function onPod(parts: ClusterWatchParts, key: ObjectKey, now: Pod | undefined, before: Pod | undefined, cause: Cause) {
  const { snapshot, nominator, wake } = parts
  if (now === undefined || isPodFinished(now)) {
    const last = now ?? before
    if (last === undefined) return
    nominator.set(last, undefined)
    snapshot.remove(last)
    parts.onSettled(key, last, true)
    if (before !== undefined && isBound(before) && !isPodFinished(before))
      wake({ kind: 'pod-removed', pod: before }, cause)
  } else if (isBound(now)) {
    nominator.set(now, undefined)
    parts.onSettled(key, now, false)
    snapshot.place(now, now.spec.nodeName)
    if (before === undefined || !isBound(before)) wake({ kind: 'pod-placed', pod: now }, cause)
    else if (isPodNews(now, before)) wake({ kind: 'pod-changed', pod: now, before }, cause)
  } else if (isBeingDeleted(now)) {
    nominator.set(now, undefined)
    parts.onSettled(key, now, false)
  } else {
    // A nomination that is decided but not yet written stands until the pod says something else.
    const said = now.status.nominatedNodeName
    nominator.set(now, said === before?.status.nominatedNodeName ? nominator.nodeOf(now) : said)
    parts.onPending(now, cause, before !== undefined && isPodNews(now, before))
  }
}

/** A heartbeat is no news. */
const isNodeNews = (now: Node, before: Node): boolean =>
  !equalValues(now.spec, before.spec) ||
  !equalValues(now.metadata.labels, before.metadata.labels) ||
  !equalValues(now.status.allocatable, before.status.allocatable)

const isPodNews = (now: Pod, before: Pod): boolean =>
  now.metadata.generation !== before.metadata.generation ||
  now.metadata.deletionTimestamp !== before.metadata.deletionTimestamp ||
  !equalValues(now.metadata.labels, before.metadata.labels) ||
  !equalValues(now.status.resourceClaimStatuses, before.status.resourceClaimStatuses)

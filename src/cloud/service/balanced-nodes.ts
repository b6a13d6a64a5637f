// The nodes that a load balancer may send traffic to. Readiness does not matter: load balancers check the health of
// nodes themselves, and a node that becomes unready for a moment should not lose its connections.
import { lookup } from '../../base/collections/lookup.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'

export const excludedNodeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers'
/** Set by the cluster autoscaler before it removes a node. */
const toBeDeletedTaint = 'ToBeDeletedByClusterAutoscaler'

export const isExcluded = ({ metadata: { labels } }: Node): boolean => lookup(labels, excludedNodeLabel) !== undefined

export const isToBeDeleted = (node: Node): boolean =>
  isBeingDeleted(node) || (node.spec.taints ?? []).some(({ key }) => key === toBeDeletedTaint)

const hasInstance = ({ spec }: Node): boolean => (spec.providerID ?? '') !== ''

/** In the order of their names. */
export const balancedNodes = (nodes: Iterable<Node>): readonly Node[] =>
  [...nodes]
    .filter((node) => !isExcluded(node) && !isToBeDeleted(node) && hasInstance(node))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

/** Whether the change of a node updates the load balancers. A taint alone does not, so that connections can drain. */
export const changesBalancers = (before: Node | undefined, now: Node | undefined): boolean =>
  before === undefined ||
  now === undefined ||
  isExcluded(before) !== isExcluded(now) ||
  hasInstance(before) !== hasInstance(now)

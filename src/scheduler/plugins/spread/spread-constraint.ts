// A compiled topology spread constraint.
import type { TopologySpreadConstraint } from '../../../api/core/v1/scheduling/affinity.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { isBeingDeleted, namespaceOf } from '../../../api/meta/object.ts'
import { matchesLabels, type Selector } from '../../../api/selectors/selectors.ts'
import type { Cycle } from '../../framework/framework.ts'
import { withLabelKeys } from '../../snapshot/affinity-term.ts'
import { noDomain } from '../../snapshot/topology.ts'
import { requiredColumn } from '../node-affinity.ts'
import { untoleratedColumn } from '../taint-toleration.ts'

export const hostnameKey = 'kubernetes.io/hostname'

export interface Constraint {
  readonly topologyKey: string
  readonly maxSkew: number
  readonly minDomains: number
  readonly namespace: string
  readonly selector: Selector | undefined
  readonly honorsAffinity: boolean
  readonly honorsTaints: boolean
}

export function compileConstraint(constraint: TopologySpreadConstraint, pod: Pod, selector?: Selector): Constraint {
  const { topologyKey, maxSkew, minDomains = 1, labelSelector, matchLabelKeys } = constraint
  return {
    topologyKey,
    maxSkew,
    minDomains,
    namespace: namespaceOf(pod),
    selector: selector ?? withLabelKeys(labelSelector, pod.metadata.labels, matchLabelKeys),
    honorsAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
    honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
  }
}

/** Whether the constraint counts this pod. Pods that are being deleted do not count. */
export const isMeant = ({ selector, namespace }: Constraint, pod: Pod): boolean =>
  selector !== undefined &&
  namespaceOf(pod) === namespace &&
  !isBeingDeleted(pod) &&
  matchesLabels(selector, pod.metadata.labels)

/** Number of matching pods on each node. */
export const meantPods = ({ snapshot }: Cycle, constraint: Constraint): Int32Array =>
  snapshot.counts.of(`spread ${JSON.stringify([constraint.namespace, constraint.selector])}`, (pod) =>
    isMeant(constraint, pod),
  )

export interface Inclusion {
  /** The domain of each node, by constraint. */
  readonly domains: readonly Float64Array[]
  /** 1 for nodes that have all topology keys, by slot. */
  readonly hasAllKeys: Uint8Array
  /** Whether the node counts for the constraint, according to its node inclusion policies. */
  includes(constraint: Constraint, slot: number): boolean
}

/** Computes which nodes count. */
export function inclusion({ snapshot, pod }: Cycle, all: readonly Constraint[]): Inclusion {
  const { order } = snapshot
  const domains = all.map(({ topologyKey }) => snapshot.topology(topologyKey).column.all(order))
  const required = all.some(({ honorsAffinity }) => honorsAffinity)
    ? requiredColumn(snapshot, pod).all(order)
    : undefined
  const untolerated = all.some(({ honorsTaints }) => honorsTaints)
    ? untoleratedColumn(snapshot, pod).all(order)
    : undefined
  const hasAllKeys = new Uint8Array(snapshot.names.length).fill(1)
  for (const domain of domains)
    for (let slot = 0; slot < hasAllKeys.length; slot++) if (domain[slot] === noDomain) hasAllKeys[slot] = 0
  return {
    domains,
    hasAllKeys,
    includes: ({ honorsAffinity, honorsTaints }, slot) =>
      (!honorsAffinity || required?.[slot] === 1) && (!honorsTaints || untolerated?.[slot] === 0),
  }
}

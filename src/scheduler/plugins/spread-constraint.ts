// A spread constraint, ready to be counted with.
import type { TopologySpreadConstraint } from '../../api/core/v1/affinity.ts'
import type { Pod } from '../../api/core/v1/pod.ts'
import { isBeingDeleted, namespaceOf } from '../../api/object.ts'
import { matchesLabels, type Selector } from '../../api/selectors.ts'
import type { Cycle } from '../framework.ts'
import { withLabelKeys } from '../snapshot/affinity-term.ts'
import type { NodeColumn } from '../snapshot/node-columns.ts'
import { noDomain } from '../snapshot/topology.ts'
import { requiredColumn } from './node-affinity.ts'
import { untoleratedColumn } from './taint-toleration.ts'

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

/** Whether the constraint counts this pod; one that is on its way out does not count. */
export const isMeant = ({ selector, namespace }: Constraint, pod: Pod): boolean =>
  selector !== undefined &&
  namespaceOf(pod) === namespace &&
  !isBeingDeleted(pod) &&
  matchesLabels(selector, pod.metadata.labels)

/** How many pods of each node the constraint means. */
export const meantPods = ({ snapshot }: Cycle, constraint: Constraint): Int32Array =>
  snapshot.counts.of(`spread ${JSON.stringify([constraint.namespace, constraint.selector])}`, (pod) =>
    isMeant(constraint, pod),
  )

/** Which nodes count: those with every key, that the pod could be on as far as the constraint honours that. */
export function inclusion(cycle: Cycle, all: readonly Constraint[]) {
  const { snapshot, pod } = cycle
  const domains = all.map(({ topologyKey }) => snapshot.topology(topologyKey).column)
  const required = all.some(({ honorsAffinity }) => honorsAffinity) ? requiredColumn(snapshot, pod) : undefined
  const untolerated = all.some(({ honorsTaints }) => honorsTaints) ? untoleratedColumn(snapshot, pod) : undefined
  return {
    domains,
    hasAllKeys: (slot: number) => hasDomains(domains, slot),
    includes: ({ honorsAffinity, honorsTaints }: Constraint, slot: number): boolean =>
      (!honorsAffinity || required?.at(slot) === 1) && (!honorsTaints || untolerated?.at(slot) === 0),
  }
}

function hasDomains(domains: readonly NodeColumn[], slot: number): boolean {
  for (const domain of domains) if (domain.at(slot) === noDomain) return false
  return true
}

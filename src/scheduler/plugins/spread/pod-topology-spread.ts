// PodTopologySpread: spreads matching pods over the domains of a topology key: as a requirement for DoNotSchedule, as a
// preference for ScheduleAnyway.
import { lookup } from '../../../base/collections/lookup.ts'
import type { TopologySpreadConstraint } from '../../../api/core/v1/scheduling/affinity.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { selects } from '../../../api/selectors/selectors.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import {
  defineSchedulerPlugin,
  rejection,
  skip,
  type PluginDeps,
  type SchedulerPlugin,
  type ClusterEvent,
} from '../../framework/framework.ts'
import { ownersKinds, ownersSelector } from './spread-defaults.ts'
import { compileConstraint, hostnameKey, isMeant, type Constraint } from './spread-constraint.ts'
import { addPod, isBeyondSkew, lacksDomain, tallyDomains, type DomainTally } from './spread-filter.ts'
import { normalizeSpread, prepareSpread, spreadScore, type SpreadScoring } from './spread-score.ts'

const beyondSkew = rejection("node(s) didn't match pod topology spread constraints", true)
const withoutLabel = rejection("node(s) didn't match pod topology spread constraints (missing required label)", false)

/** Preferences for pods without constraints that belong to a service or a workload. */
const systemDefaults: readonly TopologySpreadConstraint[] = [
  { topologyKey: hostnameKey, whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
]

export interface PodTopologySpreadArgs {
  readonly defaultConstraints?: readonly TopologySpreadConstraint[]
  readonly defaultingType?: 'System' | 'List'
}

type Spread = Partial<SchedulerPlugin<readonly DomainTally[], SpreadScoring>>

export const podTopologySpread = defineSchedulerPlugin<readonly DomainTally[], SpreadScoring>({
  name: 'PodTopologySpread',
  weight: 2,
  watches: ownersKinds,
  ...points(() => [], true),
  configure(args, deps) {
    const { defaultConstraints = [], defaultingType = 'System' } = (args ?? {}) as PodTopologySpreadArgs
    const isSystem = defaultingType === 'System'
    return points(defaultsFor(isSystem ? systemDefaults : defaultConstraints, deps), isSystem)
  },
  eventsToRegister: ['node-added', 'node-changed', 'pod-changed', 'pod-placed', 'pod-removed'],
  queueingHint: (event, pod) =>
    (pod.spec.topologySpreadConstraints ?? []).some((constraint) => isRelevant(event, constraint, namespaceOf(pod))),
})

type Defaults = (pod: Parameters<typeof compileConstraint>[1], when: string) => readonly Constraint[]

/** Default constraints of the profile select the pods of the same service or workload. */
function defaultsFor(constraints: readonly TopologySpreadConstraint[], { informers }: PluginDeps): Defaults {
  return (pod, when) => {
    const meant = constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when)
    const selector = meant.length === 0 ? undefined : ownersSelector(pod, informers)
    return selector === undefined ? [] : meant.map((constraint) => compileConstraint(constraint, pod, selector))
  }
}

function points(defaults: Defaults, isSystem: boolean): Spread {
  const constraintsOf = (pod: Parameters<Defaults>[0], when: string): readonly Constraint[] => {
    const own = pod.spec.topologySpreadConstraints ?? []
    if (own.length === 0) return defaults(pod, when)
    return own
      .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when)
      .map((constraint) => compileConstraint(constraint, pod))
  }
  return {
    preFilter(cycle) {
      const constraints = constraintsOf(cycle.pod, 'DoNotSchedule')
      return constraints.length === 0 ? skip : { kind: 'check', state: tallyDomains(cycle, constraints) }
    },
    filter(_cycle, slot, tallies) {
      for (const tally of tallies) {
        if (lacksDomain(tally, slot)) return withoutLabel
        if (isBeyondSkew(tally, slot)) return beyondSkew
      }
      return undefined
    },
    updateState(_cycle, tallies, { slot, pod }, by) {
      for (const tally of tallies) if (isMeant(tally.constraint, pod)) addPod(tally, slot, by)
    },
    preScore(cycle, slots) {
      const constraints = constraintsOf(cycle.pod, 'ScheduleAnyway')
      if (constraints.length === 0) return undefined
      // The system defaults do not require a zone label on every node.
      const needsAllKeys = !isSystem || (cycle.pod.spec.topologySpreadConstraints ?? []).length > 0
      return prepareSpread(cycle, slots, constraints, needsAllKeys)
    },
    score: (_cycle, slot, scoring) => spreadScore(scoring, slot),
    normalizeScores: (scores, scoring, slots) => normalizeSpread(scores, scoring, slots),
  }
}

function isRelevant(
  event: ClusterEvent,
  { topologyKey, labelSelector }: TopologySpreadConstraint,
  namespace: string,
): boolean {
  switch (event.kind) {
    case 'node-added':
      return true
    case 'node-changed':
      return (
        lookup(event.node.metadata.labels, topologyKey) !== lookup(event.before.metadata.labels, topologyKey) ||
        !equalValues(event.node.spec.taints, event.before.spec.taints)
      )
    case 'pod-placed':
    case 'pod-removed':
    case 'pod-changed':
      return namespaceOf(event.pod) === namespace && selects(labelSelector, event.pod.metadata.labels)
    case 'object-changed':
      return false
    default:
      return event satisfies never
  }
}

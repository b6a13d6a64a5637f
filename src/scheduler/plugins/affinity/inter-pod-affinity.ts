// InterPodAffinity: pod affinity and anti-affinity of the pod itself, and anti-affinity of existing pods against it.
import { defineSchedulerPlugin, rejection, skip, type SchedulerPlugin } from '../../framework/framework.ts'
import {
  affinityFits,
  antiAffinityFits,
  existingFit,
  updateTally,
  tallyAffinity,
  type AffinityTally,
} from './affinity-filter.ts'
import { affinityScore, prepareAffinity, stretchScores, type AffinityScoring } from './affinity-score.ts'
import { podFacts } from '../../snapshot/pod-facts.ts'
import { termMatches } from '../../snapshot/affinity-term.ts'
import { namespace } from '../../../api/core/v1/namespace.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import type { Snapshot } from '../../snapshot/snapshot.ts'

const affinityMismatch = rejection("node(s) didn't match pod affinity rules", false)
const antiAffinityMismatch = rejection("node(s) didn't match pod anti-affinity rules", true)
const foeOfOthers = rejection("node(s) didn't satisfy existing pods anti-affinity rules", true)

export interface InterPodAffinityArgs {
  /** Weight of existing pods' required affinity in the score. */
  readonly hardPodAffinityWeight?: number
  /** Ignores preferred terms of existing pods for pods without preferred terms. */
  readonly ignorePreferredTermsOfExistingPods?: boolean
}

export const interPodAffinity = defineSchedulerPlugin<AffinityTally, AffinityScoring>({
  name: 'InterPodAffinity',
  weight: 2,
  watches: [namespace],
  ...points({}, undefined),
  configure: (args, { snapshot }) => points((args as InterPodAffinityArgs | undefined) ?? {}, snapshot),
})

function points(
  { hardPodAffinityWeight = 1, ignorePreferredTermsOfExistingPods = false }: InterPodAffinityArgs,
  snapshot: Snapshot | undefined,
): Partial<SchedulerPlugin<AffinityTally, AffinityScoring>> {
  return {
    preFilter(cycle) {
      const tally = tallyAffinity(cycle)
      return tally === undefined ? skip : { kind: 'check', state: tally }
    },
    filter(_cycle, slot, tally) {
      if (!affinityFits(tally, slot)) return affinityMismatch
      if (!antiAffinityFits(tally, slot)) return antiAffinityMismatch
      return existingFit(tally, slot) ? undefined : foeOfOthers
    },
    updateState: (cycle, tally, placed, by) => updateTally(cycle, tally, placed, by),
    preScore: (cycle) => prepareAffinity(cycle, hardPodAffinityWeight, ignorePreferredTermsOfExistingPods),
    score: (_cycle, slot, scoring) => affinityScore(scoring, slot),
    normalizeScores: stretchScores,
    queueingHint(event, pod) {
      const namespaces = snapshot?.namespaces ?? new Map()
      const { affinity, antiAffinity } = podFacts(pod)
      const all = [...affinity, ...antiAffinity]
      switch (event.kind) {
        case 'node-added':
          return true
        case 'node-changed':
          return !equalValues(event.node.metadata.labels, event.before.metadata.labels)
        case 'pod-placed':
          return affinity.some((term) => termMatches(term, event.pod, namespaces))
        case 'pod-changed':
          return all.some(
            (term) => termMatches(term, event.pod, namespaces) !== termMatches(term, event.before, namespaces),
          )
        case 'pod-removed':
          return (
            antiAffinity.some((term) => termMatches(term, event.pod, namespaces)) ||
            podFacts(event.pod).antiAffinity.some((term) => termMatches(term, pod, namespaces))
          )
        case 'object-changed':
          return (
            event.resource === namespace.plural && all.some(({ namespaceSelector }) => namespaceSelector !== undefined)
          )
        default:
          return event satisfies never
      }
    },
  }
}

// NodeAffinity: the node must match the pod's nodeSelector and required affinity; preferred terms increase the score. A
// profile may add an affinity to every pod.
import type { NodeAffinity, NodeSelectorTerm } from '../../api/core/v1/scheduling/affinity.ts'
import {
  matchesNodeSelector,
  matchesNodeTerm,
  matchesRequiredAffinity,
} from '../../api/core/v1/pod-spec/node-selection.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { defineSchedulerPlugin, rejection, scaleScores, skip, type SchedulerPlugin } from '../framework/framework.ts'
import type { NodeColumn } from '../snapshot/node-columns.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'

const unmatched = rejection("node(s) didn't match Pod's node affinity/selector", false)
const notEnforced = rejection("node(s) didn't match scheduler-enforced node affinity", false)
const conflicting = rejection('pod affinity terms conflict', false)

export const nodeAffinity = defineSchedulerPlugin<NodeColumn, NodeColumn>({
  name: 'NodeAffinity',
  isLocal: true,
  weight: 2,
  ...points(undefined),
  configure: (args) => points((args as { addedAffinity?: NodeAffinity } | undefined)?.addedAffinity),
  eventsToRegister: ['node-added', 'node-changed'],
  queueingHint: (event) =>
    event.kind === 'node-added' ||
    (event.kind === 'node-changed' && !equalValues(event.before.metadata.labels, event.node.metadata.labels)),
})

function points(added: NodeAffinity | undefined): Partial<SchedulerPlugin<NodeColumn, NodeColumn>> {
  const enforced = added?.requiredDuringSchedulingIgnoredDuringExecution
  const addedKey = JSON.stringify(added) ?? ''
  const preferredOf = ({ spec }: Pod) => [
    ...(spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(added?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
  ]
  return {
    preFilter({ pod, snapshot }) {
      const { nodeSelector, affinity } = pod.spec
      const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      if (nodeSelector === undefined && required === undefined && enforced === undefined) return skip
      const nodes = required && namedNodes(required.nodeSelectorTerms)
      if (nodes?.size === 0) return conflicting
      const state = snapshot.columns.of(`enforced ${addedKey} ${requiredKey(pod)}`, (node) =>
        enforced !== undefined && !matchesNodeSelector(enforced, node) ? 2 : matchesRequired(pod, node),
      )
      return { kind: 'check', state, ...(nodes && { nodes }) }
    },
    filter(_cycle, slot, column) {
      const code = column.at(slot)
      return code === 1 ? undefined : code === 2 ? notEnforced : unmatched
    },
    preScore({ pod, snapshot }) {
      const preferred = preferredOf(pod)
      if (preferred.length === 0) return undefined
      return snapshot.columns.of(`preferred ${JSON.stringify(preferred)}`, (node) =>
        preferred.reduce((sum, { weight, preference }) => sum + (matchesNodeTerm(preference, node) ? weight : 0), 0),
      )
    },
    score: (_cycle, slot, column) => column.at(slot),
    normalizeScores: (scores) => scaleScores(scores, false),
  }
}

const matchesRequired = ({ spec }: Pod, node: Node): number => (matchesRequiredAffinity(spec, node) ? 1 : 0)

const requiredKey = ({ spec: { nodeSelector, affinity } }: Pod): string =>
  JSON.stringify([nodeSelector, affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution])

/** 1 for nodes that match the pod's nodeSelector and required affinity. */
export const requiredColumn = (snapshot: Snapshot, pod: Pod): NodeColumn =>
  snapshot.columns.of(`required ${requiredKey(pod)}`, (node) => matchesRequired(pod, node))

/** The nodes that the terms name, if every term names some. Only these are evaluated. */
function namedNodes(terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined {
  const all = new Set<string>()
  for (const { matchFields = [] } of terms) {
    const lists = matchFields
      .filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
      .map(({ values = [] }) => new Set(values))
    const [first, ...others] = lists
    if (first === undefined) return undefined
    for (const name of others.reduce((names, list) => names.intersection(list), first)) all.add(name)
  }
  return terms.length === 0 ? undefined : all
}

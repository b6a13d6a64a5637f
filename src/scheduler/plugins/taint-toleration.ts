// TaintToleration: rejects nodes with taints that the pod does not tolerate, and prefers nodes with few untolerated
// PreferNoSchedule taints.
import type { Toleration } from '../../api/core/v1/scheduling/affinity.ts'
import { untoleratedTaint, tolerates } from '../../api/core/v1/node/tolerations.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { defineSchedulerPlugin, rejection, scaleScores } from '../framework/framework.ts'
import type { NodeColumn } from '../snapshot/node-columns.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

const tainted = rejection('node(s) had untolerated taint(s)', false)

export const taintToleration = defineSchedulerPlugin<NodeColumn, NodeColumn>({
  name: 'TaintToleration',
  isLocal: true,
  weight: 3,
  preFilter: ({ pod, snapshot }) => ({ kind: 'check', state: untoleratedColumn(snapshot, pod) }),
  filter: (_cycle, slot, untolerated) => (untolerated.at(slot) === 1 ? tainted : undefined),
  preScore({ pod, snapshot }) {
    const { tolerations = noTolerations } = pod.spec
    return snapshot.columns.of(
      `soft taints ${wordsOf(tolerations)}`,
      ({ spec: { taints = [] } }) =>
        taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !tolerates(tolerations, taint)).length,
    )
  },
  score: (_cycle, slot, untolerated) => untolerated.at(slot),
  // The node with the most untolerated taints scores 0, without any the maximum.
  normalizeScores: (scores) => scaleScores(scores, true),
  eventsToRegister: ['node-added', 'node-changed'],
  queueingHint: (event) =>
    event.kind === 'node-added' ||
    (event.kind === 'node-changed' && !equalValues(event.before.spec.taints, event.node.spec.taints)),
})

/** 1 for nodes with an untolerated taint. */
export function untoleratedColumn(snapshot: Snapshot, { spec: { tolerations = noTolerations } }: Pod): NodeColumn {
  return snapshot.columns.of(`taints ${wordsOf(tolerations)}`, ({ spec }) =>
    untoleratedTaint(spec.taints ?? [], tolerations, ['NoSchedule', 'NoExecute']) === undefined ? 0 : 1,
  )
}

const noTolerations: readonly Toleration[] = []
const words = new WeakMap<readonly Toleration[], string>()

/** Serialised once: the pods of one template share the list. */
function wordsOf(tolerations: readonly Toleration[]): string {
  let text = words.get(tolerations)
  if (text === undefined) words.set(tolerations, (text = jsonText(tolerations)))
  return text
}

// SharedVerdicts: what plugins found about nodes for pods that are alike, kept until the node or one of its pods changes.
// Only verdicts that follow from the pod's demands, the node and its own pods may be shared.
import { LruMap } from './lru-map.ts'
import type { Cycle } from './framework.ts'
import { SlotMemo } from './slot-memo.ts'
import type { NodeVerdict } from './verdicts.ts'

/** Kinds of pods for which verdicts are kept. */
const kindsMax = 64

export type KindVerdicts = SlotMemo<NodeVerdict | undefined>

export class SharedVerdicts {
  readonly #kinds = new LruMap<KindVerdicts>(kindsMax)

  of(schedulerName: string, cycle: Cycle): KindVerdicts {
    return this.#kinds.of(`${schedulerName} ${demandsKey(cycle)}`, () => new SlotMemo())
  }
}

/** The same for pods that ask the same of a node and its pods. */
export function demandsKey({ facts: { requests, hostPorts }, pod: { spec } }: Cycle): string {
  const { nodeName, nodeSelector, affinity, tolerations } = spec
  return JSON.stringify([nodeName, nodeSelector, affinity?.nodeAffinity, tolerations, [...requests], hostPorts])
}

// SharedFindings: what plugins found about nodes for pods that are alike, kept until the node or one of its pods changes.
// Only what follows from the pod's demands, the node and its own pods may be shared: plugins marked `isLocal`.
import { getOrMake } from '../base/get-or-make.ts'
import type { PodSpec } from '../api/core/v1/pod-spec.ts'
import { LruMap } from './lru-map.ts'
import type { Cycle } from './framework.ts'
import { SlotMemo } from './slot-memo.ts'
import { SlotScores } from './slot-scores.ts'
import type { NodeVerdict } from './verdicts.ts'

/** Kinds of pods for which findings are kept. */
const kindsMax = 64

/** Findings for one kind of pod. */
export class KindFindings {
  /** What the local filters said. */
  readonly verdicts = new SlotMemo<NodeVerdict | undefined>()
  readonly #scores = new Map<string, SlotScores>()

  /** Scores as the plugin gave them, before they are normalised. */
  scoresOf(plugin: string): SlotScores {
    return getOrMake(this.#scores, plugin, () => new SlotScores())
  }
}

export class SharedFindings {
  readonly #ofSchedulers = new Map<string, LruMap<KindFindings>>()

  of(schedulerName: string, cycle: Cycle): KindFindings {
    const kinds = getOrMake(this.#ofSchedulers, schedulerName, () => new LruMap<KindFindings>(kindsMax))
    return kinds.of(demandsKey(cycle), () => new KindFindings())
  }
}

const keysOfSpecs = new WeakMap<PodSpec, { readonly demands: string; readonly key: string }>()

/** The same for pods that ask the same of a node and its pods. */
export function demandsKey({ facts: { demands }, pod: { spec } }: Cycle): string {
  const known = keysOfSpecs.get(spec)
  if (known?.demands === demands) return known.key
  const { nodeName, nodeSelector, affinity, tolerations } = spec
  const key = `${demands} ${JSON.stringify([nodeName, nodeSelector, affinity?.nodeAffinity, tolerations])}`
  keysOfSpecs.set(spec, { demands, key })
  return key
}

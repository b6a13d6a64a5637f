// SharedFindings: what plugins found about nodes for pods that are alike, kept until the node or one of its pods changes.
// Only what follows from the pod's demands, the node and its own pods may be shared: plugins marked `isLocal`.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'
import { LruMap } from '../../base/collections/lru-map.ts'
import type { Cycle } from '../framework/framework.ts'
import { SlotCache } from './slot-cache.ts'
import { SlotScores } from './slot-scores.ts'
import type { NodeVerdict } from '../framework/verdicts.ts'

/** Kinds of pods for which findings are kept. */
const classesMax = 64

/** Findings for one kind of pod. */
export class EquivalenceClass {
  /** What the local filters said. */
  readonly verdicts = new SlotCache<NodeVerdict | undefined>()
  readonly #scores = new Map<string, SlotScores>()

  /** Scores as the plugin gave them, before they are normalised. */
  scoresOf(plugin: string): SlotScores {
    return getOrInsert(this.#scores, plugin, () => new SlotScores())
  }
}

export class EquivalenceCache {
  readonly #ofSchedulers = new Map<string, LruMap<EquivalenceClass>>()

  of(schedulerName: string, cycle: Cycle): EquivalenceClass {
    const kinds = getOrInsert(this.#ofSchedulers, schedulerName, () => new LruMap<EquivalenceClass>(classesMax))
    return kinds.getOrInsert(equivalenceKey(cycle), () => new EquivalenceClass())
  }
}

const keysOfSpecs = new WeakMap<PodSpec, { readonly demands: string; readonly key: string }>()

/** The same for pods that ask the same of a node and its pods. */
export function equivalenceKey({ facts: { demands }, pod: { spec } }: Cycle): string {
  const known = keysOfSpecs.get(spec)
  if (known?.demands === demands) return known.key
  const { nodeName, nodeSelector, affinity, tolerations } = spec
  const key = `${demands} ${JSON.stringify([nodeName, nodeSelector, affinity?.nodeAffinity, tolerations])}`
  keysOfSpecs.set(spec, { demands, key })
  return key
}

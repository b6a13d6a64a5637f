// EquivalenceCache: verdicts and scores of nodes, shared by equivalent pods until the node or one of its pods changes.
// It only holds results of plugins marked `isLocal`, which depend on the pod's requirements, the node and its pods
// alone.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'
import { LruMap } from '../../base/collections/lru-map.ts'
import type { Cycle } from '../framework/framework.ts'
import { SlotCache } from './slot-cache.ts'
import { SlotScores } from './slot-scores.ts'
import type { NodeVerdict } from '../framework/verdicts.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

/** Maximum number of equivalence classes per profile. */
const classesMax = 64

/** Cached results for one class of equivalent pods. */
export class EquivalenceClass {
  /** Verdicts of the local filters. */
  readonly verdicts = new SlotCache<NodeVerdict | undefined>()
  readonly #scores = new Map<string, SlotScores>()

  /** Scores of the plugin before normalisation. */
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

/** The same for pods with the same requirements on a node and its pods. */
export function equivalenceKey({ facts: { demands }, pod: { spec } }: Cycle): string {
  const known = keysOfSpecs.get(spec)
  if (known?.demands === demands) return known.key
  const { nodeName, nodeSelector, affinity, tolerations } = spec
  const key = `${demands} ${jsonText([nodeName, nodeSelector, affinity?.nodeAffinity, tolerations])}`
  keysOfSpecs.set(spec, { demands, key })
  return key
}

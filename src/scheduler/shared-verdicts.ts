// SharedVerdicts: what plugins found about nodes for pods that are alike, kept until the node or one of its pods changes.
// Only verdicts that follow from the pod's demands, the node and its own pods may be shared.
import { LruMap } from './lru-map.ts'
import type { Cycle } from './framework.ts'
import type { NodeVerdict } from './verdicts.ts'

/** Kinds of pods for which verdicts are kept. */
const kindsMax = 64

export class KindVerdicts {
  #versions = new Float64Array(0)
  readonly #found: (NodeVerdict | undefined)[] = []

  /** Whether the verdict for this version of the node is known. */
  knows(slot: number, version: number): boolean {
    return this.#versions[slot] === version
  }

  get(slot: number): NodeVerdict | undefined {
    return this.#found[slot]
  }

  set(slot: number, version: number, verdict: NodeVerdict | undefined): void {
    if (slot >= this.#versions.length) {
      const versions = new Float64Array(Math.max(64, slot * 2)).fill(-1)
      versions.set(this.#versions)
      this.#versions = versions
    }
    this.#versions[slot] = version
    this.#found[slot] = verdict
  }
}

export class SharedVerdicts {
  readonly #kinds = new LruMap<KindVerdicts>(kindsMax)

  of(schedulerName: string, cycle: Cycle): KindVerdicts {
    return this.#kinds.of(`${schedulerName} ${demandsKey(cycle)}`, () => new KindVerdicts())
  }
}

/** The same for pods that ask the same of a node and its pods. */
export function demandsKey({ facts: { requests, hostPorts }, pod: { spec } }: Cycle): string {
  const { nodeName, nodeSelector, affinity, tolerations } = spec
  return JSON.stringify([nodeName, nodeSelector, affinity?.nodeAffinity, tolerations, [...requests], hostPorts])
}

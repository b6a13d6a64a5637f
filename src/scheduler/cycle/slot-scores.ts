// SlotScores: a plugin's scores by node slot, each valid for one version of the slot. Version and score of a slot are
// adjacent in memory, for loops over many nodes.

export class SlotScores {
  #pairs = new Float64Array(0)

  /** The pairs, with capacity for this many slots. Versions start at 1, so 0 means not cached. */
  pairsFor(slots: number): Float64Array {
    if (this.#pairs.length >= slots * 2) return this.#pairs
    const pairs = new Float64Array(slots * 2)
    pairs.set(this.#pairs)
    return (this.#pairs = pairs)
  }
}

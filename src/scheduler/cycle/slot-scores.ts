// SlotScores: what a plugin gave to nodes, each valid as long as the version of the node's slot stands. Version and score
// of a slot are neighbours: a loop over many nodes finds both at once.

export class SlotScores {
  #pairs = new Float64Array(0)

  /** Room for so many slots. Versions begin with 1: what is 0 is not known. */
  pairsFor(slots: number): Float64Array {
    if (this.#pairs.length >= slots * 2) return this.#pairs
    const pairs = new Float64Array(slots * 2)
    pairs.set(this.#pairs)
    return (this.#pairs = pairs)
  }
}

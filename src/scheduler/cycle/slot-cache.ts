// SlotMemo: what was found about nodes, each valid as long as the version of the node's slot stands.

const capacityInitial = 64

export class SlotCache<Value> {
  // Both stand open for loops over many nodes; invariant: where the version of a slot is known, so is its value.
  versions = new Float64Array(capacityInitial).fill(-1)
  readonly values: Value[] = []

  /** Whether what was found about this version of the node is known. */
  has(slot: number, version: number): boolean {
    return this.versions[slot] === version
  }

  /** For slots that are known. */
  get(slot: number): Value {
    return this.values[slot] as Value
  }

  set(slot: number, version: number, value: Value): void {
    if (slot >= this.versions.length) {
      const versions = new Float64Array(Math.max(slot + 1, this.versions.length * 2)).fill(-1)
      versions.set(this.versions)
      this.versions = versions
    }
    // Without holes, so that reading stays fast.
    while (this.values.length < slot) this.values.push(value)
    this.versions[slot] = version
    this.values[slot] = value
  }
}

// SlotCache: values by node slot, each valid for one version of the slot.

const capacityInitial = 64

export class SlotCache<Value> {
  // Both are public for loops over many nodes. Invariant: the value of a slot belongs to the stored version.
  versions = new Float64Array(capacityInitial).fill(-1)
  readonly values: Value[] = []

  /** Whether the value for this version of the slot is cached. */
  has(slot: number, version: number): boolean {
    return this.versions[slot] === version
  }

  /** Only for slots that are cached. */
  get(slot: number): Value {
    return this.values[slot] as Value
  }

  set(slot: number, version: number, value: Value): void {
    if (slot >= this.versions.length) {
      const versions = new Float64Array(Math.max(slot + 1, this.versions.length * 2)).fill(-1)
      versions.set(this.versions)
      this.versions = versions
    }
    // Without holes, which would make reads slow.
    while (this.values.length < slot) this.values.push(value)
    this.versions[slot] = version
    this.values[slot] = value
  }
}

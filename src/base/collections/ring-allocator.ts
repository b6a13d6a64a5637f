// RingMemory: room for what is kept for a while. What comes last takes the place of what came first, so that keeping and
// forgetting leave nothing to be collected.

/** So that every kind of number may stand at a place. */
const alignment = 8

export class RingAllocator {
  readonly #size: number
  #bytes: ArrayBuffer | undefined
  /** Places grow for ever; the byte that one means is at its remainder. */
  #end = 0

  constructor(size: number) {
    this.#size = size - (size % alignment)
  }

  /** The place of so many bytes, of which none is past the end of the memory; undefined when there are not as many. */
  allocate(count: number): number | undefined {
    if (count > this.#size) return undefined
    const left = this.#size - (this.#end % this.#size)
    const address = left < count ? this.#end + left : this.#end
    this.#end = address + Math.ceil(count / alignment) * alignment
    return address
  }

  /** Whether nothing else has come to this place. */
  isAllocated(address: number): boolean {
    return address >= this.#end - this.#size
  }

  /** The memory, and where in it the place is. */
  bytesAt(address: number): { readonly bytes: ArrayBuffer; readonly offset: number } {
    this.#bytes ??= new ArrayBuffer(this.#size)
    return { bytes: this.#bytes, offset: address % this.#size }
  }
}

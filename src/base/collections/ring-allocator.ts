// RingAllocator: allocates from a ring of bytes. New allocations overwrite the oldest ones, so that storing and
// discarding creates no garbage.

/** Alignment for every numeric array type. */
const alignment = 8

export class RingAllocator {
  readonly #size: number
  #bytes: ArrayBuffer | undefined
  /** Addresses grow without bound; the position in the ring is the remainder. */
  #end = 0

  constructor(size: number) {
    this.#size = size - (size % alignment)
  }

  /** The address of `count` contiguous bytes; undefined when they do not fit. */
  allocate(count: number): number | undefined {
    if (count > this.#size) return undefined
    const left = this.#size - (this.#end % this.#size)
    const address = left < count ? this.#end + left : this.#end
    this.#end = address + Math.ceil(count / alignment) * alignment
    return address
  }

  /** Whether the bytes at the address have not been overwritten. */
  isAllocated(address: number): boolean {
    return address >= this.#end - this.#size
  }

  /** The underlying buffer and the offset of the address in it. */
  bytesAt(address: number): { readonly bytes: ArrayBuffer; readonly offset: number } {
    this.#bytes ??= new ArrayBuffer(this.#size)
    return { bytes: this.#bytes, offset: address % this.#size }
  }
}

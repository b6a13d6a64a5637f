// RangePool: the ranges that a cluster's range is divided into, one for each node, and who holds which.
import { cidrText, overlaps, parseCidr, widthOf, type Cidr } from '../../api/networking/v1/cidr.ts'

export interface NodeRanges {
  /** The range of all pods. */
  readonly cidr: string
  /** How long the prefix of a node's range is. */
  readonly maskSize: number
}

export class RangePool {
  readonly #whole: Cidr
  readonly #maskSize: number
  /** How many holders a range has, by its number: more than one only where somebody else gave it. */
  readonly #holders = new Map<number, number>()
  readonly #size: number
  #next = 0

  constructor({ cidr, maskSize }: NodeRanges) {
    this.#whole = parseCidr(cidr)
    this.#maskSize = maskSize
    this.#size = 2 ** (maskSize - this.#whole.prefixLength)
  }

  /** A range that nobody holds, held from now on; undefined when there is none. What was given back comes last. */
  take(): string | undefined {
    for (let tried = 0; tried < this.#size; tried++) {
      const number = (this.#next + tried) % this.#size
      if (this.#holders.has(number)) continue
      this.#next = (number + 1) % this.#size
      this.#holders.set(number, 1)
      return cidrText(this.#range(number))
    }
    return undefined
  }

  reserve(cidr: string): void {
    for (const number of this.#numbersOf(cidr)) this.#holders.set(number, (this.#holders.get(number) ?? 0) + 1)
  }

  release(cidr: string): void {
    for (const number of this.#numbersOf(cidr)) {
      const left = (this.#holders.get(number) ?? 0) - 1
      if (left > 0) this.#holders.set(number, left)
      else this.#holders.delete(number)
    }
  }

  #range(number: number): Cidr {
    const { family, address } = this.#whole
    const shift = BigInt(widthOf(family) - this.#maskSize)
    return { family, address: address + (BigInt(number) << shift), prefixLength: this.#maskSize }
  }

  /** Every range that has an address in common with it. */
  *#numbersOf(text: string): Iterable<number> {
    const cidr = parseCidr(text)
    if (!overlaps(cidr, this.#whole)) return
    const { family, address } = this.#whole
    const shift = BigInt(widthOf(family) - this.#maskSize)
    const first = cidr.address <= address ? 0 : Number((cidr.address - address) >> shift)
    const count = 2 ** Math.max(0, this.#maskSize - Math.max(cidr.prefixLength, this.#whole.prefixLength))
    for (let number = first; number < first + count; number++) yield number
  }
}

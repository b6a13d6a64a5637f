// RangePool: the node ranges within a cluster range, and which are in use.
import { cidrText, overlaps, parseCidr, widthOf, type Cidr } from '../../api/networking/v1/cidr.ts'
import type { NodeRanges } from '../runtime/controller-settings.ts'

export class RangePool {
  readonly #whole: Cidr
  readonly #maskSize: number
  /** The number of holders by range number. It exceeds one only for ranges that were assigned by others. */
  readonly #holders = new Map<number, number>()
  readonly #size: number
  #next = 0

  constructor({ cidr, maskSize }: NodeRanges) {
    this.#whole = parseCidr(cidr)
    this.#maskSize = maskSize
    this.#size = 2 ** (maskSize - this.#whole.prefixLength)
  }

  /** Reserves a free range; undefined when there is none. Released ranges are reused last. */
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

  /** The numbers of all ranges that overlap it. */
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

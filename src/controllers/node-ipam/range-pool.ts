// RangePool: the node ranges within a cluster range, and which are in use.
import {
  addressAt,
  cidrBounds,
  cidrOf,
  cidrsOverlap,
  mustParseCidr,
  prefixLengthOf,
  type Cidr,
} from '../../base/net/cidr.ts'
import { bitsIn } from '../../base/net/ip-address.ts'
import { parseCidrSloppy } from '../../base/net/sloppy-address.ts'
import { familyOf } from '../../base/net/address-family.ts'
import type { NodeRanges } from '../runtime/controller-settings.ts'

export class RangePool {
  readonly #whole: Cidr
  readonly #maskSize: number
  /** The bits of an address within a node's range. */
  readonly #hostBits: bigint
  /** The number of holders by range number. It exceeds one only for ranges that were assigned by others. */
  readonly #holders = new Map<number, number>()
  readonly #size: number
  #next = 0

  constructor({ cidr, maskSize }: NodeRanges) {
    this.#whole = mustParseCidr(cidr)
    this.#maskSize = maskSize
    this.#hostBits = BigInt(bitsIn(familyOf(this.#whole)) - maskSize)
    this.#size = 2 ** (maskSize - prefixLengthOf(this.#whole))
  }

  /** Reserves a free range; undefined when there is none. Released ranges are reused last. */
  take(): Cidr | undefined {
    for (let tried = 0; tried < this.#size; tried++) {
      const number = (this.#next + tried) % this.#size
      if (this.#holders.has(number)) continue
      this.#next = (number + 1) % this.#size
      this.#holders.set(number, 1)
      return this.#range(number)
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
    return cidrOf(addressAt(this.#whole, BigInt(number) << this.#hostBits), this.#maskSize)
  }

  /** The numbers of all ranges that overlap it. */
  *#numbersOf(text: string): Iterable<number> {
    const cidr = parseCidrSloppy(text)
    if (cidr === undefined || !cidrsOverlap(cidr, this.#whole)) return
    const start = cidrBounds(this.#whole).first
    const { first: address } = cidrBounds(cidr)
    const first = address <= start ? 0 : Number((address - start) >> this.#hostBits)
    const count = 2 ** Math.max(0, this.#maskSize - Math.max(prefixLengthOf(cidr), prefixLengthOf(this.#whole)))
    for (let number = first; number < first + count; number++) yield number
  }
}

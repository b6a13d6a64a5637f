// Addresses of simulated pods: of the pod range of their node, or of a common range for nodes without one. As upstream, addresses
// continue behind the end of a range that is used up, so a node may have more pods than addresses.
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import { networkAddressOf, type Cidr } from '../base/net/cidr.ts'
import { addressBits, addressOfBits, mustParseIp } from '../base/net/ip-address.ts'
import { familyOf } from '../base/net/address-family.ts'

interface Range {
  next: bigint
  readonly free: string[]
}

interface Taken {
  readonly address: string
  readonly range: Cidr
}

export class PodAddresses {
  readonly #ranges = new Map<Cidr, Range>()
  readonly #taken = new Map<string, Taken>()
  /** Addresses that pods had before this process started. */
  readonly #present = new Map<string, string>()

  /** The address of the pod, which it keeps until it is released. */
  addressOf(pod: string, range: Cidr): string {
    return getOrInsert(this.#taken, pod, () => ({ address: this.#newAddress(range), range })).address
  }

  /** Notes an address that the pod has already. */
  notePresent(pod: string, address: string): void {
    if (!this.#taken.has(pod)) this.#present.set(address, pod)
  }

  release(pod: string, address: string | undefined): void {
    const taken = this.#taken.get(pod)
    if (taken !== undefined) this.#ranges.get(taken.range)?.free.push(taken.address)
    this.#taken.delete(pod)
    if (address !== undefined && this.#present.get(address) === pod) this.#present.delete(address)
  }

  #newAddress(cidr: Cidr): string {
    const range = getOrInsert(this.#ranges, cidr, () => ({
      next: addressBits(mustParseIp(networkAddressOf(cidr))) + 1n,
      free: [],
    }))
    const free = range.free.pop()
    if (free !== undefined) return free
    for (;;) {
      const address = addressOfBits(familyOf(cidr), range.next++)
      if (!this.#present.has(address)) return address
    }
  }
}

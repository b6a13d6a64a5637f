// CertificateTable: the certificates of server names. If several objects have a certificate for a name, that of the
// object that comes first is used, as with routes. The certificates of one object are replaced at once, at a cost that
// depends on it.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { KeyPair } from '../../platform/http/listener.ts'

/** Certificates by name, in lower case. `*.example.com` stands for names with one more label. */
export type Certificates = Pick<ReadonlyMap<string, KeyPair>, 'get'>

interface Claim {
  /** The smaller string comes first. Unique. */
  readonly order: string
  readonly pair: KeyPair
}

/** The certificates of one object by name. */
export interface OwnCertificates {
  /** Decides between objects: the smaller string comes first. Unique among the objects. */
  readonly order: string
  readonly names: ReadonlyMap<string, KeyPair>
}

export class CertificateTable {
  /** By name, in order. */
  readonly #claims = new Map<string, Claim[]>()
  readonly #byOwner = new Map<string, OwnCertificates>()

  get(name: string): KeyPair | undefined {
    return this.#claims.get(name)?.[0]?.pair
  }

  replace(owner: string, certificates: OwnCertificates | undefined): void {
    const before = this.#byOwner.get(owner)
    if (before !== undefined) for (const name of before.names.keys()) this.#remove(name, before.order)
    this.#byOwner.delete(owner)
    if (certificates === undefined || certificates.names.size === 0) return
    this.#byOwner.set(owner, certificates)
    for (const [name, pair] of certificates.names) this.#add(name, { order: certificates.order, pair })
  }

  #add(name: string, claim: Claim): void {
    const claims = getOrInsert(this.#claims, name, () => [])
    claims.splice(positionOf(claims, claim.order), 0, claim)
  }

  #remove(name: string, order: string): void {
    const claims = this.#claims.get(name)
    if (claims === undefined) return
    const at = positionOf(claims, order)
    if (claims[at]?.order === order) claims.splice(at, 1)
    if (claims.length === 0) this.#claims.delete(name)
  }
}

/** The position of the first claim that does not come before `order`. */
function positionOf(claims: readonly Claim[], order: string): number {
  let low = 0
  let high = claims.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((claims[middle] as Claim).order < order) low = middle + 1
    else high = middle
  }
  return low
}

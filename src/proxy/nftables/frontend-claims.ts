// FrontendClaims: which Service uses an address and port that several Services name. Every node decides it in the same way: a
// cluster IP belongs to its Service, whatever the port; of others, a node port precedes, and then the oldest Service.
import type { ObjectKey } from '../../api/meta/object.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { RoutedService } from '../routing/service-route.ts'
import { frontendKinds, frontendsOf, type Frontend, type FrontendKind } from './frontends.ts'

interface Claim {
  readonly service: ObjectKey
  readonly kind: FrontendKind
  readonly address: IpAddress
  readonly creationTimestamp: string
  readonly uid: string
}

/** By what is claimed: a cluster IP, or the key of another frontend. */
type Claims = ReadonlyMap<string, Claim>

const none: Claims = new Map()

export class FrontendClaims {
  readonly #nodeAddresses: readonly IpAddress[]
  /** The claims of all Services, the first one in effect. */
  readonly #claims = new Map<string, readonly Claim[]>()
  readonly #ofService = new Map<ObjectKey, Claims>()
  /** The Services that name an address as an external one, which they cannot use if it becomes a cluster IP. */
  readonly #namers = new Map<string, Set<ObjectKey>>()

  /** Most transactions change one Service, whose claims are needed twice. */
  #lastClaims: { readonly routed: RoutedService; readonly claims: Claims } | undefined

  constructor(nodeAddresses: readonly IpAddress[]) {
    this.#nodeAddresses = nodeAddresses
  }

  /** The Service that uses the frontend, which at least one names. */
  ownerOf({ kind, key, address }: Pick<Frontend, 'kind' | 'key' | 'address'>): ObjectKey | undefined {
    const ofAddress = this.#claims.get(address)?.[0]
    return kind === 'cluster IP' || ofAddress !== undefined ? ofAddress?.service : this.#claims.get(key)?.[0]?.service
  }

  /** Services that are not changed but get or lose a frontend because of those that are. */
  *affectedBy(changed: ReadonlyMap<ObjectKey, RoutedService>, slice: Slice): Sliced<ReadonlySet<ObjectKey>> {
    const affected = new Set<ObjectKey>()
    for (const [frontend, wanted] of yield* this.#wantedBy(changed, slice)) {
      if (slice.isUsedUp()) yield
      const known = this.#claims.get(frontend) ?? []
      const rest = known.find(({ service }) => !changed.has(service))
      const now = [...wanted, ...(rest === undefined ? [] : [rest])].toSorted(byPrecedence)[0]?.service
      if (known[0]?.service === now) continue
      for (const service of [known[0]?.service, now, ...(this.#namers.get(frontend) ?? [])])
        if (service !== undefined && !changed.has(service)) affected.add(service)
    }
    return affected
  }

  *replace(service: ObjectKey, now: RoutedService, slice: Slice): Sliced<void> {
    const before = this.#ofService.get(service) ?? none
    const wanted = yield* this.#claimsOf(service, now, slice)
    for (const [frontend, { address }] of before) {
      if (slice.isUsedUp()) yield
      this.#set(frontend, this.#others(frontend, service))
      this.#namers.get(address)?.delete(service)
      if (this.#namers.get(address)?.size === 0) this.#namers.delete(address)
    }
    for (const [frontend, claim] of wanted) {
      if (slice.isUsedUp()) yield
      this.#set(frontend, inserted(this.#others(frontend, service), claim))
      if (claim.kind === 'load balancer IP' || claim.kind === 'external IP')
        getOrInsert(this.#namers, claim.address, () => new Set<ObjectKey>()).add(service)
    }
    if (wanted.size === 0) this.#ofService.delete(service)
    else this.#ofService.set(service, wanted)
  }

  /** All that the Services claim now or will claim, with the claims that they will have. */
  *#wantedBy(
    changed: ReadonlyMap<ObjectKey, RoutedService>,
    slice: Slice,
  ): Sliced<ReadonlyMap<string, readonly Claim[]>> {
    const wanted = new Map<string, Claim[]>()
    for (const [service, now] of changed) {
      for (const frontend of this.#ofService.get(service)?.keys() ?? []) {
        getOrInsert(wanted, frontend, () => [])
        if (slice.isUsedUp()) yield
      }
      for (const [frontend, claim] of yield* this.#claimsOf(service, now, slice)) {
        getOrInsert(wanted, frontend, () => []).push(claim)
        if (slice.isUsedUp()) yield
      }
    }
    return wanted
  }

  #others(frontend: string, service: ObjectKey): readonly Claim[] {
    return (this.#claims.get(frontend) ?? []).filter((claim) => claim.service !== service)
  }

  #set(frontend: string, claims: readonly Claim[]): void {
    if (claims.length === 0) this.#claims.delete(frontend)
    else this.#claims.set(frontend, claims)
  }

  *#claimsOf(service: ObjectKey, routed: RoutedService, slice: Slice): Sliced<Claims> {
    const known = this.#lastClaims
    if (known?.routed === routed) return known.claims
    const { routes, creationTimestamp, uid } = routed
    const claims = new Map<string, Claim>()
    for (const route of routes) {
      for (const { kind, key, address } of frontendsOf(route, this.#nodeAddresses))
        getOrInsert(claims, kind === 'cluster IP' ? address : key, () => ({
          service,
          kind,
          address,
          creationTimestamp,
          uid,
        }))
      if (slice.isUsedUp()) yield
    }
    this.#lastClaims = { routed, claims }
    return claims
  }
}

const byPrecedence = (a: Claim, b: Claim): number =>
  frontendKinds.indexOf(a.kind) - frontendKinds.indexOf(b.kind) ||
  compare(a.creationTimestamp, b.creationTimestamp) ||
  compare(a.uid, b.uid) ||
  compare(a.service, b.service)

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

function inserted(claims: readonly Claim[], claim: Claim): readonly Claim[] {
  const at = claims.findIndex((each) => byPrecedence(claim, each) < 0)
  return at < 0 ? [...claims, claim] : claims.toSpliced(at, 0, claim)
}

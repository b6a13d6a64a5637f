// FrontendClaims: which Service uses an external address and port that several Services name. The first one uses it until it
// gives it up.
import type { ObjectKey } from '../../api/meta/object.ts'
import type { RoutedService } from '../routing/service-route.ts'
import { frontendsOf } from './frontends.ts'

export class FrontendClaims {
  /** The Services that name a frontend, in the order in which they did. */
  readonly #claimants = new Map<string, ObjectKey[]>()
  readonly #claims = new Map<ObjectKey, ReadonlySet<string>>()

  ownerOf(frontend: string): ObjectKey | undefined {
    return this.#claimants.get(frontend)?.[0]
  }

  /** Services that are not changed but get a frontend from one that is. */
  successorsOf(
    changed: ReadonlyMap<ObjectKey, RoutedService>,
    nodeAddresses: readonly string[],
  ): ReadonlySet<ObjectKey> {
    const successors = new Set<ObjectKey>()
    for (const [service, now] of changed) {
      const claimed = this.#claims.get(service)
      if (claimed === undefined) continue
      const kept = shareableKeys(now, nodeAddresses)
      for (const frontend of claimed)
        if (!kept.has(frontend))
          for (const claimant of this.#claimants.get(frontend) ?? [])
            if (!changed.has(claimant)) successors.add(claimant)
    }
    return successors
  }

  replace(service: ObjectKey, now: RoutedService, nodeAddresses: readonly string[]): void {
    const claimed = this.#claims.get(service)
    const wanted = shareableKeys(now, nodeAddresses)
    if (claimed === undefined && wanted.size === 0) return
    for (const frontend of claimed ?? []) if (!wanted.has(frontend)) this.#giveUp(service, frontend)
    for (const frontend of wanted)
      if (claimed?.has(frontend) !== true)
        this.#claimants.set(frontend, [...(this.#claimants.get(frontend) ?? []), service])
    if (wanted.size === 0) this.#claims.delete(service)
    else this.#claims.set(service, wanted)
  }

  #giveUp(service: ObjectKey, frontend: string): void {
    const left = (this.#claimants.get(frontend) ?? []).filter((claimant) => claimant !== service)
    if (left.length === 0) this.#claimants.delete(frontend)
    else this.#claimants.set(frontend, left)
  }
}

const shareableKeys = ({ routes }: RoutedService, nodeAddresses: readonly string[]): ReadonlySet<string> =>
  new Set(
    routes.flatMap((route) =>
      route.externalIps.length === 0 && route.loadBalancerIps.length === 0
        ? []
        : frontendsOf(route, nodeAddresses).flatMap(({ isShareable, key }) => (isShareable ? [key] : [])),
    ),
  )

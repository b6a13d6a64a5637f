// BinderState: the volumes and claims that the binder knows, and which of them a change concerns.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { claimKeyOf } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { keyOf, type ObjectKey } from '../../api/meta/object.ts'
import { KnownObjects } from './known-objects.ts'
import { isFree } from '../../api/core/v1/volume/volume-matching.ts'
import { VolumeIndex } from './volume-index.ts'
import { isWaiting, WaitingClaims } from './waiting-claims.ts'

type Change<T> = { readonly key: ObjectKey; readonly now: T | undefined; readonly before: T | undefined }
type IsDelayed = (claim: PersistentVolumeClaim) => boolean

/** What has to be reconciled. */
export interface Concerned {
  readonly claims: readonly ObjectKey[]
  readonly volumes: readonly string[]
}

const nothing: Concerned = { claims: [], volumes: [] }

export class BinderState {
  readonly index = new VolumeIndex()
  readonly waiting = new WaitingClaims()
  readonly volumes = new KnownObjects<PersistentVolume>((before, now) => this.index.replace(before, now))
  readonly claims = new KnownObjects<PersistentVolumeClaim>((before, now) => {
    this.waiting.replace(before, now)
    this.#replaceName(before, now)
  })
  /** The claims that name a volume in their spec, by the volume. */
  readonly #claimsByVolume = new Map<string, Set<ObjectKey>>()

  /**
   * A volume concerns its claim, the claims that name it, and one claim that waits for such a volume. The binder continues
   * after its own write with the result, so the report of that write concerns only claims that the volume is free for.
   */
  volumeChanged({ key, now, before }: Change<PersistentVolume>, isDelayed: IsDelayed): Concerned {
    const isNew = this.volumes.observe(key, now)
    if (!isNew && now?.spec.claimRef?.uid) return nothing
    const claims = new Set(this.#claimsByVolume.get(key) ?? [])
    for (const volume of [now, before]) {
      const claim = volume && claimKeyOf(volume)
      if (claim !== undefined) claims.add(claim)
    }
    const offered = this.#offer(key, isDelayed)
    if (offered !== undefined) claims.add(offered)
    return { claims: [...claims], volumes: isNew && now !== undefined ? [key] : [] }
  }

  /**
   * A claim concerns the volumes that it names and that name it, and the next claim for a volume that it did not take. The
   * report of a write by the binder concerns neither the claim nor its volume, which are bound in the same reconcile.
   */
  claimChanged({ key, now, before }: Change<PersistentVolumeClaim>, isDelayed: IsDelayed): Concerned {
    const isNew = this.claims.observe(key, now)
    const volumes = new Set(this.index.reservedFor(key).map(({ metadata }) => metadata.name))
    for (const claim of [now, before]) if (claim?.spec.volumeName) volumes.add(claim.spec.volumeName)
    if (!isNew) volumes.delete(now?.spec.volumeName ?? '')
    const claims = isNew && now !== undefined ? [key] : []
    const known = this.claims.get(key)
    if (known === undefined || !isWaiting(known)) {
      const left = this.waiting.endOffer(key, false)
      const next = left === undefined ? undefined : this.#offer(left, isDelayed)
      if (next !== undefined) claims.push(next)
    }
    return { claims, volumes: [...volumes] }
  }

  #offer(name: string, isDelayed: IsDelayed): ObjectKey | undefined {
    const volume = this.volumes.get(name)
    return volume !== undefined && isFree(volume) ? this.waiting.offer(volume, isDelayed) : undefined
  }

  #replaceName(before: PersistentVolumeClaim | undefined, now: PersistentVolumeClaim | undefined): void {
    const left = before?.spec.volumeName
    const joined = now?.spec.volumeName
    if (left === joined) return
    if (before !== undefined && left) {
      const keys = this.#claimsByVolume.get(left)
      keys?.delete(keyOf(before))
      if (keys?.size === 0) this.#claimsByVolume.delete(left)
    }
    if (now !== undefined && joined) getOrInsert(this.#claimsByVolume, joined, () => new Set()).add(keyOf(now))
  }
}

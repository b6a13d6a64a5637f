// VolumeIndex: finds the volume for a claim without scanning all volumes. Free volumes are ordered by size within groups of
// equal class, access modes, volume mode and attributes class; reserved volumes are found by their claim.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { OrderedMap } from '../../base/collections/ordered-map.ts'
import { claimKeyOf, classNameOf } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { keyOf, type ObjectKey } from '../../api/meta/object.ts'
import {
  attributesClassOf,
  hasLabels,
  hasModes,
  isFree,
  sizeOf,
  sizeWanted,
  suits,
} from '../../api/core/v1/volume/volume-matching.ts'

/** Volumes that differ only in name, size and labels. */
interface Group {
  readonly modes: readonly string[]
  readonly volumeMode: string
  readonly attributesClass: string
  /** By size, then by name. */
  volumes: OrderedMap<PersistentVolume>
}

/** Digits of the largest quantity in nano-units. */
const sizeDigits = 28
const sizeKey = (nanos: bigint): string => `${nanos}`.padStart(sizeDigits, '0')
const orderKey = (volume: PersistentVolume): string => `${sizeKey(sizeOf(volume))}/${volume.metadata.name}`
const modesOf = ({ spec }: PersistentVolume): string[] => [...new Set(spec.accessModes)].toSorted()

export class VolumeIndex {
  readonly #free = new Map<string, Map<string, Group>>()
  readonly #reserved = new Map<ObjectKey, Map<string, PersistentVolume>>()
  /** Volumes whose binding is being written, which no other claim may take. */
  readonly #held = new Set<string>()

  replace(before: PersistentVolume | undefined, now: PersistentVolume | undefined): void {
    if (before !== undefined) this.#remove(before)
    if (now !== undefined) this.#add(now)
  }

  /** Volumes that are reserved for the claim, or bound to it. */
  reservedFor(key: ObjectKey): PersistentVolume[] {
    return [...(this.#reserved.get(key)?.values() ?? [])]
  }

  /**
   * As upstream, volumes with fewer access modes are preferred to smaller ones, and a reserved volume only to others with
   * the same access modes. A delayed claim is only bound to a volume that is reserved for it.
   */
  matchFor(claim: PersistentVolumeClaim, isDelayed: boolean): PersistentVolume | undefined {
    const reserved = this.reservedFor(keyOf(claim)).filter((volume) => suits(volume, claim))
    const groups = isDelayed ? [] : this.#groupsFor(claim)
    const counts = [...reserved.map((volume) => modesOf(volume).length), ...groups.map(({ modes }) => modes.length)]
    for (const count of [...new Set(counts)].toSorted((a, b) => a - b)) {
      const named = reserved.find((volume) => modesOf(volume).length === count)
      const found =
        named ??
        this.#smallest(
          groups.filter(({ modes }) => modes.length === count),
          claim,
        )
      if (found !== undefined) return found
    }
    return undefined
  }

  /** No other claim gets the volume until it is released. */
  hold(name: string): Disposable {
    this.#held.add(name)
    return { [Symbol.dispose]: () => this.#held.delete(name) }
  }

  #groupsFor(claim: PersistentVolumeClaim): Group[] {
    return [...(this.#free.get(classNameOf(claim))?.values() ?? [])].filter(
      ({ modes, volumeMode, attributesClass }) =>
        volumeMode === claim.spec.volumeMode &&
        attributesClass === attributesClassOf(claim) &&
        hasModes(modes, claim.spec.accessModes),
    )
  }

  #smallest(groups: readonly Group[], claim: PersistentVolumeClaim): PersistentVolume | undefined {
    const start = sizeKey(sizeWanted(claim))
    let best: PersistentVolume | undefined
    for (const { volumes } of groups)
      for (const [, volume] of volumes.range(start, '')) {
        if (this.#held.has(volume.metadata.name) || !hasLabels(volume, claim)) continue
        if (best === undefined || orderKey(volume) < orderKey(best)) best = volume
        break
      }
    return best
  }

  #add(volume: PersistentVolume): void {
    const key = claimKeyOf(volume)
    if (key !== undefined) getOrInsert(this.#reserved, key, newMap<PersistentVolume>).set(volume.metadata.name, volume)
    if (!isFree(volume)) return
    const groups = getOrInsert(this.#free, classNameOf(volume), newMap<Group>)
    const group = getOrInsert(groups, groupKey(volume), () => newGroup(volume))
    group.volumes = group.volumes.set(orderKey(volume), volume)
  }

  #remove(volume: PersistentVolume): void {
    const key = claimKeyOf(volume)
    const reserved = key === undefined ? undefined : this.#reserved.get(key)
    reserved?.delete(volume.metadata.name)
    if (key !== undefined && reserved?.size === 0) this.#reserved.delete(key)
    const groups = this.#free.get(classNameOf(volume))
    const group = groups?.get(groupKey(volume))
    if (groups === undefined || group === undefined) return
    group.volumes = group.volumes.delete(orderKey(volume))
    if (group.volumes.size === 0) groups.delete(groupKey(volume))
    if (groups.size === 0) this.#free.delete(classNameOf(volume))
  }
}

const newMap = <V>(): Map<string, V> => new Map()

const groupKey = (volume: PersistentVolume): string =>
  `${modesOf(volume).join()} ${volume.spec.volumeMode} ${attributesClassOf(volume)}`

const newGroup = (volume: PersistentVolume): Group => ({
  modes: modesOf(volume),
  volumeMode: volume.spec.volumeMode ?? '',
  attributesClass: attributesClassOf(volume),
  volumes: OrderedMap.empty(),
})

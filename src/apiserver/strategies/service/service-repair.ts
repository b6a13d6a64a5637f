// ServiceRepair: keeps IPAddresses consistent with the Services while the server runs. It is part of the API server, because
// addresses must be correct without a controller manager.
import { parseCidrsSloppy } from '../../../base/net/sloppy-address.ts'
import { errorText, type Log } from '../../../base/observability/log.ts'
import { rfc3339 } from '../../../base/time/clock.ts'
import { newUid } from '../../../base/random/ids.ts'
import { unlessAborted } from '../../../base/async/unless-aborted.ts'
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import { service, type Service } from '../../../api/core/v1/service/service.ts'
import { ipAddress, type IPAddress } from '../../../api/networking/v1/ip-address.ts'
import { serviceCidr } from '../../../api/networking/v1/service-cidr.ts'
import { keyOf, splitKey, type ApiObject, type ObjectKey } from '../../../api/meta/object.ts'
import type { Condition, Store } from '../../../store/store.ts'
import { storeKey } from '../../storage/store-keys.ts'
import type { CacheObserver, ObjectLister } from '../../watch-cache/object-caches.ts'
import { addressAllocation, addressOwner } from './cluster-addresses.ts'
import type { ServiceRanges } from './service-ranges.ts'
import { recordRepair, type RepairEventDeps } from './repair-event.ts'
import { repairsOf, type Repair } from './service-repairs.ts'

interface ServiceRepairDeps extends RepairEventDeps {
  readonly lister: ObjectLister
  readonly store: Store
  readonly log: Log
  readonly ranges: ServiceRanges
}

const retryMs = 10_000

export class ServiceRepair {
  readonly #deps: ServiceRepairDeps
  readonly #due = new Set<ObjectKey>()
  /** Names of the allocator's IPAddresses, by the key of their Service. */
  readonly #owned = new Map<ObjectKey, Set<string>>()
  /** What was reported about each Service, so that an update of it does not repeat it. */
  readonly #reported = new Map<ObjectKey, string>()
  #woken = Promise.withResolvers<void>()

  constructor(deps: ServiceRepairDeps) {
    this.#deps = deps
  }

  readonly serviceObserver: CacheObserver = {
    changed: (now, before) => {
      const changed = now ?? before
      if (changed !== undefined) this.#enqueue(keyOf(changed))
    },
  }

  readonly addressObserver: CacheObserver = {
    changed: (now, before) => {
      const changed = (now ?? before) as IPAddress | undefined
      const owner = changed && addressOwner(changed)
      if (changed === undefined || owner === undefined) return
      const names = getOrInsert(this.#owned, owner, () => new Set<string>())
      if (now === undefined) names.delete(changed.metadata.name)
      else names.add(changed.metadata.name)
      if (names.size === 0) this.#owned.delete(owner)
      this.#enqueue(owner)
    },
  }

  /** A range was added or removed: every Service may be affected. */
  readonly rangeObserver: CacheObserver = {
    changed: () => {
      for (const each of this.#deps.lister.list(service)) this.#enqueue(keyOf(each))
    },
  }

  #enqueue(key: ObjectKey): void {
    this.#due.add(key)
    this.#woken.resolve()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let waitMs: number | undefined
    let due: readonly ObjectKey[] = []
    while (!signal.aborted)
      try {
        await this.#wait(waitMs, signal)
        due = [...this.#due]
        this.#due.clear()
        this.#woken = Promise.withResolvers()
        const waits = await Promise.all(due.map((key) => this.#repair(key, signal)))
        waitMs = waits.reduce((least, ms) => (ms === undefined ? least : Math.min(least ?? ms, ms)), undefined)
        for (const [index, ms] of waits.entries()) if (ms !== undefined) this.#due.add(due[index] as ObjectKey)
      } catch (error) {
        if (signal.aborted) return
        log.warn('addresses of Services could not be repaired', { error: errorText(error) })
        await clock.sleep(retryMs, signal).catch(() => {}) // the loop checks the signal
        for (const key of due) this.#enqueue(key)
      }
  }

  /** Until a change, or until a leaked address is old enough. */
  async #wait(waitMs: number | undefined, signal: AbortSignal): Promise<void> {
    const ending = new AbortController()
    const slept = waitMs === undefined ? [] : [this.#deps.clock.sleep(waitMs, ending.signal).catch(() => {})]
    try {
      await unlessAborted(Promise.race([this.#woken.promise, ...slept]), signal)
    } finally {
      ending.abort()
    }
  }

  /** After how many milliseconds the Service must be checked again; undefined: after the next change. */
  async #repair(key: ObjectKey, signal: AbortSignal): Promise<number | undefined> {
    const { lister, clock, ranges } = this.#deps
    const { namespace, name } = splitKey(key)
    const object = lister.get(service, namespace, name)
    const find = (address: string) => lister.get(ipAddress, '', address)
    const repairs = repairsOf(key, object, {
      nowMs: clock.nowMs(),
      ranges,
      cidrs: parseCidrsSloppy(lister.list(serviceCidr).flatMap(({ spec }) => spec.cidrs ?? [])),
      find,
      owned: [...(this.#owned.get(key) ?? [])].flatMap((each) => find(each) ?? []),
    })
    // A Service that has changed since is not repaired: its change is observed soon.
    const seen = { key: storeKey(service, namespace, name), modRevision: object === undefined ? 0 : revisionOf(object) }
    for (const repair of repairs) await this.#act(object, seen, repair, signal)
    await this.#report(key, object, repairs, signal)
    const waits = repairs.flatMap((repair) => (repair.kind === 'wait' ? [repair.ms] : []))
    return waits.length === 0 ? undefined : Math.min(...waits)
  }

  async #act(object: Service | undefined, seen: Condition, repair: Repair, signal: AbortSignal): Promise<void> {
    const { store, clock, random } = this.#deps
    if (repair.kind === 'allocate' && object !== undefined) {
      const { key, value } = addressAllocation(object, repair.address)
      const created = { uid: newUid(random), creationTimestamp: rfc3339(clock.nowMs()) }
      const put = { kind: 'put', key, value: value(created) } as const
      const result = await store.commit({ conditions: [seen, { key, modRevision: 0 }], operations: [put] }, signal)
      if (result.kind === 'committed') await recordRepair(this.#deps, object, repair.note, signal)
    }
    if (repair.kind === 'release') {
      const key = storeKey(ipAddress, '', repair.object.metadata.name)
      const conditions = [seen, { key, modRevision: revisionOf(repair.object) }]
      const result = await store.commit({ conditions, operations: [{ kind: 'delete', key }] }, signal)
      if (result.kind === 'committed') await recordRepair(this.#deps, repair.object, repair.note, signal)
    }
  }

  /** Each problem is reported once, until it changes. */
  async #report(
    key: ObjectKey,
    object: Service | undefined,
    repairs: readonly Repair[],
    signal: AbortSignal,
  ): Promise<void> {
    const notes = repairs.flatMap((repair) => (repair.kind === 'report' ? [repair.note] : []))
    const text = notes.map(({ message }) => message).join('\n')
    if (object === undefined || notes.length === 0) this.#reported.delete(key)
    else if (this.#reported.get(key) !== text) {
      this.#reported.set(key, text)
      for (const note of notes) await recordRepair(this.#deps, object, note, signal)
    }
  }
}

const revisionOf = ({ metadata }: ApiObject): number => Number(metadata.resourceVersion)

// NodePortRepair: compares the keys of node ports with the Services every three minutes, as upstream does. It is part of the
// API server, because ports must be correct without a controller manager.
import { errorText, type Log } from '../../../base/observability/log.ts'
import { service, type Service } from '../../../api/core/v1/service/service.ts'
import { keyOf, namespaceOf } from '../../../api/meta/object.ts'
import { prefixEnd } from '../../../base/collections/ordered-map.ts'
import type { Store } from '../../../store/store.ts'
import type { AllocatorMetrics } from '../../metrics/allocator-metrics.ts'
import { storeKey } from '../../storage/store-keys.ts'
import type { ObjectLister } from '../../watch-cache/object-caches.ts'
import { holderOf, nodePortsOf, portKey, portPrefix, portValue } from './node-ports.ts'
import { recordRepair, type RepairEventDeps } from './repair-event.ts'

export interface HeldPort {
  /** The key of the Service. */
  readonly holder: string
  readonly revision: number
}

export type PortRepair =
  /** The port of the Service has no key, or one that another Service left behind. */
  | { readonly kind: 'allocate'; readonly port: number; readonly object: Service; readonly held: HeldPort | undefined }
  | { readonly kind: 'duplicate'; readonly port: number; readonly object: Service }
  /** No Service has the port. */
  | { readonly kind: 'leaked'; readonly port: number; readonly held: HeldPort }

/** What is wrong with the keys of node ports. */
export function portRepairsOf(services: readonly Service[], held: ReadonlyMap<number, HeldPort>): PortRepair[] {
  const users = new Map<number, Service[]>()
  for (const object of services)
    for (const port of nodePortsOf(object)) users.set(port, [...(users.get(port) ?? []), object])
  const used = [...users].flatMap(([port, objects]) => usedPortRepairs(port, objects, held.get(port)))
  const leaked = [...held].flatMap(([port, each]) =>
    users.has(port) ? [] : [{ kind: 'leaked' as const, port, held: each }],
  )
  return [...used, ...leaked]
}

function usedPortRepairs(port: number, objects: readonly Service[], held: HeldPort | undefined): PortRepair[] {
  const [first] = objects
  const holder = objects.find((object) => keyOf(object) === held?.holder) ?? first
  return objects.flatMap((object): PortRepair[] => {
    if (object !== holder) return [{ kind: 'duplicate', port, object }]
    return keyOf(object) === held?.holder ? [] : [{ kind: 'allocate', port, object, held }]
  })
}

interface NodePortRepairDeps extends RepairEventDeps {
  readonly lister: ObjectLister
  readonly store: Store
  readonly log: Log
  readonly metrics: AllocatorMetrics
}

const intervalMs = 180_000
/** A port without a Service is released when it has been found this often: another server may be creating the Service. */
const leakChecks = 3
const component = 'portallocator-repair-controller'

export class NodePortRepair {
  readonly #deps: NodePortRepairDeps
  /** How often a leaked port was found, by its number. */
  #leaks = new Map<number, number>()
  /** Duplicates that were reported, as `port namespace/name`. */
  #reported = new Set<string>()

  constructor(deps: NodePortRepairDeps) {
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, metrics } = this.#deps
    for (;;) {
      await clock.sleep(intervalMs, signal).catch(() => {}) // the signal is checked next
      if (signal.aborted) return
      try {
        await this.#repair(signal)
      } catch (error) {
        if (signal.aborted) return
        metrics.repairFailed()
        log.warn('node ports of Services could not be repaired', { error: errorText(error) })
      }
    }
  }

  async #repair(signal: AbortSignal): Promise<void> {
    const { store, lister } = this.#deps
    const { items } = await store.range({ start: portPrefix, end: prefixEnd(portPrefix) }, signal)
    const held = new Map(
      items.map(({ key, value, modRevision }) => [
        Number(key.slice(portPrefix.length)),
        { holder: holderOf(value) ?? '', revision: modRevision },
      ]),
    )
    const leaks = this.#leaks
    const reported = this.#reported
    this.#leaks = new Map()
    this.#reported = new Set()
    for (const repair of portRepairsOf(lister.list(service), held)) {
      if (repair.kind === 'allocate') await this.#allocate(repair, signal)
      if (repair.kind === 'duplicate') await this.#report(repair, reported, signal)
      if (repair.kind === 'leaked') await this.#release(repair, (leaks.get(repair.port) ?? 0) + 1, signal)
    }
  }

  async #allocate(
    { port, object, held }: PortRepair & { readonly kind: 'allocate' },
    signal: AbortSignal,
  ): Promise<void> {
    const key = portKey(port)
    // A Service that has changed since is not repaired.
    const { name, resourceVersion } = object.metadata
    const seen = { key: storeKey(service, namespaceOf(object), name), modRevision: Number(resourceVersion) }
    const conditions = [seen, { key, modRevision: held?.revision ?? 0 }]
    const put = { kind: 'put', key, value: portValue(object) } as const
    const result = await this.#deps.store.commit({ conditions, operations: [put] }, signal)
    if (result.kind !== 'committed' || held !== undefined) return
    const note = { reason: 'PortNotAllocated', message: `Port ${port} is not allocated; repairing`, component } as const
    await recordRepair(this.#deps, object, note, signal)
  }

  /** Each duplicate is reported once. */
  async #report(
    { port, object }: PortRepair & { readonly kind: 'duplicate' },
    reported: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<void> {
    const duplicate = `${port} ${keyOf(object)}`
    this.#reported.add(duplicate)
    if (reported.has(duplicate)) return
    const message = `Port ${port} was assigned to multiple services; please recreate service`
    await recordRepair(this.#deps, object, { reason: 'PortAlreadyAllocated', message, component }, signal)
  }

  async #release(
    { port, held }: PortRepair & { readonly kind: 'leaked' },
    found: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (found < leakChecks) {
      this.#leaks.set(port, found)
      return
    }
    const key = portKey(port)
    const conditions = [{ key, modRevision: held.revision }]
    await this.#deps.store.commit({ conditions, operations: [{ kind: 'delete', key }] }, signal)
  }
}

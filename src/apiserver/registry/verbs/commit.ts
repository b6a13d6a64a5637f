// commitWrite: one object, with the quotas and allocations that it uses, in one transaction of the store.
import { context, type Context } from '../../../base/observability/context.ts'
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { Cause } from '../../../base/observability/flow-recorder.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import type { Condition, Operation, Store } from '../../../store/store.ts'
import { checkSize } from '../../../store/transaction.ts'
import { ReservationConflict, type Reservation } from '../../admission/framework/reservation.ts'
import { storeKey } from '../../storage/store-keys.ts'
import { StoredObject } from '../../storage/stored-object.ts'
import {
  allocationChanges,
  AllocationConflict,
  commitAllocating,
  type AllocationChanges,
} from '../resource/allocations.ts'
import { inRequestVersion, type ResourceDeps } from '../resource/resource-deps.ts'

export interface Write {
  readonly operation: 'put' | 'delete'
  readonly object: ApiObject
  /** The revision that the object must still have; 0 when it must not exist. */
  readonly expected: number
  /** Written in the same transaction. */
  readonly reserved?: readonly Reservation[]
}

const noAllocations: AllocationChanges = []
const noReservations: readonly Reservation[] = []

/** Commits one write and records it; undefined where another writer was faster. */
export async function commitWrite(
  deps: ResourceDeps,
  write: Write,
  cause: Cause,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  const { kind, store, flow, codec } = deps
  const { object, operation, expected, reserved = noReservations } = write
  const namespace = namespaceOf(object)
  const key = storeKey(kind, namespace, object.metadata.name)
  const encoded =
    codec === undefined || operation === 'delete' ? object : await codec.toStorage(object, context(signal, cause))
  const value = StoredObject.pending(encoded)
  const step: Operation =
    operation === 'delete'
      ? { kind: 'delete', key }
      : kind.ttlMs === undefined
        ? { kind: 'put', key, value }
        : { kind: 'put', key, value, lease: await deps.leases.leaseFor(kind.ttlMs) }
  const rules = deps.strategy?.allocations
  const allocated = rules === undefined ? noAllocations : await allocationChanges(rules, deps, write, signal)
  const condition = { key, modRevision: expected }
  const isAlone = allocated === noAllocations && reserved.length === 0
  const own = isAlone
    ? { conditions: [condition], operations: [step] }
    : {
        conditions: [condition, ...reserved.map(conditionOf)],
        operations: [step, ...reserved.map(putOf)],
      }
  const result = isAlone ? await store.commit(own, signal) : await commitAllocating(store, own, allocated, signal)
  if (result.kind === 'conflict') {
    if (isAlone) return undefined
    await throwOtherConflict(store, condition, reserved, result.revision, signal)
    return undefined
  }
  const subject = { resource: kind.plural, namespace, name: object.metadata.name }
  flow.passStage(cause.event, 'store')
  flow.record('persist', 'API Server', 'Store', writeName(kind, operation), subject, result.revision, cause)
  const committed = value.committedAt(result.revision)
  // As upstream: the response has what a read returns. It has defaults of a status that was not stored, and lacks what the
  // conversion loses.
  return codec === undefined || operation === 'delete'
    ? committed
    : inRequestVersion(deps, committed, context(signal, cause))
}

/** The result of a write that is not committed. As upstream, it is converted to the stored version and back. */
export async function dryRunWrite(
  deps: ResourceDeps,
  object: ApiObject,
  revision: number,
  ctx: Context,
): Promise<StoredObject> {
  const encoded = deps.codec === undefined ? object : await deps.codec.toStorage(object, ctx)
  // The response would be as large as the write. Upstream does not check it.
  checkSize([{ kind: 'put', key: '', value: StoredObject.pending(encoded) }])
  const stored = StoredObject.ofObject(encoded, revision)
  return inRequestVersion(deps, stored, ctx)
}

/** Throws where not the object itself has changed, but a quota or an allocation that is written with it. */
async function throwOtherConflict(
  store: Store,
  condition: Condition,
  reserved: readonly Reservation[],
  revision: number,
  signal: AbortSignal,
): Promise<void> {
  const isStale = async ({ key, modRevision }: Condition): Promise<boolean> =>
    ((await store.get(key, signal))?.modRevision ?? 0) !== modRevision
  if (await isStale(condition)) return
  for (const reservation of reserved) if (await isStale(conditionOf(reservation))) throw new ReservationConflict()
  throw new AllocationConflict(revision)
}

const puts = new WeakMap<Kind, string>()

/** The name of the write in the flow record. All writes of a kind share one string. */
const writeName = (kind: Kind, operation: Write['operation']): string =>
  operation === 'put' ? getOrInsert(puts, kind, () => `put ${kind.singular}`) : `delete ${kind.singular}`

const keyOfReserved = ({ kind, object }: Reservation): string =>
  storeKey(kind, namespaceOf(object), object.metadata.name)

const conditionOf = (reservation: Reservation): Condition => ({
  key: keyOfReserved(reservation),
  modRevision: reservation.expected,
})

const putOf = (reservation: Reservation): Operation => ({
  kind: 'put',
  key: keyOfReserved(reservation),
  value: StoredObject.pending(reservation.object),
})

// What the registry's verbs share: one kind with its cache and strategy, over the store.
import type { Clock } from '../../base/time/clock.ts'
import type { Cause, FlowRecorder, RequestStage } from '../../base/observability/flow-recorder.ts'
import type { Random } from '../../base/random/random.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import type { Condition, Operation, Store } from '../../store/store.ts'
import type { AdmissionChain } from '../admission/framework/admission-chain.ts'
import { ReservationConflict, type Reservation } from '../admission/framework/reservation.ts'
import type { LoopMonitor } from '../request/loop-monitor.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { userWithName, type ApiRequest, type ResourceTarget } from '../request/request.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'
import type { SpecInterning } from '../objects/spec-interning.ts'
import { allocationChanges, AllocationConflict } from './allocations.ts'
import { storeKey } from '../storage/store-keys.ts'
import type { VersionConverter } from './version-converter.ts'
import type { LeasePool } from '../storage/lease-pool.ts'
import type { ObjectLister, Strategy, StrategyContext } from './strategy.ts'

export interface ResourceDeps {
  /** The kind that is kept. */
  readonly kind: Kind
  /** The version that the request speaks. */
  readonly converter: VersionConverter
  readonly strategy: Strategy | undefined
  readonly cache: WatchCache
  readonly store: Store
  readonly leases: LeasePool
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly admission: AdmissionChain
  readonly authorize: Authorizer['authorize']
  readonly lister: ObjectLister
  /** For kinds whose objects are often alike. */
  readonly interning: SpecInterning | undefined
  readonly loop: LoopMonitor
}

/** Notes that a request has come so far, and returns the monotonic time. */
export const recordStage = ({ flow }: ResourceDeps, { context }: ApiRequest, station: RequestStage): number =>
  flow.passStage(context.cause.event, station)

export type ResourceRequest = ApiRequest & { readonly target: ResourceTarget }

export const isDryRun = ({ query }: ApiRequest): boolean => query.size > 0 && query.getAll('dryRun').includes('All')

const noUser = userWithName('')

/** What a strategy sees of a request's surroundings. */
export const strategyContextOf = (
  { lister: reads, random, clock }: ResourceDeps,
  request: ResourceRequest,
): StrategyContext => ({
  get: reads.get,
  list: reads.list,
  random,
  nowMs: clock.nowMs(),
  isDryRun: isDryRun(request),
  user: request.user ?? noUser,
})

/** The newest version, straight from the store: for writers whose cached one turned out old. */
export async function readStored(
  deps: ResourceDeps,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  const item = await deps.store.get(storeKey(deps.kind, namespace, name), signal)
  return item === undefined ? undefined : StoredObject.ofItem(item)
}

/** The cache may lag behind the store: only the store can say that there is no object. */
export async function exists(deps: ResourceDeps, { target, context }: ResourceRequest): Promise<boolean> {
  const { namespace, name } = target
  if (deps.cache.get(objectKey(namespace, name)) !== undefined) return true
  return (await readStored(deps, namespace, name, context.signal)) !== undefined
}

export interface Write {
  readonly operation: 'put' | 'delete'
  readonly object: ApiObject
  /** The revision that the object must still have; 0 when it must not exist. */
  readonly expected: number
  /** What is written with it or not at all. */
  readonly reserved?: readonly Reservation[]
}

const noClaims = { conditions: [], operations: [] }
const noReservations: readonly Reservation[] = []

/** Commits one write and records it; undefined when someone else was first. */
export async function commitWrite(
  deps: ResourceDeps,
  write: Write,
  cause: Cause,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  const { kind, store, flow } = deps
  const { object, operation, expected, reserved = noReservations } = write
  const namespace = namespaceOf(object)
  const key = storeKey(kind, namespace, object.metadata.name)
  const value = StoredObject.pending(object)
  const step: Operation =
    operation === 'delete'
      ? { kind: 'delete', key }
      : kind.ttlMs === undefined
        ? { kind: 'put', key, value }
        : { kind: 'put', key, value, lease: await deps.leases.leaseFor(kind.ttlMs) }
  const book = deps.strategy?.allocations
  const claims = book === undefined ? noClaims : await allocationChanges(book, deps, write, signal)
  const condition = { key, modRevision: expected }
  const isAlone = claims === noClaims && reserved.length === 0
  const result = await store.commit(
    isAlone
      ? { conditions: [condition], operations: [step] }
      : {
          conditions: [condition, ...claims.conditions, ...reserved.map(conditionOf)],
          operations: [step, ...claims.operations, ...reserved.map(putOf)],
        },
    signal,
  )
  if (result.kind === 'conflict') {
    if (claims.conditions.length === 0 && reserved.length === 0) return undefined
    const isStale = async (condition: Condition): Promise<boolean> =>
      ((await store.get(condition.key, signal))?.modRevision ?? 0) !== condition.modRevision
    if (await isStale({ key, modRevision: expected })) return undefined
    for (const reservation of reserved) if (await isStale(conditionOf(reservation))) throw new ReservationConflict()
    throw new AllocationConflict(result.revision)
  }
  const subject = { resource: kind.plural, namespace, name: object.metadata.name }
  flow.passStage(cause.event, 'store')
  flow.record('persist', 'API Server', 'Store', writtenAs(kind, operation), subject, result.revision, cause)
  return value.committedAt(result.revision)
}

const puts = new Map<Kind, string>()

/** Every write of the ring is called by it: one text for all writes of a kind. */
const writtenAs = (kind: Kind, operation: Write['operation']): string =>
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

// What the registry's verbs share: one kind with its cache and strategy, over the store.
import type { Clock } from '../../base/clock.ts'
import type { Cause, FlowRecorder, StationName } from '../../base/flow.ts'
import type { Random } from '../../base/random.ts'
import { getOrMake } from '../../base/get-or-make.ts'
import type { Kind } from '../../api/kind.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/object.ts'
import type { Condition, Operation, Store } from '../../store/store.ts'
import type { AdmissionChain } from '../admission/chain.ts'
import { ReservationLost, type Reservation } from '../admission/reservation.ts'
import type { LoopWatch } from '../loop-watch.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { userNamed, type ApiRequest, type ResourceTarget } from '../request.ts'
import { Draft, Stored } from '../stored.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import type { AlikeParts } from './alike-parts.ts'
import { claimChanges, ClaimTaken } from './claims.ts'
import { storeKey } from './keys.ts'
import type { Face } from './face.ts'
import type { LeasePool } from './lease-pool.ts'
import type { RegistryReads, Strategy, World } from './strategy.ts'

export interface ResourceParts {
  /** The kind that is kept. */
  readonly kind: Kind
  /** The version that the request speaks. */
  readonly face: Face
  readonly strategy: Strategy | undefined
  readonly cache: WatchCache
  readonly store: Store
  readonly leases: LeasePool
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly admission: AdmissionChain
  readonly authorize: Authorizer['authorize']
  readonly reads: RegistryReads
  /** For kinds whose objects are often alike. */
  readonly alike: AlikeParts | undefined
  readonly loop: LoopWatch
}

/** Notes that a request has come so far, and returns the monotonic time. */
export const passed = ({ flow }: ResourceParts, { context }: ApiRequest, station: StationName): number =>
  flow.pass(context.cause.event, station)

export type ResourceRequest = ApiRequest & { readonly target: ResourceTarget }

export const isDryRun = ({ query }: ApiRequest): boolean => query.size > 0 && query.getAll('dryRun').includes('All')

const nobody = userNamed('')

/** What a strategy sees of a request's surroundings. */
export const worldOf = ({ reads, random, clock }: ResourceParts, request: ResourceRequest): World => ({
  get: reads.get,
  list: reads.list,
  random,
  nowMs: clock.nowMs(),
  isDryRun: isDryRun(request),
  user: request.user ?? nobody,
})

/** The newest version, straight from the store: for writers whose cached one turned out old. */
export async function readStored(
  parts: ResourceParts,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<Stored | undefined> {
  const item = await parts.store.get(storeKey(parts.kind, namespace, name), signal)
  return item === undefined ? undefined : Stored.from(item)
}

/** The cache may lag behind the store: only the store can say that there is no object. */
export async function exists(parts: ResourceParts, { target, context }: ResourceRequest): Promise<boolean> {
  const { namespace, name } = target
  if (parts.cache.get(objectKey(namespace, name)) !== undefined) return true
  return (await readStored(parts, namespace, name, context.signal)) !== undefined
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
  parts: ResourceParts,
  write: Write,
  cause: Cause,
  signal: AbortSignal,
): Promise<Stored | undefined> {
  const { kind, store, flow } = parts
  const { object, operation, expected, reserved = noReservations } = write
  const namespace = namespaceOf(object)
  const key = storeKey(kind, namespace, object.metadata.name)
  const value = new Draft(object)
  const step: Operation =
    operation === 'delete'
      ? { kind: 'delete', key }
      : kind.ttlMs === undefined
        ? { kind: 'put', key, value }
        : { kind: 'put', key, value, lease: await parts.leases.leaseFor(kind.ttlMs) }
  const book = parts.strategy?.claims
  const claims = book === undefined ? noClaims : await claimChanges(book, parts, write, signal)
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
  if (result.kind === 'refused') {
    if (claims.conditions.length === 0 && reserved.length === 0) return undefined
    const isStale = async (condition: Condition): Promise<boolean> =>
      ((await store.get(condition.key, signal))?.modRevision ?? 0) !== condition.modRevision
    if (await isStale({ key, modRevision: expected })) return undefined
    for (const reservation of reserved) if (await isStale(conditionOf(reservation))) throw new ReservationLost()
    throw new ClaimTaken(result.revision)
  }
  const subject = { resource: kind.plural, namespace, name: object.metadata.name }
  flow.pass(cause.event, 'store')
  flow.record('persist', 'API Server', 'Store', writtenAs(kind, operation), subject, result.revision, cause)
  return Stored.of(value, result.revision)
}

const puts = new Map<Kind, string>()

/** Every write of the ring is called by it: one text for all writes of a kind. */
const writtenAs = (kind: Kind, operation: Write['operation']): string =>
  operation === 'put' ? getOrMake(puts, kind, () => `put ${kind.singular}`) : `delete ${kind.singular}`

const keyOfReserved = ({ kind, object }: Reservation): string =>
  storeKey(kind, namespaceOf(object), object.metadata.name)

const conditionOf = (reservation: Reservation): Condition => ({
  key: keyOfReserved(reservation),
  modRevision: reservation.expected,
})

const putOf = (reservation: Reservation): Operation => ({
  kind: 'put',
  key: keyOfReserved(reservation),
  value: new Draft(reservation.object),
})

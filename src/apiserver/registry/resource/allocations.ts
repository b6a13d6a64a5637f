// Allocations: keys that an object holds besides its own, so that no other object can have the same address or port.
// They are allocated and released in the transaction that writes the object, so none leaks and none is allocated twice. An
// object with more of them than a transaction has operations, such as a Service with hundreds of node ports, allocates the
// others before it is written, and releases others after it; a process that ends in between leaves some to the repair.
import { keyOf, namespaceOf, type ApiObject, type ObjectKey } from '../../../api/meta/object.ts'
import { StatusError } from '../../../api/errors/status-error.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import { rfc3339, type Clock } from '../../../base/time/clock.ts'
import { newUid } from '../../../base/random/ids.ts'
import { prefixEnd } from '../../../base/collections/ordered-map.ts'
import type { Random } from '../../../base/random/random.ts'
import {
  operationsMax,
  TransactionInvalid,
  type CommitResult,
  type Condition,
  type LazyValue,
  type Operation,
  type Store,
  type Transaction,
} from '../../../store/store.ts'
import { StoredObject } from '../../storage/stored-object.ts'
import type { WatchCache } from '../../watch-cache/watch-cache.ts'
import { storeKey } from '../../storage/store-keys.ts'

export interface Allocation {
  readonly key: string
  /** The value of the key. One that is an object gets this metadata. */
  value(metadata: CreationMetadata): Uint8Array | LazyValue
}

export interface CreationMetadata {
  readonly uid: string
  readonly creationTimestamp: string
}

interface AllocationDeps {
  readonly kind: Kind
  readonly cache: WatchCache
  readonly store: Store
  readonly random: Random
  readonly clock: Clock
}

const creationMetadata = ({ random, clock }: AllocationDeps): CreationMetadata => ({
  uid: newUid(random),
  creationTimestamp: rfc3339(clock.nowMs()),
})

/** What objects of a kind allocate, and the owner of an allocation in the store. */
export interface Allocations<T extends ApiObject = ApiObject> {
  /** The prefixes of the keys. */
  readonly prefixes: readonly string[]
  allocationsOf(object: T): readonly Allocation[]
  /** The key of the owner; undefined where the value is not an allocation of this kind. */
  ownerOf(value: Uint8Array): ObjectKey | undefined
}

/** Another writer allocated it first. The writer chooses again once the caches have reached the revision. */
export class AllocationConflict extends StatusError {
  readonly revision: number

  constructor(revision: number) {
    super(409, 'Conflict', 'an address or port was taken by another object at the same time; try again')
    this.revision = revision
  }
}

/** One key that a write allocates or releases. */
interface AllocationChange {
  readonly condition: Condition
  readonly operation: Operation
}

/** Allocations first. */
export type AllocationChanges = readonly AllocationChange[]

/** The changes with which a write allocates and releases. */
export async function allocationChanges(
  allocations: Allocations,
  deps: AllocationDeps,
  { object, operation, expected }: { object: ApiObject; operation: 'put' | 'delete'; expected: number },
  signal: AbortSignal,
): Promise<AllocationChanges> {
  const old = await versionAt(deps, object, expected, signal)
  const wanted = operation === 'delete' ? [] : allocations.allocationsOf(object)
  const held = old === undefined ? [] : allocations.allocationsOf(old)
  const changes: AllocationChange[] = []
  const wantedKeys = new Set(wanted.map(keyOfAllocation))
  const heldKeys = new Set(held.map(keyOfAllocation))
  for (const allocation of wanted.filter(({ key }) => !heldKeys.has(key))) {
    const { key } = allocation
    const value = allocation.value(creationMetadata(deps))
    changes.push({ condition: { key, modRevision: 0 }, operation: { kind: 'put', key, value } })
  }
  for (const { key } of held.filter((allocation) => !wantedKeys.has(allocation.key))) {
    const item = await deps.store.get(key, signal)
    if (item === undefined || allocations.ownerOf(item.value) !== keyOf(object)) continue
    changes.push({ condition: { key, modRevision: item.modRevision }, operation: { kind: 'delete', key } })
  }
  return changes
}

/** Commits the transaction of an object with its allocations. Throws AllocationConflict where an earlier allocation fails. */
export async function commitAllocating(
  store: Store,
  own: Transaction,
  changes: AllocationChanges,
  signal: AbortSignal,
): Promise<CommitResult> {
  const space = operationsMax - Math.max(own.conditions.length, own.operations.length)
  const within = changes.slice(0, space)
  const others = changes.slice(space)
  const isEarly = ({ operation }: AllocationChange) => operation.kind === 'put'
  const taken: AllocationChange[] = []
  // A key that has changed meanwhile belongs to another object.
  const release = async (released: AllocationChanges) => {
    for (const some of chunksOf(released)) await store.commit(transactionOf(some), signal)
  }
  try {
    for (const some of chunksOf(others.filter(isEarly))) {
      const result = await store.commit(transactionOf(some), signal)
      if (result.kind === 'conflict') throw new AllocationConflict(result.revision)
      for (const { operation } of some) taken.push(releaseOf(operation, result.revision))
    }
    const { conditions, operations } = transactionOf(within)
    const result = await store.commit(
      { conditions: [...own.conditions, ...conditions], operations: [...own.operations, ...operations] },
      signal,
    )
    await release(result.kind === 'conflict' ? taken : others.filter((change) => !isEarly(change)))
    return result
  } catch (error) {
    // After other errors the object may have been written.
    if (error instanceof AllocationConflict || error instanceof TransactionInvalid) await release(taken)
    throw error
  }
}

const releaseOf = ({ key }: Operation, modRevision: number): AllocationChange => ({
  condition: { key, modRevision },
  operation: { kind: 'delete', key },
})

const transactionOf = (changes: AllocationChanges): Transaction => ({
  conditions: changes.map(({ condition }) => condition),
  operations: changes.map(({ operation }) => operation),
})

const chunksOf = (changes: AllocationChanges): AllocationChanges[] =>
  Array.from({ length: Math.ceil(changes.length / operationsMax) }, (_, at) =>
    changes.slice(at * operationsMax, (at + 1) * operationsMax),
  )

const keyOfAllocation = ({ key }: { readonly key: string }): string => key

async function versionAt(
  { kind, cache, store }: AllocationDeps,
  object: ApiObject,
  revision: number,
  signal: AbortSignal,
): Promise<ApiObject | undefined> {
  if (revision === 0) return undefined
  const cached = cache.get(keyOf(object))
  if (cached?.revision === revision) return cached.object
  const item = await store.get(storeKey(kind, namespaceOf(object), object.metadata.name), signal)
  return item?.modRevision === revision ? StoredObject.ofItem(item).object : undefined
}

const allocationTries = 32

/** Retries a write while other writers allocate what it chose. */
export async function retryAllocationConflicts<T>(
  { cache }: AllocationDeps,
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof AllocationConflict) || tries === allocationTries) throw error
      await cache.waitForRevision(error.revision, signal)
    }
}

/** Repairs allocations from the objects: missing ones are created, and those without an owner are deleted. */
export async function repairAllocations(
  allocations: Allocations,
  deps: AllocationDeps,
  signal: AbortSignal,
): Promise<void> {
  const { kind, cache, store } = deps
  const owners = new Map<string, ObjectKey>()
  for (const { object, revision } of cache.stateAt(undefined).values())
    for (const allocation of allocations.allocationsOf(object)) {
      const { key } = allocation
      owners.set(key, keyOf(object))
      if ((await store.get(key, signal)) !== undefined) continue
      const holder = { key: storeKey(kind, namespaceOf(object), object.metadata.name), modRevision: revision }
      const put = { kind: 'put', key, value: allocation.value(creationMetadata(deps)) } as const
      await store.commit({ conditions: [holder, { key, modRevision: 0 }], operations: [put] }, signal)
    }
  for (const prefix of allocations.prefixes) {
    const { items } = await store.range({ start: prefix, end: prefixEnd(prefix) }, signal)
    for (const { key, value, modRevision } of items) {
      const holder = allocations.ownerOf(value)
      if (holder === undefined || owners.get(key) === holder) continue
      await store.commit({ conditions: [{ key, modRevision }], operations: [{ kind: 'delete', key }] }, signal)
    }
  }
}

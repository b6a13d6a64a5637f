// Claims: keys that an object holds beside its own, so that no other object can have the same thing: an address, a port.
// They are taken and given back in the transaction that writes the object: none leaks, none is held twice.
import { keyOf, namespaceOf, type ApiObject, type ObjectKey } from '../../api/object.ts'
import { StatusError } from '../../api/status-error.ts'
import type { Kind } from '../../api/kind.ts'
import { rfc3339, type Clock } from '../../base/clock.ts'
import { newUid } from '../../base/ids.ts'
import { prefixEnd } from '../../base/ordered-map.ts'
import type { Random } from '../../base/random.ts'
import type { Condition, Operation, Store } from '../../store/store.ts'
import { Stored } from '../stored.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import { storeKey } from './keys.ts'

export interface Claim {
  readonly key: string
  /** What lies under the key; a claim that is an object takes its birth as its own. */
  value(birth: Birth): Uint8Array
}

export interface Birth {
  readonly uid: string
  readonly creationTimestamp: string
}

/** What of a resource's parts the claims need. */
interface ClaimParts {
  readonly kind: Kind
  readonly cache: WatchCache
  readonly store: Store
  readonly random: Random
  readonly clock: Clock
}

const birthOf = ({ random, clock }: ClaimParts): Birth => ({
  uid: newUid(random),
  creationTimestamp: rfc3339(clock.nowMs()),
})

/** What objects of a kind claim, and who holds a claim that is found in the store. */
export interface ClaimBook<T extends ApiObject = ApiObject> {
  /** Where the claims lie. */
  readonly prefixes: readonly string[]
  claimsOf(object: T): readonly Claim[]
  /** The holder by its key; undefined when the value is no claim of this book. */
  holderOf(value: Uint8Array): ObjectKey | undefined
}

/** Another writer took it first: whoever chose the claim chooses again once the caches have reached the revision. */
export class ClaimTaken extends StatusError {
  readonly revision: number

  constructor(revision: number) {
    super(409, 'Conflict', 'an address or port was taken by another object at the same time; try again')
    this.revision = revision
  }
}

export interface ClaimChanges {
  readonly conditions: readonly Condition[]
  readonly operations: readonly Operation[]
}

/** What a write takes and gives back, as parts of its transaction. */
export async function claimChanges(
  book: ClaimBook,
  parts: ClaimParts,
  { object, operation, expected }: { object: ApiObject; operation: 'put' | 'delete'; expected: number },
  signal: AbortSignal,
): Promise<ClaimChanges> {
  const old = await versionAt(parts, object, expected, signal)
  const wanted = operation === 'delete' ? [] : book.claimsOf(object)
  const held = old === undefined ? [] : book.claimsOf(old)
  const conditions: Condition[] = []
  const operations: Operation[] = []
  const [wantedKeys, heldKeys] = [new Set(wanted.map(keyOfClaim)), new Set(held.map(keyOfClaim))]
  for (const claim of wanted.filter(({ key }) => !heldKeys.has(key))) {
    conditions.push({ key: claim.key, modRevision: 0 })
    operations.push({ kind: 'put', key: claim.key, value: claim.value(birthOf(parts)) })
  }
  for (const { key } of held.filter((claim) => !wantedKeys.has(claim.key))) {
    const item = await parts.store.get(key, signal)
    if (item === undefined || book.holderOf(item.value) !== keyOf(object)) continue
    conditions.push({ key, modRevision: item.modRevision })
    operations.push({ kind: 'delete', key })
  }
  return { conditions, operations }
}

const keyOfClaim = ({ key }: { readonly key: string }): string => key

async function versionAt(
  { kind, cache, store }: ClaimParts,
  object: ApiObject,
  revision: number,
  signal: AbortSignal,
): Promise<ApiObject | undefined> {
  if (revision === 0) return undefined
  const cached = cache.get(keyOf(object))
  if (cached?.revision === revision) return cached.object
  const item = await store.get(storeKey(kind, namespaceOf(object), object.metadata.name), signal)
  return item?.modRevision === revision ? Stored.from(item).object : undefined
}

const claimTries = 32

/** Runs a write again while others take what it chose. */
export async function claiming<T>({ cache }: ClaimParts, signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof ClaimTaken) || tries === claimTries) throw error
      await cache.waitFor(error.revision, signal)
    }
}

/** Makes claims and objects agree again, whatever happened to either: missing claims are made, ownerless ones go. */
export async function repairClaims(book: ClaimBook, parts: ClaimParts, signal: AbortSignal): Promise<void> {
  const { kind, cache, store } = parts
  const claimed = new Map<string, ObjectKey>()
  for (const { object, revision } of cache.stateAt(undefined).values())
    for (const claim of book.claimsOf(object)) {
      const { key } = claim
      claimed.set(key, keyOf(object))
      if ((await store.get(key, signal)) !== undefined) continue
      const holder = { key: storeKey(kind, namespaceOf(object), object.metadata.name), modRevision: revision }
      const put = { kind: 'put', key, value: claim.value(birthOf(parts)) } as const
      await store.commit({ conditions: [holder, { key, modRevision: 0 }], operations: [put] }, signal)
    }
  for (const prefix of book.prefixes) {
    const { items } = await store.range({ start: prefix, end: prefixEnd(prefix) }, signal)
    for (const { key, value, modRevision } of items) {
      const holder = book.holderOf(value)
      if (holder === undefined || claimed.get(key) === holder) continue
      await store.commit({ conditions: [{ key, modRevision }], operations: [{ kind: 'delete', key }] }, signal)
    }
  }
}

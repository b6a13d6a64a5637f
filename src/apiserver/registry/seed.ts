// Seeds: objects that every cluster has. They are made, or brought up to date, in one transaction before the first
// request is answered: nobody may do anything before the default roles are there.
import { rfc3339 } from '../../base/clock.ts'
import { causeOf, type FlowRecorder } from '../../base/flow.ts'
import { newUid } from '../../base/ids.ts'
import type { Kind } from '../../api/kind.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/object.ts'
import { operationsMax, type Transaction } from '../../store/store.ts'
import { Draft } from '../stored.ts'
import { storeKey } from './keys.ts'
import type { ResourceParts } from './parts.ts'

/** An object without what its making gives it: uid and time. */
export type Unmade<T extends ApiObject = ApiObject> = Omit<T, 'metadata'> & {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}

export interface Seed {
  readonly kind: Kind
  readonly object: Unmade
  /** The status of one that is made now. */
  status?(made: ApiObject): unknown
  /** What the present object must become; undefined leaves it. */
  update?(current: ApiObject): ApiObject | undefined
}

interface SeedWrite {
  readonly kind: Kind
  readonly object: ApiObject
  /** 0: it must not exist. */
  readonly expected: number
}

const seedTries = 5

export async function commitSeeds(
  seeds: readonly Seed[],
  partsOf: (kind: Kind) => ResourceParts,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const writes = seeds.flatMap((seed) => writeOf(seed, partsOf(seed.kind)))
    const [first] = writes
    if (first === undefined) return
    const parts = partsOf(first.kind)
    const results = await Promise.all(transactions(writes).map((each) => parts.store.commit(each, signal)))
    const revision = Math.max(...results.map((result) => result.revision))
    record(parts.flow, writes, revision)
    await parts.cache.waitFor(revision, signal)
    if (results.every(({ kind }) => kind === 'committed')) return
    // Another API server was faster with some; what is still missing is seen in the caches now.
    if (tries === seedTries) throw new Error('the first objects could not be made: others keep changing them')
  }
}

function record(flow: FlowRecorder, writes: readonly SeedWrite[], revision: number): void {
  const write = flow.record('persist', 'API Server', 'Store', `put ${writes.length} first objects`, undefined, revision)
  const cause = causeOf(write, revision)
  for (const { kind, object } of writes) {
    const subject = { resource: kind.plural, namespace: namespaceOf(object), name: object.metadata.name }
    flow.record('step', 'API Server', 'API Server', `make ${kind.singular}`, subject, 0, cause)
  }
}

function writeOf({ kind, object, status, update }: Seed, { cache, clock, random }: ResourceParts): SeedWrite[] {
  const { namespace = '', name } = object.metadata
  const current = cache.get(objectKey(namespace, name))
  if (current !== undefined) {
    const updated = update?.(current.object)
    return updated === undefined ? [] : [{ kind, object: updated, expected: current.revision }]
  }
  const metadata = { ...object.metadata, uid: newUid(random), creationTimestamp: rfc3339(clock.nowMs()) }
  const made = { ...object, metadata } as unknown as ApiObject
  return [{ kind, object: status === undefined ? made : ({ ...made, status: status(made) } as ApiObject), expected: 0 }]
}

function transactions(writes: readonly SeedWrite[]): Transaction[] {
  const all = writes.map(({ kind, object, expected }) => {
    const key = storeKey(kind, namespaceOf(object), object.metadata.name)
    return {
      condition: { key, modRevision: expected },
      operation: { kind: 'put', key, value: new Draft(object) } as const,
    }
  })
  const result: Transaction[] = []
  for (let at = 0; at < all.length; at += operationsMax) {
    const some = all.slice(at, at + operationsMax)
    result.push({
      conditions: some.map(({ condition }) => condition),
      operations: some.map(({ operation }) => operation),
    })
  }
  return result
}

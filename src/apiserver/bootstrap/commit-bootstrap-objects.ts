// commitBootstrapObjects: creates bootstrap objects, or brings them up to date, in one transaction per 128 objects. The
// server handles no request before it, because no user is authorized before the default roles exist.
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import { causeOf, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { newUid } from '../../base/random/ids.ts'
import type { Random } from '../../base/random/random.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import { operationsMax, type Store, type Transaction } from '../../store/store.ts'
import { storeKey } from '../storage/store-keys.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'
import type { BootstrapObject } from './bootstrap-object.ts'

/** What is needed of the registry of one kind. */
export interface BootstrapDeps {
  readonly cache: WatchCache
  readonly store: Store
  readonly flow: FlowRecorder
  readonly clock: Clock
  readonly random: Random
}

interface BootstrapWrite {
  readonly kind: Kind
  readonly object: ApiObject
  /** 0: the object must not exist. */
  readonly expected: number
}

const commitTries = 5

export async function commitBootstrapObjects(
  objects: readonly BootstrapObject[],
  depsOf: (kind: Kind) => BootstrapDeps,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const writes = objects.flatMap((object) => writeOf(object, depsOf(object.kind)))
    const [first] = writes
    if (first === undefined) return
    const deps = depsOf(first.kind)
    const results = await Promise.all(transactions(writes).map((each) => deps.store.commit(each, signal)))
    const revision = Math.max(...results.map((result) => result.revision))
    record(deps.flow, writes, revision)
    await deps.cache.waitForRevision(revision, signal)
    if (results.every(({ kind }) => kind === 'committed')) return
    // Another API server has written some of them. What is still missing is computed again from the caches.
    if (tries === commitTries)
      throw new Error('the bootstrap objects could not be committed: other writers keep changing them')
  }
}

function record(flow: FlowRecorder, writes: readonly BootstrapWrite[], revision: number): void {
  const write = flow.record(
    'persist',
    'API Server',
    'Store',
    `put ${writes.length} bootstrap objects`,
    undefined,
    revision,
  )
  const cause = causeOf(write, revision)
  for (const { kind, object } of writes) {
    const subject = { resource: kind.plural, namespace: namespaceOf(object), name: object.metadata.name }
    flow.record('step', 'API Server', 'API Server', `make ${kind.singular}`, subject, 0, cause)
  }
}

function writeOf(
  { kind, object, status, update }: BootstrapObject,
  { cache, clock, random }: BootstrapDeps,
): BootstrapWrite[] {
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

function transactions(writes: readonly BootstrapWrite[]): Transaction[] {
  const all = writes.map(({ kind, object, expected }) => {
    const key = storeKey(kind, namespaceOf(object), object.metadata.name)
    return {
      condition: { key, modRevision: expected },
      operation: { kind: 'put', key, value: StoredObject.pending(object) } as const,
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

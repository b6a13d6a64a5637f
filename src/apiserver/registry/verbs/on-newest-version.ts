// onNewestVersion: decides about a version of an object and writes the result. The first version is that of the cache, which may be
// outdated. Only a committed write proves that it was the newest: a decision to write nothing, and an error, count for the newest
// version only. Otherwise the decision is repeated with that one, as when another writer was faster.
import type { MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { Context } from '../../../base/observability/context.ts'
import { objectKey } from '../../../api/meta/object.ts'
import { modifiedConflict, notFound } from '../../../api/errors/status-error.ts'
import { storeKey } from '../../storage/store-keys.ts'
import type { StoredObject } from '../../storage/stored-object.ts'
import { readStored, type ResourceDeps } from '../resource/resource-deps.ts'

export type Decision<T> =
  | { readonly kind: 'unchanged'; readonly result: T }
  /** `commit` is called once. Its result is undefined where another writer was faster. What it throws is final. */
  | { readonly kind: 'write'; readonly commit: () => Promise<T | undefined> }

interface ObjectName {
  readonly namespace: string
  readonly name: string
}

const triesMax = 16

/** The first version is the cached one, or that of the store where none is cached. */
export async function onNewestVersion<T>(
  deps: ResourceDeps,
  target: ObjectName,
  cached: StoredObject | undefined,
  context: Context,
  decide: (current: StoredObject) => MaybePromise<Decision<T>>,
): Promise<T> {
  const readNewest = () => readStored(deps, target.namespace, target.name, context)
  let current = cached ?? (await readNewest())
  for (let tries = 1; current !== undefined; tries++) {
    const decision = await decideOn(current, current !== cached)
    if (decision?.kind === 'unchanged') return decision.result
    const written = await decision?.commit()
    if (written !== undefined) return written
    if (tries === triesMax) throw modifiedConflict(deps.kind, target.name)
    current = await readNewest()
  }
  throw notFound(deps.kind, target.name)

  /** Undefined where the version is outdated. */
  async function decideOn(version: StoredObject, isKnownNewest: boolean): Promise<Decision<T> | undefined> {
    const isOutdated = async () => !isKnownNewest && !(await isNewest(deps, target, version, context))
    try {
      const decision = await decide(version)
      return decision.kind === 'unchanged' && (await isOutdated()) ? undefined : decision
    } catch (error) {
      if (context.signal.aborted || !(await isOutdated())) throw error
      return undefined
    }
  }
}

async function isNewest(
  { cache, kind, store }: ResourceDeps,
  { namespace, name }: ObjectName,
  { revision }: StoredObject,
  { signal }: Context,
): Promise<boolean> {
  const fresh = store.freshRevision(signal)
  const isCacheFresh = cache.revision >= (fresh instanceof Promise ? await fresh : fresh)
  const newest = isCacheFresh
    ? cache.get(objectKey(namespace, name))?.revision
    : (await store.get(storeKey(kind, namespace, name), signal))?.modRevision
  return newest === revision
}

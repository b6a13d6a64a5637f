// ResourceDeps: what the verbs of one kind depend on: its cache, its strategy and the store.
import type { Context } from '../../../base/observability/context.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import type { RequestStage } from '../../../base/observability/stage-passages.ts'
import type { Random } from '../../../base/random/random.ts'
import { prefixEnd } from '../../../base/collections/ordered-map.ts'
import { thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import { objectKey } from '../../../api/meta/object.ts'
import type { Store } from '../../../store/store.ts'
import type { AdmissionChain } from '../../admission/framework/admission-chain.ts'
import type { LoopMonitor } from '../../request/loop-monitor.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import { isDryRun, userWithName, type ApiRequest, type ResourceRequest } from '../../request/request.ts'
import { StoredObject } from '../../storage/stored-object.ts'
import type { WatchCache } from '../../watch-cache/watch-cache.ts'
import type { StatusRule } from '../../objects/status-update.ts'
import type { SpecInterning } from '../../objects/spec-interning.ts'
import type { StorageCodec } from '../../storage/storage-codec.ts'
import { storeKey } from '../../storage/store-keys.ts'
import type { VersionConverter } from './version-converter.ts'
import type { LeasePool } from '../../storage/lease-pool.ts'
import type { Strategy, StrategyContext } from './strategy.ts'
import type { ObjectLister } from '../../watch-cache/object-caches.ts'

export interface ResourceDeps {
  /** The stored version of the kind. */
  readonly kind: Kind
  /** Converts to and from the version of the request. */
  readonly converter: VersionConverter
  readonly strategy: Strategy | undefined
  readonly statusRule: StatusRule
  readonly cache: WatchCache
  readonly store: Store
  readonly leases: LeasePool
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly admission: AdmissionChain
  readonly authorize: Authorizer['authorize']
  readonly lister: ObjectLister
  /** For kinds of which many objects have equal specs. */
  readonly interning: SpecInterning | undefined
  readonly loop: LoopMonitor
  /** For custom kinds: objects may be stored in other versions. */
  readonly codec: StorageCodec | undefined
  /** All served versions of the kind. */
  readonly versions: () => readonly Kind[]
  /** For custom kinds: the definition is being deleted, so no objects can be created. */
  readonly isTerminating: () => boolean
}

/** Records that the request has passed a stage; returns the monotonic time. */
export const recordStage = ({ flow }: ResourceDeps, { context }: ApiRequest, stage: RequestStage): number =>
  flow.passStage(context.cause.event, stage)

const noUser = userWithName('')

export const strategyContextOf = (
  { lister, random, clock }: ResourceDeps,
  request: ResourceRequest,
): StrategyContext => ({
  get: lister.get,
  list: lister.list,
  random,
  nowMs: clock.nowMs(),
  isDryRun: isDryRun(request),
  user: request.user ?? noUser,
})

/** The cached version, in the version of the request. */
export const readCached = (
  deps: ResourceDeps,
  namespace: string,
  name: string,
  context: Context,
): MaybePromise<StoredObject | undefined> => {
  const stored = deps.cache.get(objectKey(namespace, name))
  return stored === undefined ? undefined : inRequestVersion(deps, stored, context)
}

/** The cached versions of one namespace, or of all with '', in the version of the request. */
export const readAllCached = (
  { cache, codec }: ResourceDeps,
  namespace: string,
  context: Context,
): MaybePromise<readonly StoredObject[]> => {
  const prefix = namespace === '' ? '' : objectKey(namespace, '')
  const stored = [...cache.stateAt(undefined).range(prefix, prefix === '' ? '' : prefixEnd(prefix))].map(
    ([, each]) => each,
  )
  return codec === undefined ? stored : codec.fromStorage(stored, context)
}

/** A stored object in the version of the request. */
export const inRequestVersion = (
  { codec }: ResourceDeps,
  stored: StoredObject,
  context: Context,
): MaybePromise<StoredObject> =>
  codec === undefined ? stored : thenMaybe(codec.fromStorage([stored], context), ([shown]) => shown ?? stored)

/** The newest version from the store, for writers whose cached version is outdated. */
export async function readStored(
  deps: ResourceDeps,
  namespace: string,
  name: string,
  context: Context,
): Promise<StoredObject | undefined> {
  const item = await deps.store.get(storeKey(deps.kind, namespace, name), context.signal)
  return item === undefined ? undefined : inRequestVersion(deps, StoredObject.ofItem(item), context)
}

/** The cache may lag behind the store, so that an object is missing is decided by the store. */
export async function exists(deps: ResourceDeps, { target, context }: ResourceRequest): Promise<boolean> {
  const { namespace, name } = target
  if (deps.cache.get(objectKey(namespace, name)) !== undefined) return true
  return (await readStored(deps, namespace, name, context)) !== undefined
}

// Registry: every verb on every kind, over the store and the watch caches. The last step of a request. It is generic: what
// single kinds do differently comes as strategies, subresource handlers and virtual resources.
import { context } from '../../base/observability/context.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { runInSlices } from '../../base/work/work-slice.ts'
import { nameSuffix } from '../../base/random/ids.ts'
import type { Random } from '../../base/random/random.ts'
import { present } from '../../base/assert.ts'
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { kinds, storedKinds } from '../../api/kinds.ts'
import { qualifiedResource, type Kind } from '../../api/kind/kind.ts'
import { objectKey, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import { badRequest, methodNotAllowed, pathNotFound } from '../../api/errors/status-error.ts'
import type { Store } from '../../store/store.ts'
import { AdmissionChain } from '../admission/framework/admission-chain.ts'
import type { AdmissionHost } from '../admission/framework/admission-plugin.ts'
import { resourceAttributes } from '../authorization/attributes.ts'
import type { BootstrapObject } from '../bootstrap/bootstrap-object.ts'
import { commitBootstrapObjects } from '../bootstrap/commit-bootstrap-objects.ts'
import type { ServerMetrics } from '../metrics/server-metrics.ts'
import type { Policies } from '../filters/policies.ts'
import type { CustomResource, CustomResourceVersion } from '../kinds/custom-resource.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import type { KubeletConnection } from '../kubelet-client/kubelet-connection.ts'
import { SpecInterning } from '../objects/spec-interning.ts'
import type { StatusRule } from '../objects/status-update.ts'
import type { LoopMonitor } from '../request/loop-monitor.ts'
import { isDryRun, type ResourceRequest } from '../request/request.ts'
import type { ApiResponse } from '../request/response.ts'
import type { Review } from '../request/review.ts'
import { checkWriteOptions } from '../request/write-options.ts'
import { LeasePool } from '../storage/lease-pool.ts'
import { CacheFeed } from '../watch-cache/cache-feed.ts'
import type { CacheObserver, ObjectCaches, ObjectLister } from '../watch-cache/object-caches.ts'
import { WatchCache } from '../watch-cache/watch-cache.ts'
import { repairAllocations, retryAllocationConflicts } from './resource/allocations.ts'
import { requireStreamCreate } from './verbs/create-access.ts'
import { handleObject } from './verbs/object-verbs.ts'
import { readAllCached, readCached, readStored, type ResourceDeps } from './resource/resource-deps.ts'
import { handleReview } from './subresources/review.ts'
import { waitUntilFresh } from './verbs/reads.ts'
import type { Strategy } from './resource/strategy.ts'
import { admitConnection, isConnection } from './subresources/subresource-admission.ts'
import type { RegistryServices, SubresourceHandler, VirtualResource } from './subresources/subresource-handler.ts'
import { handleSubresource } from './subresources/subresources.ts'
import { identityConverter, versionConverter } from './resource/version-converter.ts'

export interface RegistryDeps {
  readonly serverMetrics: ServerMetrics
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly policies: (caches: ObjectCaches) => Policies
  readonly kubelets: KubeletConnection
  readonly loop: LoopMonitor
  readonly strategies: readonly Strategy[]
  readonly statusRules: ReadonlyMap<Kind, StatusRule>
  readonly subresourceHandlers: readonly SubresourceHandler[]
  readonly virtualResources: readonly VirtualResource[]
  readonly catalogue: KindCatalogue
}

/** The storage version need not be served. */
const allVersions = (resource: CustomResource | undefined): readonly CustomResourceVersion[] =>
  resource === undefined ? [] : [resource.storage, ...resource.versions]

/** A retained change of an object. */
export interface ObjectChange {
  readonly revision: number
  readonly key: ObjectKey
  readonly now: ApiObject | undefined
  readonly before: ApiObject | undefined
}

export class Registry {
  readonly #deps: RegistryDeps
  readonly #leases: LeasePool
  readonly #newCache: (kind: Kind) => WatchCache
  /** Every version of every stored kind. Those of custom resources change with the catalogue. */
  readonly #resources = new Map<Kind, ResourceDeps>()
  readonly #feed: CacheFeed
  readonly services: RegistryServices
  readonly #admission: AdmissionChain
  readonly #reviews: ReadonlyMap<Kind, readonly Review[]>
  readonly #handlers: ReadonlyMap<Kind, readonly SubresourceHandler[]>
  readonly #virtual: ReadonlyMap<Kind, VirtualResource>
  readonly policies: Policies
  readonly lister: ObjectLister

  constructor(deps: RegistryDeps) {
    this.#deps = deps
    const { store, clock, random, flow, log, kubelets } = deps
    const { caches: metrics } = deps.serverMetrics
    this.#leases = new LeasePool(store, clock, (objects) => metrics.leaseFilled(objects))
    const cacheDeps = { clock, flow, waited: (kind: Kind, seconds: number) => metrics.waited(kind, seconds) }
    this.#newCache = (kind) => new WatchCache(kind, cacheDeps)
    const caches = new Map<Kind, WatchCache>(
      [...storedKinds, ...deps.catalogue.gated].map((kind) => [kind, this.#newCache(kind)]),
    )
    const cacheOf = (kind: Kind): WatchCache =>
      kind.custom === undefined
        ? present(caches.get(kind.storedAs?.kind ?? kind), `${kind.plural} are stored`)
        : this.#resource(kind).cache
    this.lister = {
      get: <T extends ApiObject>(kind: Kind<T>, namespace: string, name: string) =>
        cacheOf(kind).get(objectKey(namespace, name))?.object as T | undefined,
      list: <T extends ApiObject>(kind: Kind<T>, namespace = '') => cacheOf(kind).objects(namespace) as readonly T[],
    }
    this.policies = deps.policies({
      ...this.lister,
      observe: (kind, observer) => cacheOf(kind).observe(observer),
      count: (kind) => this.#resources.get(kind)?.cache.size ?? 0,
      watchers: (kind, namespace, name) => this.#resources.get(kind)?.cache.watchersOf(namespace, name) ?? 0,
    })
    this.#reviews = Map.groupBy(this.policies.reviews, ({ kind }) => kind)
    this.#handlers = Map.groupBy(deps.subresourceHandlers, ({ kind }) => kind)
    this.#virtual = new Map(deps.virtualResources.map((each) => [each.kind, each]))
    this.services = { kubelets, lister: this.lister, resource: (kind) => this.#resource(kind) }
    this.#admission = new AdmissionChain(
      this.policies.admission,
      this.#admissionHost(random.fork('admission'), clock, flow),
      { clock, metrics: deps.serverMetrics.admission },
    )
    this.#feed = new CacheFeed(store, [...caches.values()], clock, log)
    this.#addBuiltIn(caches)
    deps.catalogue.observe({ changed: (removed, added) => this.#replaceCustom(removed, added) })
  }

  /** Adds the stored kinds, and their other versions, which convert at the edge. */
  #addBuiltIn(caches: ReadonlyMap<Kind, WatchCache>): void {
    const { strategies, statusRules } = this.#deps
    for (const [kind, cache] of caches)
      this.#resources.set(kind, {
        ...this.#resourceDeps(kind, cache),
        strategy: strategies.find((candidate) => candidate.kind === kind),
        statusRule: statusRules.get(kind) ?? [],
      })
    for (const kind of kinds) {
      const stored = kind.storedAs && this.#resources.get(kind.storedAs.kind)
      if (kind.storedAs && stored)
        this.#resources.set(kind, { ...stored, converter: versionConverter(kind, kind.storedAs) })
    }
  }

  /** A changed definition gets a new cache: watches end, and clients watch again with the new schema. */
  #replaceCustom(removed: CustomResource | undefined, added: CustomResource | undefined): void {
    if (removed === added) return
    for (const { kind } of allVersions(removed)) {
      const deps = this.#resources.get(kind)
      this.#resources.delete(kind)
      if (deps !== undefined) this.#feed.remove(deps.cache)
    }
    if (added === undefined) return
    const cache = this.#newCache(added.storage.kind)
    for (const { kind, codec } of allVersions(added))
      this.#resources.set(kind, { ...this.#resourceDeps(kind, cache), statusRule: 'all metadata', codec })
    this.#feed.add(cache)
  }

  #resourceDeps(kind: Kind, cache: WatchCache): ResourceDeps {
    const { store, clock, random, flow, loop, catalogue } = this.#deps
    return {
      kind,
      converter: identityConverter(kind),
      strategy: undefined,
      statusRule: [],
      cache,
      store,
      leases: this.#leases,
      clock,
      random: random.fork(qualifiedResource(kind)),
      flow,
      admission: this.#admission,
      authorize: (attributes, signal) => this.policies.authorize(attributes, signal),
      lister: this.lister,
      interning: kind.internedField && new SpecInterning(kind.internedField),
      loop,
      codec: undefined,
      versions: () => catalogue.versionsOf(kind),
      isTerminating: () => catalogue.isTerminating(kind),
    }
  }

  #admissionHost(random: Random, clock: Clock, flow: FlowRecorder): AdmissionHost {
    return {
      ...this.lister,
      waitForObject: async <T extends ApiObject>(
        kind: Kind<T>,
        namespace: string,
        name: string,
        withinMs: number,
        signal: AbortSignal,
      ) =>
        (await this.#resource(kind).cache.waitForObject(objectKey(namespace, name), withinMs, signal)) as T | undefined,
      readFromStore: async <T extends ApiObject>(
        kind: Kind<T>,
        namespace: string,
        name: string,
        signal: AbortSignal,
      ) => {
        const stored = await readStored(this.#resource(kind), namespace, name, context(signal))
        return stored && { object: stored.object as T, revision: stored.revision }
      },
      kindNamed: (apiVersion, kindName) => this.#deps.catalogue.named(apiVersion, kindName),
      versionsOf: (kind) => this.#deps.catalogue.versionsOf(kind),
      convert: (object, kind, signal) =>
        this.#resource(kind).codec?.toVersion(object, kind.apiVersion, context(signal)) ?? object,
      read: (kind, namespace, name, signal) => {
        const resource = this.#resource(kind)
        return thenMaybe(
          readCached(resource, namespace, name, context(signal)),
          (stored) => stored && resource.converter.fromStored(stored).object,
        )
      },
      readAll: (kind, namespace, signal) => {
        const resource = this.#resource(kind)
        return thenMaybe(readAllCached(resource, namespace, context(signal)), (all) =>
          all.map((stored) => resource.converter.fromStored(stored).object),
        )
      },
      isAllowed: async (user, verb, on, signal) =>
        (await this.policies.authorize(resourceAttributes(user, verb, on), signal)).kind === 'allowed',
      authorize: (attributes, signal) => this.policies.authorize(attributes, signal),
      flow,
      nameSuffix: () => nameSuffix(random),
      inSlices: (work, signal) => runInSlices(work, clock, signal),
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      metrics: this.#deps.serverMetrics.admission,
    }
  }

  /** A custom kind may have been replaced or removed since the request was routed. */
  #resource(kind: Kind): ResourceDeps {
    const found = this.#resources.get(kind)
    if (found !== undefined) return found
    const current = kind.custom && this.#deps.catalogue.atPath(kind.apiVersion, kind.plural)
    const deps = current && this.#resources.get(current)
    if (deps === undefined) throw pathNotFound()
    return deps
  }

  /** Feeds the caches until the signal ends it. */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    try {
      await this.#feed.run(signal, onReady)
    } finally {
      this.endWatches()
    }
  }

  /** Commits the bootstrap objects that are missing or outdated. */
  commitBootstrapObjects(objects: readonly BootstrapObject[], signal: AbortSignal): Promise<void> {
    return commitBootstrapObjects(objects, (kind) => this.#resource(kind), signal)
  }

  /** The observer is called with each change from now on, and with all objects when its cache is filled again. */
  observe(kind: Kind, observer: CacheObserver): void {
    this.#resource(kind).cache.observe(observer)
  }

  cached<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    return this.lister.get(kind, namespace, name)
  }

  endWatches(): void {
    for (const { cache } of this.#resources.values()) cache.close()
  }

  *caches(): Generator<WatchCache> {
    for (const { kind, cache } of this.#resources.values()) if (cache.kind === kind) yield cache
  }

  /** How many objects and watches of each kind there are. */
  *sizes(): Generator<{ readonly kind: Kind; readonly objects: number; readonly watches: number }> {
    for (const { kind, converter, cache } of this.#resources.values())
      if (converter.kind === kind && cache.kind === kind) yield { kind, objects: cache.size, watches: cache.watchers }
  }

  /** The oldest revision at which every built-in kind can be listed. */
  get oldestRevision(): number {
    let oldest = 0
    for (const { kind, cache } of this.#resources.values())
      if (kind.custom === undefined) oldest = Math.max(oldest, cache.oldestRevision)
    return oldest
  }

  /** The retained changes of a kind, in its version, in the order of revisions. */
  *changes(kind: Kind): Generator<ObjectChange> {
    const { cache, converter } = this.#resource(kind)
    for (const { revision, key, now, before } of cache.changes)
      yield {
        revision,
        key,
        now: now && converter.fromStored(now).object,
        before: before && converter.fromStored(before).object,
      }
  }

  /** Repairs the allocations of all kinds from their objects. */
  async repair(signal: AbortSignal): Promise<void> {
    for (const deps of this.#resources.values()) {
      const rules = deps.strategy?.allocations
      if (rules !== undefined && deps.converter.kind === deps.kind) await repairAllocations(rules, deps, signal)
    }
  }

  handle(request: ResourceRequest): MaybePromise<ApiResponse> {
    const { resource, subresource } = request.target
    const review = this.#reviews.get(resource)?.find((each) => each.subresource === subresource)
    if (review !== undefined) {
      const fresh = () =>
        subresource === '' ? undefined : waitUntilFresh(this.#resource(resource), undefined, request.context.signal)
      return handleReview(review, request, this.#admission, fresh)
    }
    if (resource.computed !== undefined) return this.#handleVirtual(request)
    const deps = this.#resource(resource)
    if (isConnection(resource, subresource)) return this.#connect(deps, request)
    checkWriteOptions(request)
    if (subresource === '' && deps.strategy?.allocations !== undefined)
      return retryAllocationConflicts(deps, request.context.signal, async () => handleObject(deps, request))
    if (subresource === '') return handleObject(deps, request)
    return handleSubresource(deps, request) ?? this.#handlerOf(deps, request).handle(deps, request, this.services)
  }

  #handlerOf({ kind }: ResourceDeps, { target }: ResourceRequest): SubresourceHandler {
    const handler = this.#handlers.get(kind)?.find(({ subresource }) => subresource === target.subresource)
    if (handler === undefined) throw pathNotFound()
    return handler
  }

  async #handleVirtual(request: ResourceRequest): Promise<ApiResponse> {
    const { resource, verb, subresource } = request.target
    const virtual = this.#virtual.get(resource)
    if (subresource !== '' || virtual === undefined) throw pathNotFound()
    if (!resource.computed?.includes(verb)) throw methodNotAllowed()
    return virtual.handle(request, this.services)
  }

  /** Admission gets the options of a connection, and may change them. */
  async #connect(deps: ResourceDeps, requested: ResourceRequest): Promise<ApiResponse> {
    if (isDryRun(requested)) throw badRequest('dryRun is not supported')
    const handler = this.#handlerOf(deps, requested)
    if (handler.getRequiresCreate && requested.target.verb === 'get')
      await requireStreamCreate(this.policies.authorize, requested)
    const request = await admitConnection(this.#admission, requested)
    return handler.handle(deps, request, this.services)
  }
}

// Registry: every verb on every kind, over the store and the watch caches. The end of a request's road.
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { nameSuffix } from '../../base/random/ids.ts'
import type { Random } from '../../base/random/random.ts'
import { present } from '../../base/assert.ts'
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { kinds, storedKinds } from '../../api/kinds.ts'
import { qualifiedResource, type Kind, type Scaling } from '../../api/kind/kind.ts'
import { objectKey, type ApiObject } from '../../api/meta/object.ts'
import { badRequest, methodNotAllowed, pathNotFound } from '../../api/errors/status-error.ts'
import { bindingKind } from '../../api/core/v1/binding.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import type { Store } from '../../store/store.ts'
import type { ApiResponse } from '../request/response.ts'
import { AdmissionChain } from '../admission/framework/admission-chain.ts'
import type { AdmissionHost } from '../admission/framework/admission-plugin.ts'
import { resourceAttributes } from '../authorization/attributes.ts'
import type { KubeletConnection } from '../kubelet-client/kubelet-connection.ts'
import type { LoopMonitor } from '../request/loop-monitor.ts'
import type { ObjectCaches, Policies } from '../filters/policies.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { CacheFeed } from '../watch-cache/cache-feed.ts'
import { WatchCache, type CacheObserver } from '../watch-cache/watch-cache.ts'
import { admitBody, admitConnection, isConnection } from './subresource-admission.ts'
import { SpecInterning } from '../objects/spec-interning.ts'
import { updateWithRetry } from './update-with-retry.ts'
import { retryAllocationConflicts, repairAllocations } from './allocations.ts'
import { UsageReader } from '../virtual-resources/usage-reader.ts'
import { virtualResourceHandler } from '../virtual-resources/virtual-resources.ts'
import { remove, removeCollection } from './deletion.ts'
import { versionConverter, identityConverter } from './version-converter.ts'
import { LeasePool } from '../storage/lease-pool.ts'
import { requireCreate, requireStreamCreate } from './create-access.ts'
import {
  exists,
  isDryRun,
  readStored,
  strategyContextOf,
  type ResourceDeps,
  type ResourceRequest,
} from './resource-deps.ts'
import { patchObject } from './patch.ts'
import { get, list, watch } from './reads.ts'
import { handleReview, type Review } from './review.ts'
import { scalePatch, scaleView, scaleOf, withScale } from './scale.ts'
import { commitBootstrapObjects, type BootstrapObject } from '../bootstrap/bootstrap-object.ts'
import { strategies } from '../strategies/strategies.ts'
import type { ObjectLister, Strategy } from './strategy.ts'
import { evict } from '../strategies/pod/eviction-subresource.ts'
import { nodeProxy, podProxy, serviceProxy } from '../strategies/proxy/proxy-subresource.ts'
import { isPodStream, podStream } from '../strategies/pod/pod-streams.ts'
import { checkWriteOptions } from '../request/write-options.ts'
import { create, createByUpdate, update, type Transform, type UpdateOptions, type WriteResult } from './writes.ts'

export interface RegistryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly policies: (caches: ObjectCaches) => Policies
  readonly kubelets: KubeletConnection
  readonly loop: LoopMonitor
}

export class Registry {
  readonly #resources = new Map<Kind, ResourceDeps>()
  readonly #feed: CacheFeed
  readonly #kubelets: KubeletConnection
  readonly #admission: AdmissionChain
  readonly #computed: (request: ResourceRequest) => Promise<ApiResponse>
  readonly #reviews: ReadonlyMap<Kind, readonly Review[]>
  readonly policies: Policies
  readonly lister: ObjectLister

  constructor({ store, clock, random, flow, log, policies, kubelets, loop }: RegistryDeps) {
    this.#kubelets = kubelets
    const leases = new LeasePool(store, clock)
    const caches = new Map(storedKinds.map((kind) => [kind, new WatchCache(kind, { clock, flow })]))
    const lister = this.#lister()
    this.lister = lister
    this.policies = policies({
      ...lister,
      observe: (kind, observer) => present(caches.get(kind), `${kind.plural} are kept`).observe(observer),
      count: (kind) => caches.get(kind)?.size ?? 0,
    })
    this.#reviews = Map.groupBy(this.policies.reviews, ({ kind }) => kind)
    this.#admission = new AdmissionChain(
      this.policies.admission,
      this.#admissionHost(lister, random.fork('admission'), clock, flow),
    )
    for (const [kind, cache] of caches) {
      const strategy = strategies.find((candidate) => candidate.kind === kind)
      this.#resources.set(kind, {
        kind,
        converter: identityConverter(kind),
        strategy,
        cache,
        store,
        leases,
        clock,
        random: random.fork(qualifiedResource(kind)),
        flow,
        admission: this.#admission,
        authorize: (attributes, signal) => this.policies.authorize(attributes, signal),
        lister,
        interning: kind.internedField && new SpecInterning(kind.internedField),
        loop,
      })
    }
    for (const kind of kinds) {
      const kept = kind.storedAs && this.#resources.get(kind.storedAs.kind)
      if (kind.storedAs && kept)
        this.#resources.set(kind, { ...kept, converter: versionConverter(kind, kind.storedAs) })
    }
    const usage = new UsageReader({ kubelets, clock, log })
    this.#computed = virtualResourceHandler({
      store,
      reads: lister,
      usage,
      bind: (request) => handleSubresourceAction(this.#partsOf(pod), request, bindingKind),
    })
    this.#feed = new CacheFeed(store, [...caches.values()], clock, log)
  }

  /** Keeps the caches up to date until the signal ends it. */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    try {
      await this.#feed.run(signal, onReady)
    } finally {
      this.endWatches()
    }
  }

  /** Commits the first objects that are missing or have fallen behind, all at once. */
  commitBootstrapObjects(objects: readonly BootstrapObject[], signal: AbortSignal): Promise<void> {
    return commitBootstrapObjects(
      objects,
      (kind) => present(this.#resources.get(kind), `${kind.plural} are kept`),
      signal,
    )
  }

  /** The observer hears of each change from now on, and of what is there when its cache is filled anew. */
  observe(kind: Kind, observer: CacheObserver): void {
    this.#partsOf(kind).cache.observe(observer)
  }

  cached<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    return this.#cacheOf(kind).get(objectKey(namespace, name))?.object as T | undefined
  }

  #lister(): ObjectLister {
    return {
      get: (kind, namespace, name) => this.cached(kind, namespace, name),
      list: <T extends ApiObject>(kind: Kind<T>, namespace = '') =>
        this.#cacheOf(kind).objects(namespace) as readonly T[],
    }
  }

  #admissionHost(lister: ObjectLister, random: Random, clock: Clock, flow: FlowRecorder): AdmissionHost {
    return {
      ...lister,
      waitForObject: async <T extends ApiObject>(
        kind: Kind<T>,
        namespace: string,
        name: string,
        withinMs: number,
        signal: AbortSignal,
      ) => (await this.#cacheOf(kind).waitForObject(objectKey(namespace, name), withinMs, signal)) as T | undefined,
      readFromStore: async <T extends ApiObject>(
        kind: Kind<T>,
        namespace: string,
        name: string,
        signal: AbortSignal,
      ) => {
        const stored = await readStored(this.#partsOf(kind), namespace, name, signal)
        return stored && { object: stored.object as T, revision: stored.revision }
      },
      isAllowed: async (user, verb, on, signal) =>
        (await this.policies.authorize(resourceAttributes(user, verb, on), signal)).kind === 'allowed',
      authorize: (attributes, signal) => this.policies.authorize(attributes, signal),
      flow,
      nameSuffix: () => nameSuffix(random),
      nowMs: () => clock.nowMs(),
    }
  }

  #cacheOf<T extends ApiObject>(kind: Kind<T>): WatchCache {
    return this.#partsOf(kind).cache
  }

  #partsOf(kind: Kind): ResourceDeps {
    return present(this.#resources.get(kind), `${kind.plural} has a registry`)
  }

  async #evict(pods: ResourceDeps, request: ResourceRequest): Promise<ApiResponse> {
    if (request.target.verb !== 'create') throw methodNotAllowed()
    await evict(pods, this.#partsOf(podDisruptionBudget), request)
    return success
  }

  /** Ends every watch. */
  endWatches(): void {
    for (const { cache } of this.#resources.values()) cache.close()
  }

  /** How many objects and watches of each kind there are. */
  *sizes(): Generator<{ readonly kind: Kind; readonly objects: number; readonly watches: number }> {
    for (const { kind, converter: face, cache } of this.#resources.values())
      if (face.kind === kind) yield { kind, objects: cache.size, watches: cache.watchers }
  }

  /** Whether a node has a kubelet that answers on a port. */
  hasKubelets(): boolean {
    return this.lister.list(node, '').some(({ status }) => status.daemonEndpoints?.kubeletEndpoint !== undefined)
  }

  /** Brings what objects hold beside their keys in line with the objects. */
  async repair(signal: AbortSignal): Promise<void> {
    for (const deps of this.#resources.values()) {
      const book = deps.strategy?.allocations
      if (book !== undefined && deps.converter.kind === deps.kind) await repairAllocations(book, deps, signal)
    }
  }

  handle(request: ResourceRequest): MaybePromise<ApiResponse> {
    const { resource, subresource } = request.target
    const review = this.#reviews.get(resource)?.find((each) => each.subresource === subresource)
    if (review !== undefined) return handleReview(review, request, this.#admission)
    if (resource.computed !== undefined) return this.#computed(request)
    const deps = this.#partsOf(resource)
    if (isConnection(resource, subresource)) return this.#connect(deps, request)
    checkWriteOptions(request)
    if (subresource === '' && deps.strategy?.allocations !== undefined)
      return retryAllocationConflicts(deps, request.context.signal, async () => handleObject(deps, request))
    if (subresource === '') return handleObject(deps, request)
    if (subresource === 'status' && resource.hasStatus) return handleStatus(deps, request)
    if (subresource === 'scale' && resource.scale !== undefined) return handleScale(deps, request, resource.scale)
    const part = lookup(deps.strategy?.subresourceUpdates, subresource)
    if (part !== undefined) return handleSubresourceUpdate(deps, request, part)
    if (lookup(deps.strategy?.subresourceActions, subresource) !== undefined)
      return handleSubresourceAction(deps, request)
    if (deps.kind === pod && subresource === 'eviction') return this.#evict(deps, request)
    if (deps.kind === pod && subresource === 'log') return podStream(deps, request, 'log', this.#kubelets)
    throw pathNotFound()
  }

  async #connect(deps: ResourceDeps, asked: ResourceRequest): Promise<ApiResponse> {
    const { subresource, verb } = asked.target
    if (isDryRun(asked)) throw badRequest('dryRun is not supported')
    if (isPodStream(subresource) && verb === 'get') await requireStreamCreate(this.policies.authorize, asked)
    const request = await admitConnection(this.#admission, asked)
    if (deps.kind === pod && isPodStream(subresource)) return podStream(deps, request, subresource, this.#kubelets)
    if (deps.kind === node && subresource === 'proxy') return nodeProxy(deps, request, this.#kubelets)
    if (deps.kind === pod && subresource === 'proxy') return podProxy(deps, request, this.#kubelets)
    if (deps.kind === service && subresource === 'proxy') return serviceProxy(deps, request, this.#kubelets)
    throw pathNotFound()
  }
}

function handleObject(deps: ResourceDeps, request: ResourceRequest): MaybePromise<ApiResponse> {
  const { verb } = request.target
  switch (verb) {
    case 'get':
      return thenMaybe(get(deps, request), (stored) => foundResponse(deps, stored))
    case 'list':
      return list(deps, request)
    case 'watch':
      return watch(deps, request)
    case 'create':
      return createResponse(deps, request)
    case 'update':
      return updateResponse(deps, request, 'object')
    case 'patch':
      return patchResponse(deps, request, 'object')
    case 'delete':
      return deleteResponse(deps, request)
    case 'deletecollection':
      if (deps.strategy?.hasNoDeleteCollection) throw methodNotAllowed()
      return removeCollection(deps, request, request.body.kind === 'value' ? request.body.value : undefined)
    case 'proxy':
    case '':
      throw methodNotAllowed()
    default:
      return verb satisfies never
  }
}

async function createResponse(deps: ResourceDeps, request: ResourceRequest): Promise<ApiResponse> {
  return written(deps, 201, await create(deps, request, { body: bodyOf(request) }))
}

async function updateResponse(
  deps: ResourceDeps,
  request: ResourceRequest,
  part: UpdateOptions['part'],
): Promise<ApiResponse> {
  if (part === 'object' && deps.kind.createsOnUpdate && !(await exists(deps, request))) {
    await requireCreate(deps.authorize, request)
    return written(deps, 201, await createByUpdate(deps, request, bodyOf(request)))
  }
  return written(deps, 200, await update(deps, request, () => ({ body: bodyOf(request) }), { part }))
}

async function deleteResponse(deps: ResourceDeps, request: ResourceRequest): Promise<ApiResponse> {
  const {
    stored,
    isGone: gone,
    warnings,
  } = await remove(deps, request, request.body.kind === 'value' ? request.body.value : undefined)
  if (!gone || deps.strategy?.returnsDeletedObject) return written(deps, 200, { stored, warnings })
  const { group, plural } = deps.kind
  const { name, uid } = stored.object.metadata
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid }
  return {
    kind: 'object',
    status: 200,
    object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details },
    warnings,
  }
}

function handleStatus(deps: ResourceDeps, request: ResourceRequest): MaybePromise<ApiResponse> {
  const { verb } = request.target
  if (verb === 'get') return thenMaybe(get(deps, request), (stored) => foundResponse(deps, stored))
  if (verb === 'update') return updateResponse(deps, request, 'status')
  if (verb === 'patch') return patchResponse(deps, request, 'status')
  throw methodNotAllowed()
}

async function patchResponse(
  deps: ResourceDeps,
  request: ResourceRequest,
  part: UpdateOptions['part'],
): Promise<ApiResponse> {
  const { isNew, written: result } = await patchObject(deps, request, part)
  return written(deps, isNew ? 201 : 200, result)
}

async function handleScale(
  deps: ResourceDeps,
  request: ResourceRequest,
  scaling: Scaling<ApiObject>,
): Promise<ApiResponse> {
  const { verb } = request.target
  const { body } = request
  const answer = (stored: StoredObject): ApiResponse => ({
    kind: 'object',
    status: 200,
    object: scaleOf(stored.object, scaling),
  })
  if (verb === 'get') return answer(await get(deps, request))
  if ((verb !== 'update' && verb !== 'patch') || body.kind === 'none') throw methodNotAllowed()
  const transform: Transform =
    verb === 'patch'
      ? scalePatch(deps, request, scaling)
      : (current) => ({ body: withScale(current, scaling, body.value, request) })
  return answer((await update(deps, request, transform, { part: 'object', view: scaleView(scaling) })).stored)
}

function handleSubresourceUpdate(
  deps: ResourceDeps,
  request: ResourceRequest,
  part: NonNullable<Strategy['subresourceUpdates']>[string],
): MaybePromise<ApiResponse> {
  const { verb, subresource } = request.target
  const merge = (sent: ApiObject, old: ApiObject) => part(sent, old, strategyContextOf(deps, request))
  if (verb === 'update') return updateResponse(deps, request, merge)
  if (updatedOnly.has(subresource)) throw methodNotAllowed()
  if (verb === 'get') return thenMaybe(get(deps, request), (stored) => foundResponse(deps, stored))
  if (verb === 'patch') return patchResponse(deps, request, merge)
  throw methodNotAllowed()
}

/** Parts that can be put, but neither read nor patched. */
const updatedOnly = new Set(['finalize'])

/** `as`: under which resource admission sees what is posted, where it is not a part of the object. */
async function handleSubresourceAction(deps: ResourceDeps, request: ResourceRequest, as?: Kind): Promise<ApiResponse> {
  const { verb, subresource } = request.target
  const act = lookup(deps.strategy?.subresourceActions, subresource)
  if (verb !== 'create' || act === undefined) throw methodNotAllowed()
  const { target, context } = request
  const part = as === undefined ? subresource : ''
  const body = await admitBody(deps.admission, request, bodyOf(request), as ?? deps.kind, part)
  await updateWithRetry(deps, target, context, (current) => {
    const next = act(current, body, deps.clock.nowMs()).object
    return isDryRun(request) ? current : next
  })
  return success
}

const success: ApiResponse = {
  kind: 'object',
  status: 201,
  object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
}

const foundResponse = (deps: ResourceDeps, stored: StoredObject): ApiResponse =>
  written(deps, 200, { stored, warnings: [] })

const written = ({ converter: face }: ResourceDeps, status: number, { stored, warnings }: WriteResult): ApiResponse => {
  const shown = face.fromStored(stored)
  return { kind: 'object', status, object: shown.object, objectKind: face.kind, stored: shown, warnings }
}

const bodyOf = ({ body }: ResourceRequest): unknown => {
  if (body.kind === 'none') throw badRequest('the request has no body')
  return body.value
}

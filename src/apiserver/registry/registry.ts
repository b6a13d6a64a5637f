// Registry: every verb on every kind, over the store and the watch caches. The end of a request's road.
import { lookup } from '../../base/lookup.ts'
import type { Clock } from '../../base/clock.ts'
import type { FlowRecorder } from '../../base/flow.ts'
import type { Log } from '../../base/log.ts'
import { nameSuffix } from '../../base/ids.ts'
import type { Random } from '../../base/random.ts'
import { present } from '../../base/assert.ts'
import { whenKnown, type Soon } from '../../base/when-known.ts'
import { kinds, storedKinds } from '../../api/kinds.ts'
import { qualifiedResource, type Kind, type Scaling } from '../../api/kind.ts'
import { objectKey, type ApiObject } from '../../api/object.ts'
import { badRequest, methodNotAllowed, pathNotFound } from '../../api/status-error.ts'
import { bindingKind } from '../../api/core/v1/binding.ts'
import { node } from '../../api/core/v1/node.ts'
import { pod } from '../../api/core/v1/pod.ts'
import { service } from '../../api/core/v1/service.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import type { Store } from '../../store/store.ts'
import type { Answer } from '../answer.ts'
import { AdmissionChain } from '../admission/chain.ts'
import type { AdmissionHost } from '../admission/plugin.ts'
import { resourceAttributes } from '../authorization/attributes.ts'
import type { KubeletConnection } from '../kubelet-connection.ts'
import type { LoopWatch } from '../loop-watch.ts'
import type { Caches, Policies } from '../policies.ts'
import type { Stored } from '../stored.ts'
import { CacheFeed } from '../watch/cache-feed.ts'
import { WatchCache, type CacheObserver } from '../watch/watch-cache.ts'
import { admittedBody, admittedConnection, isConnection } from './admit-posted.ts'
import { AlikeParts } from './alike-parts.ts'
import { change } from './change.ts'
import { claiming, repairClaims } from './claims.ts'
import { UsageReader } from '../usage/usage-reader.ts'
import { computedAnswers } from './computed.ts'
import { remove, removeCollection } from './deletion.ts'
import { convertingFace, plainFace } from './face.ts'
import { LeasePool } from './lease-pool.ts'
import { requireCreate, requireStreamCreate } from './create-access.ts'
import { exists, isDryRun, readStored, worldOf, type ResourceParts, type ResourceRequest } from './parts.ts'
import { patchObject } from './patch.ts'
import { get, list, watch } from './reads.ts'
import { handleReview, type Review } from './review.ts'
import { patchingScale, scaleLens, scaleOf, withScale } from './scale.ts'
import { commitSeeds, type Seed } from './seed.ts'
import { strategies } from './strategies.ts'
import type { RegistryReads, Strategy } from './strategy.ts'
import { evict } from './subresources/eviction.ts'
import { nodeProxy, podProxy, serviceProxy } from './subresources/proxy.ts'
import { isPodStream, podStream } from './subresources/streams.ts'
import { checkWriteOptions } from './write-options.ts'
import { create, createByUpdate, update, type Transform, type UpdateOptions, type Written } from './writes.ts'

export interface RegistryParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly policies: (caches: Caches) => Policies
  readonly kubelets: KubeletConnection
  readonly loop: LoopWatch
}

export class Registry {
  readonly #resources = new Map<Kind, ResourceParts>()
  readonly #feed: CacheFeed
  readonly #kubelets: KubeletConnection
  readonly #admission: AdmissionChain
  readonly #computed: (request: ResourceRequest) => Promise<Answer>
  readonly #reviews: ReadonlyMap<Kind, readonly Review[]>
  readonly policies: Policies
  readonly reads: RegistryReads

  constructor({ store, clock, random, flow, log, policies, kubelets, loop }: RegistryParts) {
    this.#kubelets = kubelets
    const leases = new LeasePool(store, clock)
    const caches = new Map(storedKinds.map((kind) => [kind, new WatchCache(kind, { clock, flow })]))
    const reads = this.#reads()
    this.reads = reads
    this.policies = policies({
      ...reads,
      observe: (kind, observer) => present(caches.get(kind), `${kind.plural} are kept`).observe(observer),
      count: (kind) => caches.get(kind)?.size ?? 0,
    })
    this.#reviews = Map.groupBy(this.policies.reviews, ({ kind }) => kind)
    this.#admission = new AdmissionChain(
      this.policies.admission,
      this.#admissionHost(reads, random.fork('admission'), clock, flow),
    )
    for (const [kind, cache] of caches) {
      const strategy = strategies.find((candidate) => candidate.kind === kind)
      this.#resources.set(kind, {
        kind,
        face: plainFace(kind),
        strategy,
        cache,
        store,
        leases,
        clock,
        random: random.fork(qualifiedResource(kind)),
        flow,
        admission: this.#admission,
        authorize: (attributes, signal) => this.policies.authorize(attributes, signal),
        reads,
        alike: kind.alikePart && new AlikeParts(kind.alikePart),
        loop,
      })
    }
    for (const kind of kinds) {
      const kept = kind.storedAs && this.#resources.get(kind.storedAs.kind)
      if (kind.storedAs && kept) this.#resources.set(kind, { ...kept, face: convertingFace(kind, kind.storedAs) })
    }
    const usage = new UsageReader({ kubelets, clock, log })
    this.#computed = computedAnswers({
      store,
      reads,
      usage,
      bind: (request) => handleAction(this.#partsOf(pod), request, bindingKind),
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
  seed(seeds: readonly Seed[], signal: AbortSignal): Promise<void> {
    return commitSeeds(seeds, (kind) => present(this.#resources.get(kind), `${kind.plural} are kept`), signal)
  }

  /** The observer hears of each change from now on, and of what is there when its cache is filled anew. */
  observe(kind: Kind, observer: CacheObserver): void {
    this.#partsOf(kind).cache.observe(observer)
  }

  cached<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    return this.#cacheOf(kind).get(objectKey(namespace, name))?.object as T | undefined
  }

  #reads(): RegistryReads {
    return {
      get: (kind, namespace, name) => this.cached(kind, namespace, name),
      list: <T extends ApiObject>(kind: Kind<T>, namespace = '') =>
        this.#cacheOf(kind).objects(namespace) as readonly T[],
    }
  }

  #admissionHost(reads: RegistryReads, random: Random, clock: Clock, flow: FlowRecorder): AdmissionHost {
    return {
      ...reads,
      whenPresent: async <T extends ApiObject>(
        kind: Kind<T>,
        namespace: string,
        name: string,
        withinMs: number,
        signal: AbortSignal,
      ) => (await this.#cacheOf(kind).whenPresent(objectKey(namespace, name), withinMs, signal)) as T | undefined,
      newest: async <T extends ApiObject>(kind: Kind<T>, namespace: string, name: string, signal: AbortSignal) => {
        const stored = await readStored(this.#partsOf(kind), namespace, name, signal)
        return stored && { object: stored.object as T, revision: stored.revision }
      },
      may: async (user, verb, on, signal) =>
        (await this.policies.authorize(resourceAttributes(user, verb, on), signal)).kind === 'allowed',
      authorize: (attributes, signal) => this.policies.authorize(attributes, signal),
      flow,
      suffix: () => nameSuffix(random),
      nowMs: () => clock.nowMs(),
    }
  }

  #cacheOf<T extends ApiObject>(kind: Kind<T>): WatchCache {
    return this.#partsOf(kind).cache
  }

  #partsOf(kind: Kind): ResourceParts {
    return present(this.#resources.get(kind), `${kind.plural} has a registry`)
  }

  async #evict(pods: ResourceParts, request: ResourceRequest): Promise<Answer> {
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
    for (const { kind, face, cache } of this.#resources.values())
      if (face.kind === kind) yield { kind, objects: cache.size, watches: cache.watchers }
  }

  /** Whether a node has a kubelet that answers on a port. */
  hasKubelets(): boolean {
    return this.reads.list(node, '').some(({ status }) => status.daemonEndpoints?.kubeletEndpoint !== undefined)
  }

  /** Brings what objects hold beside their keys in line with the objects. */
  async repair(signal: AbortSignal): Promise<void> {
    for (const parts of this.#resources.values()) {
      const book = parts.strategy?.claims
      if (book !== undefined && parts.face.kind === parts.kind) await repairClaims(book, parts, signal)
    }
  }

  handle(request: ResourceRequest): Soon<Answer> {
    const { resource, subresource } = request.target
    const review = this.#reviews.get(resource)?.find((each) => each.subresource === subresource)
    if (review !== undefined) return handleReview(review, request, this.#admission)
    if (resource.computed !== undefined) return this.#computed(request)
    const parts = this.#partsOf(resource)
    if (isConnection(resource, subresource)) return this.#connect(parts, request)
    checkWriteOptions(request)
    if (subresource === '' && parts.strategy?.claims !== undefined)
      return claiming(parts, request.context.signal, async () => handleObject(parts, request))
    if (subresource === '') return handleObject(parts, request)
    if (subresource === 'status' && resource.hasStatus) return handleStatus(parts, request)
    if (subresource === 'scale' && resource.scale !== undefined) return handleScale(parts, request, resource.scale)
    const part = lookup(parts.strategy?.parts, subresource)
    if (part !== undefined) return handlePart(parts, request, part)
    if (lookup(parts.strategy?.actions, subresource) !== undefined) return handleAction(parts, request)
    if (parts.kind === pod && subresource === 'eviction') return this.#evict(parts, request)
    if (parts.kind === pod && subresource === 'log') return podStream(parts, request, 'log', this.#kubelets)
    throw pathNotFound()
  }

  async #connect(parts: ResourceParts, asked: ResourceRequest): Promise<Answer> {
    const { subresource, verb } = asked.target
    if (isDryRun(asked)) throw badRequest('dryRun is not supported')
    if (isPodStream(subresource) && verb === 'get') await requireStreamCreate(this.policies.authorize, asked)
    const request = await admittedConnection(this.#admission, asked)
    if (parts.kind === pod && isPodStream(subresource)) return podStream(parts, request, subresource, this.#kubelets)
    if (parts.kind === node && subresource === 'proxy') return nodeProxy(parts, request, this.#kubelets)
    if (parts.kind === pod && subresource === 'proxy') return podProxy(parts, request, this.#kubelets)
    if (parts.kind === service && subresource === 'proxy') return serviceProxy(parts, request, this.#kubelets)
    throw pathNotFound()
  }
}

function handleObject(parts: ResourceParts, request: ResourceRequest): Soon<Answer> {
  const { verb } = request.target
  switch (verb) {
    case 'get':
      return whenKnown(get(parts, request), (stored) => found(parts, stored))
    case 'list':
      return list(parts, request)
    case 'watch':
      return watch(parts, request)
    case 'create':
      return createAnswer(parts, request)
    case 'update':
      return updateAnswer(parts, request, 'object')
    case 'patch':
      return patchAnswer(parts, request, 'object')
    case 'delete':
      return deleted(parts, request)
    case 'deletecollection':
      if (parts.strategy?.deletesOneByOne) throw methodNotAllowed()
      return removeCollection(parts, request, request.body.kind === 'value' ? request.body.value : undefined)
    case 'proxy':
    case '':
      throw methodNotAllowed()
    default:
      return verb satisfies never
  }
}

async function createAnswer(parts: ResourceParts, request: ResourceRequest): Promise<Answer> {
  return written(parts, 201, await create(parts, request, { body: bodyOf(request) }))
}

async function updateAnswer(
  parts: ResourceParts,
  request: ResourceRequest,
  part: UpdateOptions['part'],
): Promise<Answer> {
  if (part === 'object' && parts.kind.createsOnUpdate && !(await exists(parts, request))) {
    await requireCreate(parts.authorize, request)
    return written(parts, 201, await createByUpdate(parts, request, bodyOf(request)))
  }
  return written(parts, 200, await update(parts, request, () => ({ body: bodyOf(request) }), { part }))
}

async function deleted(parts: ResourceParts, request: ResourceRequest): Promise<Answer> {
  const { stored, gone, warnings } = await remove(
    parts,
    request,
    request.body.kind === 'value' ? request.body.value : undefined,
  )
  if (!gone || parts.strategy?.answersDeleted) return written(parts, 200, { stored, warnings })
  const { group, plural } = parts.kind
  const { name, uid } = stored.object.metadata
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid }
  return {
    kind: 'object',
    status: 200,
    object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details },
    warnings,
  }
}

function handleStatus(parts: ResourceParts, request: ResourceRequest): Soon<Answer> {
  const { verb } = request.target
  if (verb === 'get') return whenKnown(get(parts, request), (stored) => found(parts, stored))
  if (verb === 'update') return updateAnswer(parts, request, 'status')
  if (verb === 'patch') return patchAnswer(parts, request, 'status')
  throw methodNotAllowed()
}

async function patchAnswer(
  parts: ResourceParts,
  request: ResourceRequest,
  part: UpdateOptions['part'],
): Promise<Answer> {
  const { isNew, written: result } = await patchObject(parts, request, part)
  return written(parts, isNew ? 201 : 200, result)
}

async function handleScale(
  parts: ResourceParts,
  request: ResourceRequest,
  scaling: Scaling<ApiObject>,
): Promise<Answer> {
  const { verb } = request.target
  const { body } = request
  const answer = (stored: Stored): Answer => ({ kind: 'object', status: 200, object: scaleOf(stored.object, scaling) })
  if (verb === 'get') return answer(await get(parts, request))
  if ((verb !== 'update' && verb !== 'patch') || body.kind === 'none') throw methodNotAllowed()
  const transform: Transform =
    verb === 'patch'
      ? patchingScale(parts, request, scaling)
      : (current) => ({ body: withScale(current, scaling, body.value, request) })
  return answer((await update(parts, request, transform, { part: 'object', lens: scaleLens(scaling) })).stored)
}

function handlePart(
  parts: ResourceParts,
  request: ResourceRequest,
  part: NonNullable<Strategy['parts']>[string],
): Soon<Answer> {
  const { verb, subresource } = request.target
  const merge = (sent: ApiObject, old: ApiObject) => part(sent, old, worldOf(parts, request))
  if (verb === 'update') return updateAnswer(parts, request, merge)
  if (updatedOnly.has(subresource)) throw methodNotAllowed()
  if (verb === 'get') return whenKnown(get(parts, request), (stored) => found(parts, stored))
  if (verb === 'patch') return patchAnswer(parts, request, merge)
  throw methodNotAllowed()
}

/** Parts that can be put, but neither read nor patched. */
const updatedOnly = new Set(['finalize'])

/** `as`: under which resource admission sees what is posted, where it is not a part of the object. */
async function handleAction(parts: ResourceParts, request: ResourceRequest, as?: Kind): Promise<Answer> {
  const { verb, subresource } = request.target
  const act = lookup(parts.strategy?.actions, subresource)
  if (verb !== 'create' || act === undefined) throw methodNotAllowed()
  const { target, context } = request
  const part = as === undefined ? subresource : ''
  const body = await admittedBody(parts.admission, request, bodyOf(request), as ?? parts.kind, part)
  await change(parts, target, context, (current) => {
    const next = act(current, body, parts.clock.nowMs()).object
    return isDryRun(request) ? current : next
  })
  return success
}

const success: Answer = {
  kind: 'object',
  status: 201,
  object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
}

const found = (parts: ResourceParts, stored: Stored): Answer => written(parts, 200, { stored, warnings: [] })

const written = ({ face }: ResourceParts, status: number, { stored, warnings }: Written): Answer => {
  const shown = face.shown(stored)
  return { kind: 'object', status, object: shown.object, of: face.kind, stored: shown, warnings }
}

const bodyOf = ({ body }: ResourceRequest): unknown => {
  if (body.kind === 'none') throw badRequest('the request has no body')
  return body.value
}

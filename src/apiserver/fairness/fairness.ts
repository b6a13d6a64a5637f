// Fairness: gives each request seats of its priority level. FlowSchemas and PriorityLevelConfigurations in the caches
// decide the level and its limits. A request without a level is handled immediately.
import type { Clock } from '../../base/time/clock.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { flowSchema, type FlowSchema } from '../../api/flowcontrol/v1/flow-schema.ts'
import {
  priorityLevelConfiguration,
  type PriorityLevelConfiguration,
} from '../../api/flowcontrol/v1/priority-level-configuration.ts'
import type { ApiRequest, ResourceTarget, Target, User } from '../request/request.ts'
import { unlimitedSeats, type SeatSource } from '../request/request-slot.ts'
import { catchAllLevel } from './default-flow-schemas.ts'
import type { FairnessMetrics } from './fairness-metrics.ts'
import { flowOf, FlowMatcher } from './flow-matching.ts'
import { PriorityLevel, type LevelLimits, type Rejection } from './priority-level.ts'
import { FlowUsage, KindUsage, LevelUsage } from './request-usage.ts'
import { SeatPool } from './seat-pool.ts'
import type { ObjectCaches } from '../watch-cache/object-caches.ts'

/** As upstream. The seats of all priority levels are the sum of both. */
export const readRequestsDefault = 400
export const mutatingRequestsDefault = 200
/** A list takes one seat per this many objects, up to the maximum. */
const objectsPerSeat = 100
const listSeatsMax = 10

export interface FairnessDeps {
  readonly clock: Clock
  readonly metrics: FairnessMetrics
  readonly seats: number
}

/** The priority level of a FlowSchema. */
interface FlowRoute {
  /** `exempt`: its requests never wait. Undefined before there are levels. */
  readonly level: PriorityLevel | 'exempt' | undefined
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly flowUsage: FlowUsage
  readonly levelUsage: LevelUsage
  readonly enqueued: (length: number) => void
}

const nothing = () => {}

export class Fairness {
  readonly #deps: FairnessDeps
  readonly #caches: ObjectCaches
  readonly #pool: SeatPool
  readonly #levels = new Map<string, PriorityLevel>()
  readonly #levelUsage = new Map<string, LevelUsage>()
  /** By level and FlowSchema. */
  readonly #flowUsage = new Map<string, FlowUsage>()
  readonly #reading: KindUsage
  readonly #writing: KindUsage
  readonly #schemas = new Map<string, FlowSchema>()
  readonly #configurations = new Map<string, PriorityLevelConfiguration>()
  #matcher = new FlowMatcher([])
  #routes = new Map<FlowSchema | undefined, FlowRoute>()
  #isCurrent = false

  constructor(caches: ObjectCaches, deps: FairnessDeps) {
    this.#caches = caches
    this.#deps = deps
    this.#pool = new SeatPool(deps.seats)
    const { clock, metrics } = deps
    this.#reading = new KindUsage(metrics, 'readOnly', clock.monotonicMs())
    this.#writing = new KindUsage(metrics, 'mutating', clock.monotonicMs())
    metrics.onScrape(() => {
      const nowMs = clock.monotonicMs()
      for (const usage of [this.#reading, this.#writing, ...this.#levelUsage.values()]) usage.record(nowMs)
      for (const usage of this.#flowUsage.values()) usage.record()
    })
    const follow = <T extends FlowSchema | PriorityLevelConfiguration>(known: Map<string, T>) => ({
      changed: (now: object | undefined, before: object | undefined) => {
        if (now === undefined) known.delete((before as T).metadata.name)
        else known.set((now as T).metadata.name, now as T)
        this.#isCurrent = false
      },
    })
    caches.observe(flowSchema, follow(this.#schemas))
    caches.observe(priorityLevelConfiguration, follow(this.#configurations))
  }

  /** Classifies the request. It may take its seat several times, one after the other. */
  readonly seatOf = (request: ApiRequest): SeatSource => {
    if (!this.#isCurrent) this.#reconfigure()
    const { user, target, origin } = request
    if (user === undefined) return unlimitedSeats
    const schema = this.#matcher.match(user, target)
    const route = getOrInsert(this.#routes, schema, () => this.#routeOf(schema))
    if (origin !== undefined) Object.assign(origin.responseHeaders, route.headers)
    route.flowUsage.dispatched++
    if (route.level === undefined || request.upgrade !== undefined) return unlimitedSeats
    return { isExempt: route.level === 'exempt', take: () => this.#take(request, user, schema, route) }
  }

  #take(request: ApiRequest, user: User, schema: FlowSchema | undefined, route: FlowRoute): MaybePromise<() => void> {
    const { target, context } = request
    const { flowUsage, level } = route
    const { metrics } = flowUsage
    if (level === undefined) return nothing
    const width = this.#widthOf(request)
    if (width === 1) flowUsage.narrow++
    else metrics.width.observe(width)
    if (causesWatchEvents(target))
      metrics.watchers.observe(this.#caches.watchers(target.resource, target.namespace, target.name))
    const { clock } = this.#deps
    const startMs = clock.monotonicMs()
    if (level === 'exempt') return this.#seated(route, target, width, startMs, nothing)
    const flow = schema === undefined ? user.name : flowOf(schema, request)
    const rejected = (reason: Rejection) => {
      flowUsage.dispatched--
      metrics.waitedInVain.observe((clock.monotonicMs() - startMs) / 1000)
      const labels = { priority_level: route.name, flow_schema: schema?.metadata.name ?? catchAllLevel, reason }
      this.#deps.metrics.rejected.add(labels)
    }
    const seat = level.take(flow, width, context.signal, rejected, route.enqueued)
    if (typeof seat === 'function') {
      flowUsage.immediate++
      return this.#seated(route, target, width, startMs, seat)
    }
    this.#addWaiting(route, target, 1, width, startMs)
    return seat
      .finally(() => this.#addWaiting(route, target, -1, -width, clock.monotonicMs()))
      .then((leave) => {
        const nowMs = clock.monotonicMs()
        metrics.waited.observe((nowMs - startMs) / 1000)
        return this.#seated(route, target, width, nowMs, leave)
      })
  }

  #kindUsage({ verb }: Target): KindUsage {
    return verb === 'get' || verb === 'list' || verb === 'watch' ? this.#reading : this.#writing
  }

  #addWaiting(
    { flowUsage, levelUsage }: FlowRoute,
    target: Target,
    requests: number,
    seats: number,
    nowMs: number,
  ): void {
    flowUsage.metrics.waiting.add(requests)
    flowUsage.metrics.waitingSeats.add(seats)
    levelUsage.addWaiting(requests, nowMs)
    this.#kindUsage(target).addWaiting(requests, nowMs)
  }

  /** Counts a request while it has its seats. */
  #seated(
    { flowUsage, levelUsage }: FlowRoute,
    target: Target,
    width: number,
    seatedMs: number,
    leave: () => void,
  ): () => void {
    const kindUsage = this.#kindUsage(target)
    flowUsage.executing++
    flowUsage.seats += width
    levelUsage.addExecuting(1, width, seatedMs)
    kindUsage.addExecuting(1, seatedMs)
    return () => {
      leave()
      const nowMs = this.#deps.clock.monotonicMs()
      flowUsage.executing--
      flowUsage.seats -= width
      levelUsage.addExecuting(-1, -width, nowMs)
      kindUsage.addExecuting(-1, nowMs)
      const { watched, executed } = flowUsage.metrics
      const spent = target.verb === 'watch' ? watched : executed
      spent.observe((nowMs - seatedMs) / 1000)
    }
  }

  /** The seats of a request. A list takes more, depending on its number of objects. */
  #widthOf({ target, query }: ApiRequest): number {
    if (target.kind === 'path' || target.verb !== 'list') return 1
    const limit = Number(query.get('limit') ?? 0)
    const held = this.#caches.count(target.resource.storedAs?.kind ?? target.resource)
    const objects = limit > 0 ? Math.min(limit, held) : held
    return Math.min(listSeatsMax, Math.max(1, Math.ceil(objects / objectsPerSeat)))
  }

  #routeOf(schema: FlowSchema | undefined): FlowRoute {
    const wanted = schema?.spec.priorityLevelConfiguration.name ?? catchAllLevel
    // A schema whose level does not exist uses the catch-all level.
    const name = this.#configurations.has(wanted) ? wanted : catchAllLevel
    const configuration = this.#configurations.get(name)
    const flowUsage = this.#flowUsageOf(name, schema?.metadata.name ?? catchAllLevel)
    return {
      level: configuration?.spec.type === 'Exempt' ? 'exempt' : this.#levels.get(name),
      name,
      headers: {
        ...(schema === undefined ? {} : { 'x-kubernetes-pf-flowschema-uid': schema.metadata.uid }),
        ...(configuration === undefined ? {} : { 'x-kubernetes-pf-prioritylevel-uid': configuration.metadata.uid }),
      },
      flowUsage,
      levelUsage: this.#levelUsageOf(name),
      enqueued: flowUsage.metrics.queueLength.observe,
    }
  }

  #levelUsageOf(level: string): LevelUsage {
    const { metrics, clock } = this.#deps
    return getOrInsert(this.#levelUsage, level, () => new LevelUsage(metrics, level, clock.monotonicMs()))
  }

  #flowUsageOf(level: string, schema: string): FlowUsage {
    return getOrInsert(this.#flowUsage, `${level}/${schema}`, () => new FlowUsage(this.#deps.metrics.of(level, schema)))
  }

  #reconfigure(): void {
    this.#isCurrent = true
    this.#matcher = new FlowMatcher([...this.#schemas.values()])
    this.#routes = new Map()
    const { seats, clock, metrics } = this.#deps
    const all = [...this.#configurations.values()].map(({ metadata, spec }) => ({ name: metadata.name, spec }))
    const shares = all.reduce((sum, { spec }) => sum + sharesOf(spec), 0)
    const nowMs = clock.monotonicMs()
    let executingMax = 0
    let waitingMax = 0
    for (const { name, spec } of all) {
      const nominal = shares === 0 ? 0 : Math.ceil((seats * sharesOf(spec)) / shares)
      const limits = limitsOf(spec, nominal, seats)
      metrics.setLimits(name, nominal, limits.lower, limits.upper)
      const waiting = (limits.queuing?.queues ?? 0) * (limits.queuing?.lengthMax ?? 0)
      this.#levelUsageOf(name).setLimits(nominal, waiting, nowMs)
      executingMax += Math.max(1, nominal)
      waitingMax += Math.floor(waiting / 2)
      if (spec.type === 'Exempt') continue
      const known = this.#levels.get(name)
      if (known === undefined) this.#levels.set(name, new PriorityLevel(limits, this.#pool, clock))
      else known.resize(limits)
    }
    // As upstream, half of the places in queues are the limit of either kind.
    for (const usage of [this.#reading, this.#writing]) usage.setLimits(executingMax, waitingMax, nowMs)
    // A deleted level has no seats; those of its running requests are returned one by one.
    for (const [name, level] of this.#levels)
      if (!this.#configurations.has(name)) level.resize({ nominal: 0, lower: 0, upper: 0, queuing: undefined })
  }
}

/** As upstream: writes that watches can observe. A token of a ServiceAccount is not stored. */
const causesWatchEvents = (target: Target): target is ResourceTarget =>
  target.kind === 'resource' &&
  (target.verb === 'create' || target.verb === 'update' || target.verb === 'patch' || target.verb === 'delete') &&
  target.subresource !== 'token'

type LevelSpec = PriorityLevelConfiguration['spec']

const sharesOf = ({ limited, exempt }: LevelSpec): number => (limited ?? exempt)?.nominalConcurrencyShares ?? 0

export function limitsOf({ limited }: LevelSpec, nominal: number, seats: number): LevelLimits {
  const lendable = Math.round((nominal * (limited?.lendablePercent ?? 0)) / 100)
  const borrowing = limited?.borrowingLimitPercent
  const queuing = limited?.limitResponse.queuing
  const isQueue = limited?.limitResponse.type === 'Queue' && queuing !== undefined
  return {
    nominal,
    lower: nominal - lendable,
    upper: borrowing === undefined ? seats : nominal + Math.round((nominal * borrowing) / 100),
    queuing: isQueue
      ? { queues: queuing.queues, handSize: queuing.handSize, lengthMax: queuing.queueLengthLimit }
      : undefined,
  }
}

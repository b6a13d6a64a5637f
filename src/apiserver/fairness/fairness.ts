// Fairness: gives each request a seat of its priority level. The objects in the caches say which level that is, and
// how many seats it has; where there is no level to lead to, a request has its turn at once.
import type { Clock } from '../../base/clock.ts'
import type { Metrics } from '../../base/metrics.ts'
import { getOrMake } from '../../base/get-or-make.ts'
import { flowSchema, type FlowSchema } from '../../api/flowcontrol/v1/flow-schema.ts'
import {
  priorityLevelConfiguration,
  type PriorityLevelConfiguration,
} from '../../api/flowcontrol/v1/priority-level-configuration.ts'
import type { Caches, SeatGiver } from '../policies.ts'
import type { ApiRequest } from '../request.ts'
import { catchAllLevel } from './defaults.ts'
import { flowOf, FlowMatcher } from './flow-matching.ts'
import { PriorityLevel, type LevelLimits, type Rejection } from './priority-level.ts'
import { SeatPool } from './seat-pool.ts'

/** As upstream: 400 requests that read and 200 that write at once. */
export const seatsDefault = 600
/** A list needs a seat for each so many objects, up to the bound. */
const objectsPerSeat = 100
const listSeatsMax = 10

export class FairnessMetrics {
  readonly dispatched
  readonly rejected
  readonly limit

  constructor(metrics: Metrics) {
    const labels = ['priority_level', 'flow_schema']
    this.dispatched = metrics.counter(
      'apiserver_flowcontrol_dispatched_requests_total',
      'Number of requests executed by API Priority and Fairness.',
      labels,
    )
    this.rejected = metrics.counter(
      'apiserver_flowcontrol_rejected_requests_total',
      'Number of requests rejected by API Priority and Fairness.',
      [...labels, 'reason'],
    )
    this.limit = metrics.gauge(
      'apiserver_flowcontrol_nominal_limit_seats',
      'Nominal number of execution seats configured for each priority level.',
      ['priority_level'],
    )
  }
}

export interface FairnessParts {
  readonly clock: Clock
  readonly metrics: FairnessMetrics
  readonly seats: number
}

/** Where a schema leads. */
interface Road {
  readonly level: PriorityLevel | undefined
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly dispatched: { add(amount: number): void }
}

const nothing = () => {}

export class Fairness {
  readonly #parts: FairnessParts
  readonly #caches: Caches
  readonly #pool: SeatPool
  readonly #levels = new Map<string, PriorityLevel>()
  readonly #schemas = new Map<string, FlowSchema>()
  readonly #configurations = new Map<string, PriorityLevelConfiguration>()
  #matcher = new FlowMatcher([])
  #roads = new Map<FlowSchema | undefined, Road>()
  #isCurrent = false

  constructor(caches: Caches, parts: FairnessParts) {
    this.#caches = caches
    this.#parts = parts
    this.#pool = new SeatPool(parts.seats)
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

  readonly takeSeat: SeatGiver = (request) => {
    if (!this.#isCurrent) this.#follow()
    const { user, target, origin, context } = request
    if (user === undefined) return nothing
    const schema = this.#matcher.match(user, target)
    const road = getOrMake(this.#roads, schema, () => this.#roadOf(schema))
    if (origin !== undefined) Object.assign(origin.answerHeaders, road.headers)
    road.dispatched.add(1)
    if (road.level === undefined || request.upgrade !== undefined) return nothing
    const flow = schema === undefined ? user.name : flowOf(schema, request)
    const rejected = (reason: Rejection) => {
      road.dispatched.add(-1)
      const labels = { priority_level: road.name, flow_schema: schema?.metadata.name ?? catchAllLevel, reason }
      this.#parts.metrics.rejected.add(labels)
    }
    return road.level.take(flow, this.#widthOf(request), context.signal, rejected)
  }

  /** A list costs as much as it holds. */
  #widthOf({ target, query }: ApiRequest): number {
    if (target.kind === 'path' || target.verb !== 'list') return 1
    const limit = Number(query.get('limit') ?? 0)
    const held = this.#caches.count(target.resource.storedAs?.kind ?? target.resource)
    const objects = limit > 0 ? Math.min(limit, held) : held
    return Math.min(listSeatsMax, Math.max(1, Math.ceil(objects / objectsPerSeat)))
  }

  #roadOf(schema: FlowSchema | undefined): Road {
    const wanted = schema?.spec.priorityLevelConfiguration.name ?? catchAllLevel
    // A schema whose level is missing leads to where everything else goes.
    const name = this.#configurations.has(wanted) ? wanted : catchAllLevel
    const configuration = this.#configurations.get(name)
    const labels = { priority_level: name, flow_schema: schema?.metadata.name ?? catchAllLevel }
    return {
      level: configuration?.spec.type === 'Exempt' ? undefined : this.#levels.get(name),
      name,
      headers: {
        ...(schema === undefined ? {} : { 'x-kubernetes-pf-flowschema-uid': schema.metadata.uid }),
        ...(configuration === undefined ? {} : { 'x-kubernetes-pf-prioritylevel-uid': configuration.metadata.uid }),
      },
      dispatched: this.#parts.metrics.dispatched.with(labels),
    }
  }

  #follow(): void {
    this.#isCurrent = true
    this.#matcher = new FlowMatcher([...this.#schemas.values()])
    this.#roads = new Map()
    const { seats, clock, metrics } = this.#parts
    const all = [...this.#configurations.values()].map(({ metadata, spec }) => ({ name: metadata.name, spec }))
    const shares = all.reduce((sum, { spec }) => sum + sharesOf(spec), 0)
    for (const { name, spec } of all) {
      const nominal = shares === 0 ? 0 : Math.ceil((seats * sharesOf(spec)) / shares)
      metrics.limit.set({ priority_level: name }, nominal)
      if (spec.type === 'Exempt') continue
      const limits = limitsOf(spec, nominal, seats)
      const known = this.#levels.get(name)
      if (known === undefined) this.#levels.set(name, new PriorityLevel(limits, this.#pool, clock))
      else known.resize(limits)
    }
    // A level that is gone keeps no seats; those of its requests come back one by one.
    for (const [name, level] of this.#levels)
      if (!this.#configurations.has(name)) level.resize({ nominal: 0, kept: 0, most: 0, queuing: undefined })
  }
}

type LevelSpec = PriorityLevelConfiguration['spec']

const sharesOf = ({ limited, exempt }: LevelSpec): number => (limited ?? exempt)?.nominalConcurrencyShares ?? 0

export function limitsOf({ limited }: LevelSpec, nominal: number, seats: number): LevelLimits {
  const lendable = Math.round((nominal * (limited?.lendablePercent ?? 0)) / 100)
  const borrowing = limited?.borrowingLimitPercent
  const queuing = limited?.limitResponse.queuing
  const isQueue = limited?.limitResponse.type === 'Queue' && queuing !== undefined
  return {
    nominal,
    kept: nominal - lendable,
    most: borrowing === undefined ? seats : nominal + Math.round((nominal * borrowing) / 100),
    queuing: isQueue
      ? { queues: queuing.queues, handSize: queuing.handSize, lengthMax: queuing.queueLengthLimit }
      : undefined,
  }
}

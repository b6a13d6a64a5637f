// RouteTable: the routes of all Services on one node, kept up to date from informers. A change of a Service or a slice
// recomputes the routes of that Service only; a change of the node's zone recomputes all.
import { zoneLabel } from '../../api/core/v1/node/node-labels.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { namespaceOf, objectKey, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import { noCause, type Cause } from '../../base/observability/flow-recorder.ts'
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { Informer } from '../../client/informer/informer.ts'
import type { AvoidedServers } from '../../client/server-balancer/avoided-servers.ts'
import { notRouted, routedServiceInSlices, type RoutedService } from './service-route.ts'

type Source<T extends ApiObject> = Pick<Informer<T>, 'get' | 'byIndex' | 'addIndex' | 'onChange' | 'synced'>

export interface RouteTableDeps {
  readonly services: Source<Service>
  readonly slices: Source<EndpointSlice>
  readonly nodes: Source<Node>
  readonly nodeName: string
  /** API servers that get no new connections through the Service `kubernetes`. */
  readonly avoidedServers?: AvoidedServers | undefined
}

/** The routes of one Service that a consumer has, and those that it should have. */
export interface RouteChange {
  readonly service: ObjectKey
  readonly before: RoutedService
  readonly now: RoutedService
  /** What changed since the consumer took the routes last. */
  readonly causes: readonly Cause[]
}

const serviceIndex = 'service of a slice'

export class RouteTable {
  readonly #deps: RouteTableDeps
  readonly #onChange: () => void
  readonly #current = new Map<ObjectKey, RoutedService>()
  /** Services to recompute, and why. */
  #pending = new Map<ObjectKey, Cause[]>()
  #zone: string | undefined

  /** `onChange` is called when there are changes to take, once until they are taken. */
  constructor(deps: RouteTableDeps, onChange: () => void) {
    this.#deps = deps
    this.#onChange = onChange
    const { services, slices, nodes, nodeName } = deps
    slices.addIndex(serviceIndex, servicesOf)
    services.onChange(({ key, cause }) => this.#mark(key, cause))
    slices.onChange(({ now, before, cause }) => {
      for (const slice of [now, before])
        if (slice !== undefined) for (const key of servicesOf(slice)) this.#mark(key, cause)
    })
    nodes.onChange(({ now, cause }) => {
      if (now?.metadata.name !== nodeName || now.metadata.labels?.[zoneLabel] === this.#zone) return
      this.#zone = now.metadata.labels?.[zoneLabel]
      for (const key of this.#current.keys()) this.#mark(key, cause)
    })
    deps.avoidedServers?.onChange(() => this.#mark(apiServers, noCause))
  }

  /** Resolves when every object that existed at the start is known. Before that, routes are incomplete. */
  async synced(): Promise<void> {
    const { services, slices, nodes } = this.#deps
    await Promise.all([services.synced, slices.synced, nodes.synced])
  }

  /** The changes since the last call. Afterwards `now` is what the consumer has. */
  *takeChanges(slice: Slice): Sliced<RouteChange[]> {
    const changes: RouteChange[] = []
    // Those that are marked meanwhile are for the next call.
    const pending = this.#pending
    this.#pending = new Map()
    for (const [service, causes] of pending) {
      const before = this.#current.get(service) ?? notRouted
      const now = yield* this.#compute(service, slice)
      if (now === notRouted) this.#current.delete(service)
      else this.#current.set(service, now)
      if (before !== notRouted || now !== notRouted) changes.push({ service, before, now, causes })
      if (slice.isUsedUp()) yield
    }
    return changes
  }

  /** All routes as of the last call of `takeChanges`. */
  get current(): ReadonlyMap<ObjectKey, RoutedService> {
    return this.#current
  }

  *#compute(key: ObjectKey, slice: Slice): Sliced<RoutedService> {
    const { services, slices, nodeName, avoidedServers } = this.#deps
    const found = services.get(key)
    if (found === undefined) return notRouted
    const node = { name: nodeName, zone: this.#zone }
    const listed = slices.byIndex(serviceIndex, key)
    const used = key === apiServers && avoidedServers !== undefined ? withoutAvoided(listed, avoidedServers) : listed
    return yield* routedServiceInSlices(found, used, node, slice)
  }

  #mark(key: ObjectKey, cause: Cause): void {
    const isFirst = this.#pending.size === 0
    const causes = this.#pending.get(key)
    if (causes === undefined) this.#pending.set(key, [cause])
    else if (causes.length < causesMax) causes.push(cause)
    if (isFirst) this.#onChange()
  }
}

const apiServers = objectKey('default', 'kubernetes')

/** The slices of the API servers without those that are avoided; all of them where none would be left. */
function withoutAvoided(slices: readonly EndpointSlice[], avoided: AvoidedServers): readonly EndpointSlice[] {
  const used = slices.map((slice) => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).filter(
      ({ addresses }) =>
        !(slice.ports ?? []).some(({ port }) =>
          addresses.some((address) => port !== undefined && avoided.has({ address, port })),
        ),
    ),
  }))
  return used.some(({ endpoints }) => endpoints.length > 0) ? used : slices
}

/** Further causes of one change are not recorded. */
const causesMax = 16

/** The Service of the slice, if it names one. */
const servicesOf = (slice: EndpointSlice): readonly ObjectKey[] => {
  const name = slice.metadata.labels?.[serviceNameLabel]
  return name === undefined ? [] : [objectKey(namespaceOf(slice), name)]
}

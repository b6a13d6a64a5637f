// The service proxy of a node: keeps the rules of the kernel equal to the Services and EndpointSlices of the cluster.
import { node, type Node } from '../api/core/v1/node/node.ts'
import { service } from '../api/core/v1/service/service.ts'
import { endpointSlice } from '../api/discovery/v1/endpoint-slice.ts'
import { triggerTimeAnnotation } from '../api/discovery/v1/endpoint-slice-labels.ts'
import { splitKey, type ObjectKey } from '../api/meta/object.ts'
import { serviceCidr, type ServiceCIDR } from '../api/networking/v1/service-cidr.ts'
import { parseCidrs } from '../base/net/cidr.ts'
import { parseInterfaceName } from '../base/net/interface-name.ts'
import { parseIps } from '../base/net/ip-address.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import { mergeCauses, type FlowId, type FlowRecorder } from '../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../base/observability/log.ts'
import type { MaybePromise } from '../base/async/maybe-promise.ts'
import type { Clock } from '../base/time/clock.ts'
import { runInSlices, type Slice, type Sliced } from '../base/work/work-slice.ts'
import type { Informer } from '../client/informer/informer.ts'
import type { Informers } from '../client/informer/informers.ts'
import type { AvoidedServers } from '../client/server-balancer/avoided-servers.ts'
import type { Conntrack, UdpFlows } from '../machine/conntrack/conntrack.ts'
import type { KernelSettings } from '../machine/kernel-settings/kernel-settings.ts'
import type { Nftables } from '../machine/nftables/nftables.ts'
import { HeldChanges } from '../machine/nftables/held-changes.ts'
import { rejectedObjects } from '../machine/nftables/rejected-objects.ts'
import { removeTable, TableSync, type TableTransaction } from '../machine/nftables/table-sync.ts'
import { ProxyHealth } from './health/proxy-health.ts'
import { ServiceHealth, type ServiceHealthDeps } from './health/service-health.ts'
import { knownClientCommands } from './nftables/known-clients.ts'
import { ProxyTable, type ProxyTableOptions } from './nftables/proxy-table.ts'
import { staleAmong, staleFlows } from './nftables/stale-flows.ts'
import { presenceCommands, probeCommands, removalCommands, trialEnd } from './nftables/table-layout.ts'
import { prepareBridges, routeLoopback, setConnectionTimeouts } from './kernel-preparation.ts'
import type { ProxyMetrics } from './metrics/proxy-metrics.ts'
import type { ProxyEvents } from './proxy-events.ts'
import { RouteTable, type RouteChange } from './routing/route-table.ts'
import { notRouted } from './routing/service-route.ts'

export interface ServiceProxyDeps extends Pick<ProxyTableOptions, 'masqueradesAll'> {
  /** The addresses of pods, by which their traffic is recognised. */
  readonly podCidrs: readonly string[]
  /** The interface of pods through which node ports at 127.0.0.1 are routed. */
  readonly loopbackInterface?: string
  readonly informers: Pick<Informers, 'of'>
  readonly nftables: Nftables
  readonly conntrack: Conntrack
  readonly kernelSettings: KernelSettings
  /** For health check node ports. */
  readonly listeners: ServiceHealthDeps['listeners']
  /** The address of health check node ports. */
  readonly healthCheckHost: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: ProxyMetrics
  readonly events: Omit<ProxyEvents, 'hostPortIgnored' | 'nodeIgnored'>
  readonly flow: FlowRecorder
  readonly nodeName: string
  /** The addresses of node ports, read repeatedly; by default the internal addresses in the status of the Node. */
  readonly nodeAddresses?: () => readonly string[]
  /** API servers that the Service `kubernetes` does not lead to. */
  readonly avoidedServers?: AvoidedServers | undefined
  /** The addresses of Services, of which unused ones are dropped; by default those of the ServiceCIDR objects. */
  readonly serviceCidrs?: readonly string[]
}

type ProxyRanges = Pick<ProxyTableOptions, 'nodeAddresses' | 'serviceCidrs'>

/** Changes of more Services, as at the start, are one flow event. */
const flowEventsPerSyncMax = 100

/** A Service that the kernel rejects is tried again when it changes, after this time at the earliest. */
const rejectedMs = 60_000
/** A Service about which the kernel was not asked in time is tried again after this time. */
const undecidedMs = 1_000

/** Runs in `tasks` until they are stopped. The rules remain, so that traffic continues while the proxy is restarted. */
export function startServiceProxy(deps: ServiceProxyDeps, tasks: TaskGroup): ServiceProxy {
  const proxy = new ServiceProxy(deps)
  tasks.start('service proxy', (signal) => proxy.run(signal))
  return proxy
}

/** Removes the rules of the proxy, and no others. */
export async function removeServiceRules(nftables: Nftables): Promise<void> {
  await removeTable(nftables, 'Services', removalCommands)
}

export class ServiceProxy {
  readonly health: ProxyHealth
  readonly #deps: ServiceProxyDeps
  readonly #routes: RouteTable
  readonly #serviceHealth: ServiceHealth
  /** The trigger times of slices that changed since the last transaction. */
  #triggersMs: number[] = []
  readonly #startMs: number
  /** The routes before and after the changes that have not been applied. */
  readonly #unapplied = new Map<ObjectKey, Pick<RouteChange, 'before' | 'now'>>()
  readonly #layout: Omit<ProxyTableOptions, 'nodeAddresses' | 'serviceCidrs'>
  #table: ProxyTable
  /** Services that the kernel rejects. They are left out, so that the others are routed. */
  readonly #rejected = new HeldChanges<ObjectKey, RouteChange>()
  /** What of a Service gets no traffic, as it was reported last. */
  readonly #problems = new Map<ObjectKey, string>()
  #ranges: ProxyRanges
  /** The ranges of the table. It is replaced when others are wanted. */
  #tableRanges: ProxyRanges
  readonly #sync: TableSync
  /** Whether the timeouts of tracked connections were set. */
  #hasTimeouts = false

  constructor(deps: ServiceProxyDeps) {
    this.#deps = deps
    const { clock, metrics, informers, nodeName, listeners, log, healthCheckHost } = deps
    this.#startMs = clock.nowMs()
    this.health = new ProxyHealth(clock, metrics)
    const isProxyHealthy = () => this.health.isHealthy
    this.#serviceHealth = new ServiceHealth({
      listeners,
      log,
      host: healthCheckHost,
      isProxyHealthy,
      onFailure: (key, port, error) => {
        const failed = informers.of(service).get(key)
        if (failed !== undefined) deps.events.healthCheckFailed(failed, port, error)
      },
    })
    this.#ranges = {
      nodeAddresses: parseIps(deps.nodeAddresses?.() ?? []),
      serviceCidrs: parseCidrs(deps.serviceCidrs ?? []),
    }
    const loopbackInterface = parseInterfaceName(deps.loopbackInterface ?? '')
    this.#layout = {
      podCidrs: parseCidrs(deps.podCidrs),
      masqueradesAll: deps.masqueradesAll,
      ...(loopbackInterface === undefined ? {} : { loopbackInterface }),
    }
    this.#tableRanges = this.#ranges
    this.#table = new ProxyTable({ ...this.#layout, ...this.#ranges })
    this.#sync = new TableSync(
      {
        subject: 'Services',
        presenceCommands,
        probeCommands,
        next: (needsFullSync, signal) => this.#inSlices((slice) => this.#next(needsFullSync, slice, signal), signal),
        beforeCheck: () => this.#beforeCheck(),
      },
      deps,
    )
    const services = informers.of(service)
    const slices = informers.of(endpointSlice)
    const nodes = informers.of(node)
    services.onChange(() => metrics.serviceChanges.add({}))
    slices.onChange(({ now }) => {
      metrics.endpointChanges.add({})
      const triggerMs = Date.parse(now?.metadata.annotations?.[triggerTimeAnnotation] ?? '')
      if (triggerMs > this.#startMs) this.#triggersMs.push(triggerMs)
    })
    nodes.onChange(({ now }) => {
      if (now?.metadata.name === nodeName) this.#observeNode(now)
    })
    if (deps.serviceCidrs === undefined) this.#observeServiceCidrs(informers.of(serviceCidr))
    this.#routes = new RouteTable({ services, slices, nodes, nodeName, avoidedServers: deps.avoidedServers }, () =>
      this.#queue(),
    )
  }

  /** Resolves when the rules were applied for the first time. */
  get synced(): Promise<void> {
    return this.#sync.synced
  }

  async run(signal: AbortSignal): Promise<void> {
    await using _serviceHealth = this.#serviceHealth
    await prepareBridges(this.#deps)
    await unlessAborted(this.#routes.synced(), signal)
    const { informers, nodeName, events } = this.#deps
    const own = informers.of(node).get(nodeName)
    if (own !== undefined) events.started(own)
    await this.#sync.run(signal)
  }

  #queue(): void {
    this.health.queued()
    this.#deps.metrics.lastQueuedSeconds.set({}, this.#deps.clock.nowMs() / 1_000)
    this.#sync.queue()
  }

  #observeNode(now: Node): void {
    this.health.observeNode(now)
    if (this.#deps.nodeAddresses !== undefined) return
    const addresses = now.status.addresses ?? []
    this.#setRanges({
      ...this.#ranges,
      nodeAddresses: parseIps(addresses.flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : []))),
    })
  }

  #observeServiceCidrs(informer: Pick<Informer<ServiceCIDR>, 'onChange'>): void {
    const known = new Map<ObjectKey, readonly string[]>()
    informer.onChange(({ key, now }) => {
      if (now === undefined) known.delete(key)
      else known.set(key, now.spec?.cidrs ?? [])
      this.#setRanges({ ...this.#ranges, serviceCidrs: parseCidrs([...known.values()].flat()).toSorted() })
    })
  }

  #setRanges(ranges: ProxyRanges): void {
    if (JSON.stringify(ranges) === JSON.stringify(this.#ranges)) return
    this.#ranges = ranges
    this.#queue()
  }

  #inSlices<T>(work: (slice: Slice) => Sliced<T>, signal: AbortSignal): MaybePromise<T> {
    return runInSlices(work, this.#deps.clock, signal)
  }

  *#next(needsFullSync: boolean, slice: Slice, signal: AbortSignal): Sliced<TableTransaction> {
    const { clock, nftables } = this.#deps
    if (needsFullSync) this.health.queued()
    const startMs = clock.monotonicMs()
    const triggersMs = this.#triggersMs
    this.#triggersMs = []
    const changes = yield* this.#takeChanges(slice)
    for (const { service: key, before, now } of changes)
      this.#unapplied.set(key, { before: this.#unapplied.get(key)?.before ?? before, now })
    const isReplaced = yield* this.#useRanges(slice)
    const partial = needsFullSync || isReplaced ? undefined : yield* this.#table.change(changes, slice)
    const isFull = partial === undefined
    const updates = changes.map(({ service: key, now }) => [key, now] as const)
    if (needsFullSync || isReplaced) yield* this.#table.update(updates, slice)
    const table = this.#table
    const recorded = this.#recordFlow(changes)
    return {
      commands: partial ?? (yield* table.all(table.services.keys(), slice)),
      isFull,
      learned: async () => knownClientCommands(nftables, await this.#inSlices((own) => table.clientSets(own), signal)),
      finish: async (result) => {
        const outcome = result.kind === 'applied' ? 'ok' : result.messages.join('; ')
        for (const id of recorded) this.#deps.flow.finish(id, outcome)
        if (result.kind === 'failed') {
          this.#deps.metrics.syncFailures.add({})
          return isFull ? this.#leaveOutRejected(signal) : undefined
        }
        if (isFull || changes.length > 0) this.#measure((clock.monotonicMs() - startMs) / 1_000, isFull, triggersMs)
        await this.#applied(isFull, signal)
      },
    }
  }

  /** Rules and elements depend on the ranges, which rarely change, so the table is replaced. Whether it is. */
  *#useRanges(slice: Slice): Sliced<boolean> {
    if (this.#tableRanges === this.#ranges) return false
    const { services } = this.#table
    this.#tableRanges = this.#ranges
    this.#table = new ProxyTable({ ...this.#layout, ...this.#tableRanges })
    yield* this.#table.update(services, slice)
    return true
  }

  /** Changes of a Service that the kernel has rejected wait for their time. */
  *#takeChanges(slice: Slice): Sliced<readonly RouteChange[]> {
    const nowMs = this.#deps.clock.nowMs()
    const due = this.#rejected.takeDue(nowMs)
    const changes = yield* this.#routes.takeChanges(slice)
    for (const { service: key, now } of changes) if (now === notRouted) this.#rejected.forget(key)
    return [...due, ...changes.filter((change) => this.#rejected.admits(change.service, change, nowMs))]
  }

  /** Finds the Services because of which the kernel rejects the table, and removes them from it. */
  async #leaveOutRejected(signal: AbortSignal): Promise<void> {
    const { nftables, clock, informers, events, metrics } = this.#deps
    const table = this.#table
    const accepted: ObjectKey[] = []
    const suspects: ObjectKey[] = []
    for (const key of table.services.keys()) (this.#unapplied.has(key) ? suspects : accepted).push(key)
    const trialCommands = async (keys: readonly ObjectKey[]) => [
      ...(await this.#inSlices((slice) => table.all(keys, slice), signal)),
      trialEnd,
    ]
    const { rejected, undecided } = await rejectedObjects({ nftables, accepted, suspects, trialCommands })
    for (const [key, message] of rejected) {
      this.#rejected.hold(key, clock.nowMs() + rejectedMs)
      metrics.rejectedServices.add({})
      const found = informers.of(service).get(key)
      if (found !== undefined) events.notRouted(found, `the kernel rejects its rules: ${message}`)
    }
    for (const key of undecided) {
      const change = { service: key, before: notRouted, now: table.services.get(key) ?? notRouted, causes: [] }
      this.#rejected.hold(key, clock.nowMs() + undecidedMs, change)
    }
    const leftOut = [...rejected.keys(), ...undecided].map((key) => [key, notRouted] as const)
    await this.#inSlices((slice) => table.update(leftOut, slice), signal)
  }

  /** Reports what of the changed Services gets no traffic. */
  *#reportProblems(slice: Slice): Sliced<void> {
    const { informers, events } = this.#deps
    for (const key of this.#unapplied.keys()) {
      const problem = yield* this.#table.problemOf(key, slice)
      const reported = this.#problems.get(key)
      if (problem === reported) continue
      if (problem === undefined) this.#problems.delete(key)
      else this.#problems.set(key, problem)
      const found = informers.of(service).get(key)
      if (problem !== undefined && found !== undefined) events.notRouted(found, problem)
    }
  }

  async #applied(isFull: boolean, signal: AbortSignal): Promise<void> {
    await this.#inSlices((slice) => this.#reportProblems(slice), signal)
    for (const [key, { now }] of this.#unapplied) this.#serviceHealth.update(key, now.healthCheck)
    this.health.updated()
    const applied = [...this.#unapplied.values()]
    this.#unapplied.clear()
    const known = isFull ? undefined : await this.#inSlices((slice) => this.#staleOf(applied, slice), signal)
    for (const flows of known ?? (await this.#staleOfAll(signal))) await this.#removeFlows(flows, signal)
  }

  /** undefined if there are too many. */
  *#staleOf(
    changes: readonly Pick<RouteChange, 'before' | 'now'>[],
    slice: Slice,
  ): Sliced<readonly UdpFlows[] | undefined> {
    const stale: UdpFlows[] = []
    for (const { before, now } of changes) {
      const flows = yield* staleFlows(before, now, this.#tableRanges.nodeAddresses, slice)
      if (flows === undefined) return undefined
      stale.push(...flows)
    }
    return stale
  }

  /** Endpoints may have changed while no proxy was running, and a list costs less than a call for every Service. */
  async #staleOfAll(signal: AbortSignal): Promise<readonly UdpFlows[]> {
    const { conntrack, clock, log } = this.#deps
    const withUdp = [...this.#table.services.values()].filter(({ routes }) =>
      routes.some(({ protocol }) => protocol === 'UDP'),
    )
    if (withUdp.length === 0) return []
    try {
      const tracked = await clock.outside(conntrack.udpFlows(signal))
      const { nodeAddresses } = this.#tableRanges
      return await this.#inSlices((slice) => staleAmong(tracked, withUdp, nodeAddresses, slice), signal)
    } catch (error) {
      signal.throwIfAborted()
      log.error('cannot list UDP flows', { error: errorText(error) })
      return []
    }
  }

  #measure(seconds: number, isFull: boolean, triggersMs: readonly number[]): void {
    const { metrics, clock } = this.#deps
    const nowMs = clock.nowMs()
    metrics.syncSeconds.observe({}, seconds)
    metrics[isFull ? 'fullSyncSeconds' : 'partialSyncSeconds'].observe({}, seconds)
    metrics.lastSyncSeconds.set({}, nowMs / 1_000)
    for (const triggerMs of triggersMs) metrics.programmingSeconds.observe({}, (nowMs - triggerMs) / 1_000)
  }

  #recordFlow(changes: readonly RouteChange[]): readonly FlowId[] {
    const { flow, nodeName } = this.#deps
    const from = `proxy/${nodeName}`
    if (changes.length > flowEventsPerSyncMax)
      return [flow.record('call', from, 'Network', `apply the rules of ${changes.length} Services`)]
    return changes.map(({ service: key, causes }) =>
      flow.record(
        'call',
        from,
        'Network',
        'apply rules',
        { resource: 'services', ...splitKey(key) },
        0,
        mergeCauses(causes),
      ),
    )
  }

  async #removeFlows(flows: UdpFlows, signal: AbortSignal): Promise<void> {
    const { conntrack, clock, log } = this.#deps
    try {
      await clock.outside(conntrack.remove(flows, signal))
    } catch (error) {
      signal.throwIfAborted()
      log.error('cannot remove stale UDP flows', { ...flows, error: errorText(error) })
    }
  }

  async #beforeCheck(): Promise<void> {
    const { nodeAddresses } = this.#deps
    if (!this.#hasTimeouts) await setConnectionTimeouts(this.#deps)
    this.#hasTimeouts = true
    await routeLoopback(this.#deps)
    if (this.#rejected.hasDue(this.#deps.clock.nowMs())) this.#queue()
    if (nodeAddresses !== undefined) this.#setRanges({ ...this.#ranges, nodeAddresses: parseIps(nodeAddresses()) })
  }
}

// AddressAnnouncer: makes this node respond for the addresses of load balancers for which it is elected. There is one
// Lease per address. The leader gives up before its Lease ends, and the kernel removes addresses that are not refreshed, so
// a node that is cut off or stopped does not respond for long beside its successor.
import { mustParseIp, type IpAddress } from '../../base/net/ip-address.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { splitKey } from '../../api/meta/object.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { noCause, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Client } from '../../client/client.ts'
import type { Informers } from '../../client/informer/informers.ts'
import { LeaderElection } from '../../client/leader-election.ts'
import type { AnnouncedAddresses } from '../../machine/announced-addresses/announced-addresses.ts'
import type { AddressPool } from './address-pool.ts'
import { announceableAddresses, type Announceable } from './announceable-addresses.ts'

export interface AddressAnnouncerDeps {
  /** For Services, EndpointSlices and Nodes. */
  readonly informers: Pick<Informers, 'of'>
  /** May get, create and update Leases in `announcerNamespace`. */
  readonly client: Client
  readonly pool: AddressPool
  readonly nodeName: string
  readonly machine: AnnouncedAddresses
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
}

/** Where the Leases are. */
export const announcerNamespace = 'coxswain-load-balancers'
const leaseTimes = { leaseMs: 6_000, renewMs: 4_000, retryMs: 1_000 }
/** How often addresses are set again; less than a third of their lifetime. */
const refreshMs = 900
/** How much later the next node of an address takes part in its first election. */
const spreadMs = 300
/** Time limit for removing addresses and for releasing a Lease. */
const endMsMax = 2_000

/** The colons of IPv6 are not allowed in names. */
export const leaseNameOf = (address: string): string => `address-${address.replaceAll(':', '-')}-announcer`

export class AddressAnnouncer {
  readonly #deps: AddressAnnouncerDeps
  /** The addresses for whose election this node stands, with what ends it. */
  readonly #candidacies = new Map<string, AbortController>()
  /** The addresses for which this node is elected. */
  readonly #led = new Set<IpAddress>()
  #applied: Promise<unknown> = Promise.resolve()
  #changed = Promise.withResolvers<void>()

  constructor(deps: AddressAnnouncerDeps) {
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    const { informers, pool, nodeName } = this.#deps
    const services = informers.of(service)
    const slices = informers.of(endpointSlice)
    const nodes = informers.of(node)
    for (const informer of [services, slices, nodes]) informer.onChange(() => this.#changed.resolve())
    await unlessAborted(Promise.all([services.synced, slices.synced, nodes.synced]), signal)
    await using tasks = new TaskGroup({ signal })
    tasks.start('refresh of addresses', (stop) => this.#refresh(stop))
    while (!signal.aborted) {
      this.#changed = Promise.withResolvers()
      const view = { services: services.all(), slices: slices.all(), nodes: nodes.all(), pool, nodeName }
      this.#stand(announceableAddresses(view), tasks)
      await unlessAborted(this.#changed.promise, signal)
    }
  }

  #stand(wanted: ReadonlyMap<string, Announceable>, tasks: TaskGroup): void {
    for (const [address, ending] of this.#candidacies) if (!wanted.has(address)) ending.abort()
    for (const [address, announceable] of wanted) {
      if (this.#candidacies.has(address)) continue
      const ending = new AbortController()
      this.#candidacies.set(address, ending)
      tasks.start(`election for ${address}`, async (stop) => {
        await this.#standFor(address, announceable, AbortSignal.any([stop, ending.signal]))
        this.#candidacies.delete(address)
        this.#changed.resolve()
      })
    }
  }

  /** Takes part in elections until the signal is aborted. */
  async #standFor(address: string, announceable: Announceable, signal: AbortSignal): Promise<void> {
    const { client, clock, random, log, nodeName } = this.#deps
    let waitMs = announceable.rank * spreadMs
    while (!signal.aborted) {
      const election = new LeaderElection({
        client,
        clock,
        random,
        log,
        ...leaseTimes,
        name: leaseNameOf(address),
        namespace: announcerNamespace,
        identity: nodeName,
      })
      try {
        await clock.sleep(waitMs, signal)
        const lead = (tasks: TaskGroup) =>
          tasks.start('announcement', (stop) => this.#announce(address, announceable, stop))
        await election.run(lead, signal)
      } catch (error) {
        if (!signal.aborted) log.warn('an address is no longer announced', { address, error: errorText(error) })
      }
      await this.#bounded((end) => election.release(end)).catch(() => undefined)
      // Another node has the time to take over.
      waitMs = leaseTimes.leaseMs
    }
  }

  async #announce(text: string, { service: key }: Announceable, signal: AbortSignal): Promise<void> {
    const { flow, log, nodeName } = this.#deps
    const address = mustParseIp(text)
    const about = { resource: 'services', ...splitKey(key) }
    const recorded = flow.record('call', `announcer/${nodeName}`, 'Network', `announce ${address}`, about, 0, noCause)
    this.#led.add(address)
    try {
      const problem = (await this.#apply()).get(address)
      flow.finish(recorded, problem ?? 'ok')
      if (problem !== undefined) throw new Error(problem)
      log.info('an address is announced', { address, service: key })
      await unlessAborted(new Promise<never>(() => {}), signal)
    } finally {
      this.#led.delete(address)
      await this.#apply()
    }
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    while (!signal.aborted) {
      await clock.sleep(refreshMs, signal)
      if (this.#led.size === 0) continue
      try {
        for (const [address, problem] of await this.#apply())
          log.warn('an address is not announced', { address, problem })
      } catch (error) {
        log.warn('addresses of load balancers could not be refreshed', { error: errorText(error) })
      }
    }
  }

  /** Changes of the machine's addresses are made one after the other. */
  #apply(): Promise<ReadonlyMap<IpAddress, string>> {
    const { machine, clock } = this.#deps
    const next = this.#applied
      .catch(() => undefined)
      .then(() => this.#bounded((signal) => clock.outside(machine.set([...this.#led].toSorted(), signal))))
    this.#applied = next
    return next
  }

  async #bounded<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const bound = new AbortController()
    const timer = this.#deps.clock.after(endMsMax, () => bound.abort())
    try {
      return await act(bound.signal)
    } finally {
      timer.cancel()
    }
  }
}

// Several processes with an API server each, on one store, in virtual time. Their flow records are merged into one, in which
// the API servers are `API Server 1`, `API Server 2`, …
import { Channel } from '../../src/base/async/channel.ts'
import { unlessAborted } from '../../src/base/async/unless-aborted.ts'
import { context, type Context } from '../../src/base/observability/context.ts'
import { FlowRecorder, type FlowEvent, type FlowId } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { reportedEvent } from '../../src/api/coxswain/v1/flow-protocol.ts'
import { StatusError } from '../../src/api/errors/status-error.ts'
import { Client } from '../../src/client/client.ts'
import type { ApiCall, ListPage, Transport, WatchCall } from '../../src/client/transport/transport.ts'
import { temporaryCertificates } from '../../src/cluster/certificates/cluster-certificates.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { buildRequestPolicies } from '../../src/cluster/policy/request-policies.ts'
import { Cluster } from '../../src/cluster/run/cluster.ts'
import { flowTreesOf } from '../../src/flows/flow-graph.ts'
import { eventText } from '../../src/flows/fold-branches.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'
import {
  StoreUnavailable,
  type KeyValue,
  type LeaseId,
  type RangeOptions,
  type Store,
  type StoreBatch,
  type Transaction,
  type WatchOptions,
} from '../../src/store/store.ts'

export const ctx = context(new AbortController().signal)

const batchesMax = 10_000
const flowEventsMax = 1 << 18

/** The state of the members of etcd, as all servers see it. */
interface Quorum {
  isLost: boolean
}

/** The store as one server reaches it. It stays open when the server ends. */
class ServerStore implements Store {
  readonly #store: Store
  readonly #clock: VirtualClock
  readonly #quorum: Quorum
  /** How long a change takes until it reaches this server. */
  lagMs = 0
  /** How long a write takes until it is acknowledged. It is applied at once. */
  acknowledgeMs = 0

  constructor(store: Store, clock: VirtualClock, quorum: Quorum) {
    this.#store = store
    this.#clock = clock
    this.#quorum = quorum
  }

  get revision(): number {
    return this.#store.revision
  }

  async freshRevision(signal: AbortSignal): Promise<number> {
    return this.#reached().freshRevision(signal)
  }

  async get(key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
    return this.#reached().get(key, signal)
  }

  async range(options: RangeOptions, signal: AbortSignal) {
    return this.#reached().range(options, signal)
  }

  async commit(transaction: Transaction, signal: AbortSignal) {
    const result = await this.#reached().commit(transaction, signal)
    if (this.acknowledgeMs > 0) await this.#clock.sleep(this.acknowledgeMs, signal)
    return result
  }

  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    const batches = this.#store.watch(options, signal)
    const delayed = new Channel<StoreBatch>(batchesMax, () => batches.end())
    void this.#forward(batches, delayed, signal)
    return delayed
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    return this.#reached().compact(revision, signal)
  }

  async grantLease(ttlMs: number, signal: AbortSignal): Promise<LeaseId> {
    return this.#reached().grantLease(ttlMs, signal)
  }

  async revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    return this.#reached().revokeLease(lease, signal)
  }

  async close(): Promise<void> {}

  async #forward(from: Channel<StoreBatch>, to: Channel<StoreBatch>, signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of from) {
        if (this.lagMs > 0) await this.#clock.sleep(this.lagMs, signal)
        to.push(batch)
      }
      to.end()
    } catch (error) {
      to.end(error)
    }
  }

  #reached(): Store {
    if (this.#quorum.isLost) throw new StoreUnavailable('etcd has no leader: its quorum is lost')
    return this.#store
  }
}

export interface ServerProcess {
  readonly cluster: Cluster
  /** Aborted when it is killed. */
  readonly killed: AbortController
  readonly store: ServerStore
}

export class SeveralServers implements AsyncDisposable {
  readonly clock = new VirtualClock(Date.UTC(2030, 0, 1))
  readonly processes: ServerProcess[] = []
  readonly quorum: Quorum = { isLost: false }
  readonly #store = new MemoryStore(this.clock)
  /** The events of all records in the order in which they were recorded. */
  readonly #order: { readonly process: number; readonly id: FlowId }[] = []

  /** Starts a process; without components it has only an API server. */
  async start(options: { readonly nodes?: number; readonly hasComponents: boolean }): Promise<ServerProcess> {
    const { clock } = this
    const process = this.processes.length
    const random = seededRandom(process + 1)
    const deps = { clock, random, log: silentLog, nodes: options.nodes ?? 0, flowEvents: flowEventsMax }
    const certificates = temporaryCertificates({ ...deps, platform: nodePlatform, hosts: [] })
    const { policies } = buildRequestPolicies({ ...deps, ...certificates, platform: nodePlatform })
    const controllerSettings = { signer: certificates.signer, certificateAuthority: () => certificates.authority }
    const store = new ServerStore(this.#store, clock, this.quorum)
    const cluster = new Cluster({ ...deps, policies, controllerSettings, store, identity: `process-${process + 1}` })
    cluster.flow.listen((id) => {
      if (id === cluster.flow.last && this.#order.findLast((one) => one.process === process)?.id !== id)
        this.#order.push({ process, id })
    })
    const started = { cluster, store, killed: new AbortController() }
    this.processes.push(started)
    if (options.hasComponents) cluster.start()
    else cluster.startServer()
    await clock.settle()
    await cluster.ready
    return started
  }

  at(index: number): ServerProcess {
    const found = this.processes[index]
    if (found === undefined) throw new Error(`there is no process ${index}`)
    return found
  }

  /** A client behind a load balancer, which sends requests to the first server that runs. */
  balancedClient(sender: string): Client {
    const running = () => this.processes.find(({ killed }) => !killed.signal.aborted)
    return new Client(new BalancedTransport(running, sender))
  }

  /** Calls that it handles get no response. */
  async kill({ cluster, killed }: ServerProcess): Promise<void> {
    killed.abort(new StatusError(503, 'ServiceUnavailable', 'the connection is lost'))
    const ended = cluster.crash()
    await this.clock.settle()
    await ended
  }

  /** The merged record. */
  merged(since: number = 0): FlowRecorder {
    const record = new FlowRecorder(this.clock, flowEventsMax)
    for (const { process, id } of this.#order.slice(since)) {
      const event = this.processes[process]?.cluster.flow.get(id)
      if (event !== undefined) record.recordReported(named(event, process))
    }
    return record
  }

  /** The position of the next event in the merged record. */
  get position(): number {
    return this.#order.length
  }

  /** The flow of an object through all processes. */
  flow(resource: string, name: string, namespace = 'default'): string {
    return textDiagram(flowTreesOf(this.merged().events(), { resource, namespace, name }))
  }

  /** The messages since a position about a resource to and from these participants. */
  messages(since: number, resource: string, ...participants: string[]): string {
    const events = [...this.merged(since).events()].filter(
      ({ object, from, to, arrow }) =>
        object?.resource === resource &&
        (arrow === 'persist' || participants.some((one) => one === from || one === to)),
    )
    const startMs = events[0]?.atMs ?? 0
    const revisions: string[] = []
    return events
      .map((event) => `${`+${event.atMs - startMs}ms`.padStart(9)}  ${messageText(event)}`)
      .join('\n')
      .replaceAll(/@(\d+)/g, (_, revision: string) => {
        if (!revisions.includes(revision)) revisions.push(revision)
        return `@r${revisions.indexOf(revision) + 1}`
      })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.processes) await this.kill(process)
    await this.#store.close()
  }
}

const signs = { call: '──►', watch: '--►', persist: '══►', reconcile: '···►', step: '···' } as const

const messageText = (event: FlowEvent): string => `${event.from} ${signs[event.arrow]} ${event.to}: ${eventText(event)}`

function named(event: FlowEvent, process: number) {
  const record = String(process + 1).padStart(32, '0')
  const nameOf = (participant: string) => (participant === 'API Server' ? `API Server ${process + 1}` : participant)
  return { ...reportedEvent(event, record), from: nameOf(event.from), to: nameOf(event.to) }
}

/** Requests go to one server, until it is killed. */
class BalancedTransport implements Transport {
  readonly #running: () => ServerProcess | undefined
  readonly #sender: string

  constructor(running: () => ServerProcess | undefined, sender: string) {
    this.#running = running
    this.#sender = sender
  }

  read(path: string, accept: string, called: Context): Promise<unknown> {
    return this.#ask((server) => server.read(path, accept, called))
  }

  readText(path: string, called: Context): Promise<string> {
    return this.#ask((server) => server.readText(path, called))
  }

  send(call: ApiCall, called: Context): Promise<unknown> {
    return this.#ask((server) => server.send(call, called))
  }

  list(call: ApiCall, called: Context): Promise<ListPage> {
    return this.#ask((server) => server.list(call, called))
  }

  watch(call: WatchCall, called: Context) {
    return this.#chosen().cluster.transport(this.#sender, adminUser).watch(call, called)
  }

  #chosen(): ServerProcess {
    const server = this.#running()
    if (server === undefined) throw new StatusError(503, 'ServiceUnavailable', 'no API server is running')
    return server
  }

  async #ask<T>(request: (server: Transport) => Promise<T>): Promise<T> {
    const { cluster, killed } = this.#chosen()
    return unlessAborted(request(cluster.transport(this.#sender, adminUser)), killed.signal)
  }
}

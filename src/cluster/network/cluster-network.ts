// ClusterNetwork: the network of the simulated pods of a cluster. Names are resolved by the cluster's zone, connections to
// Services are routed as kube-proxy would, and the rest is the simulated network. It watches the API only after its first
// use.
import { isIp } from '../../base/net/ip-bytes.ts'
import { isLoopback } from '../../base/net/remote-address.ts'
import type { Clock } from '../../base/time/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { splitKey, type ObjectKey } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import { dnsOf } from '../../kubelet/pod-config/dns.ts'
import { authorityOf } from '../../machine/dialer/pod-dialer.ts'
import type { LinkFaults, NetworkHost } from '../../machine/network/link-faults.ts'
import { dialError } from '../../machine/network/network-error.ts'
import type { ContainerNetwork } from '../../machine/network/container-network.ts'
import type { SimulatedHttpHandler } from '../../machine/network/serve-http.ts'
import type { ConnectionOwner } from '../../machine/network/simulated-connection.ts'
import { SimulatedNetwork, type NetworkTarget } from '../../machine/network/simulated-network.ts'
import type { DnsConfig } from '../../machine/runtime/runtime-config.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { nodeSendOn } from '../../platform/node/http/outbound.ts'
import { NetworkHosts, type NetworkMachine } from './network-hosts.ts'
import { PolicyFilter, type BlockedTraffic } from './policy-filter.ts'
import { resolveName } from './pod-resolver.ts'
import { ServiceDirectory } from './service-directory.ts'
import { ServiceRouter, type Routing } from './service-router.ts'

export interface ClusterNetworkDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly faults: LinkFaults
  readonly client: () => Client
  /** A pod as the API server has it. */
  readonly pod: (namespace: string, name: string) => Pod | undefined
}

/** What opens connections. */
export interface NetworkClient extends NetworkHost {
  readonly dns: DnsConfig
  readonly owner: ConnectionOwner
}

const domain = 'cluster.local'
/** The usual address of the Service kube-dns. The network resolves names itself; the address identifies the resolver. */
export const clusterDnsServer = '10.96.0.10'
const clusterDns = {
  servers: [clusterDnsServer],
  domain,
  node: { servers: ['192.0.2.253'], searches: [], options: [] },
  nodeAddress: '',
}

interface Running {
  readonly tasks: TaskGroup
  readonly directory: ServiceDirectory
  readonly router: ServiceRouter
  readonly filter: PolicyFilter
}

export class ClusterNetwork {
  /** Whether connections are recorded as flow events, in the ring of the flow recorder. */
  recordsConnections = false
  readonly #deps: ClusterNetworkDeps
  readonly #hosts: NetworkHosts
  readonly #network: SimulatedNetwork
  #running: Running | undefined

  constructor(deps: ClusterNetworkDeps) {
    this.#deps = deps
    this.#hosts = new NetworkHosts(deps.clock)
    this.#network = new SimulatedNetwork({ ...deps, hostAt: (address) => this.#hosts.at(address) })
  }

  /** Adds a node; returns the network of its pods. */
  addNode(name: string, address: string, machine: NetworkMachine): ContainerNetwork {
    this.#hosts.addNode({ name, address, machine })
    const clientOf = (pod: Parameters<ContainerNetwork['connect']>[0]): NetworkClient => ({
      address: pod.address === '' ? address : pod.address,
      pod: `${pod.namespace}/${pod.name}`,
      node: name,
      dns: this.dnsOf(pod.namespace, pod.name),
      owner: pod.owner,
    })
    return {
      nodeAddress: address,
      sendOn: nodeSendOn,
      connect: (pod, host, port, signal) => this.connect(clientOf(pod), host, port, signal),
      resolve: (pod, host, signal) => this.resolve(clientOf(pod), host, signal),
    }
  }

  /** Adds a host outside the cluster whose ports serve HTTP; returns its address. */
  addHost(name: string, ports: Readonly<Record<number, SimulatedHttpHandler>>): string {
    return this.#hosts.addOutside(name, ports)
  }

  get hosts(): NetworkHosts {
    return this.#hosts
  }

  /** The DNS configuration of a pod; of a pod in the namespace without settings of its own, if the pod is unknown. */
  dnsOf(namespace: string, name = ''): DnsConfig {
    const known = name === '' ? undefined : this.#deps.pod(namespace, name)
    const { metadata, spec } = known ?? { metadata: { namespace, name }, spec: { dnsPolicy: 'ClusterFirst' } }
    return dnsOf({ metadata, spec } as Pod, clusterDns).config
  }

  /** Rejects with NetworkError when the name does not exist. Several addresses begin with a random one. */
  async resolve(client: NetworkClient, name: string, signal: AbortSignal): Promise<readonly string[]> {
    if (name === 'localhost') return ['127.0.0.1']
    if (isIp(name)) return [name]
    const { directory } = await this.#run(signal)
    const outside = (each: string) => this.#hosts.outsideAddresses(each)
    const found = resolveName(name, client.dns, { zone: directory.zone, clusterServer: clusterDnsServer, outside })
    const first = found.length > 1 ? this.#deps.random.below(found.length) : 0
    return [...found.slice(first), ...found.slice(0, first)]
  }

  /** Tries the addresses of the host one after the other. Rejects with the NetworkError of the first. */
  async connect(client: NetworkClient, host: string, port: number, signal: AbortSignal): Promise<ByteStream> {
    const addresses = await this.resolve(client, host, signal)
    let failure: unknown
    for (const address of addresses)
      try {
        return await this.#dial(client, address, port, signal)
      } catch (error) {
        signal.throwIfAborted()
        failure ??= error
      }
    throw failure
  }

  async #dial(client: NetworkClient, address: string, port: number, signal: AbortSignal): Promise<ByteStream> {
    const dialled = authorityOf({ host: address, port })
    if (isLoopback(address))
      return this.#network.connect(client, { address: client.address, port, dialled }, client.owner, signal)
    const { router, filter } = await this.#run(signal)
    const routing = router.route(client, address, port)
    const blocked = () => this.#blocked(filter, client, routing, { address, port })
    const finish = this.#record(client, dialled, routing, blocked())
    const isBlocked = () => blocked() !== undefined
    try {
      const stream = await this.#connectTo(client, routing, { address, port, dialled, isBlocked }, signal)
      finish('connected')
      return stream
    } catch (error) {
      finish(`${error instanceof Error ? error.message : String(error)}${blockedText(blocked())}`)
      throw error
    }
  }

  /** The policies that drop what the client sends now. */
  #blocked(
    filter: PolicyFilter,
    client: NetworkHost,
    routing: Routing,
    dialled: { readonly address: string; readonly port: number },
  ): BlockedTraffic | undefined {
    if (routing.kind !== 'direct' && routing.kind !== 'endpoint') return undefined
    const { address, port } = routing.kind === 'endpoint' ? routing : dialled
    const hostAt = (at: string): NetworkHost => this.#hosts.at(at) ?? { address: at, pod: '', node: '' }
    const server = hostAt(address)
    // A node port of another node is translated there, after the egress of the client was checked.
    const node = this.#hosts.nodeAt(dialled.address)
    const isOtherNode = node !== undefined && node.name !== client.node
    const leavesTo = isOtherNode ? { host: hostAt(dialled.address), port: dialled.port } : { host: server, port }
    // A source is translated after the check of the node that translates it.
    const source = routing.kind === 'endpoint' ? routing.sourceAddress : client.address
    const isTranslated = source !== client.address && this.#hosts.nodeAt(source)?.name !== server.node
    return filter.blocked({ client, server, port, leavesTo, arrivesFrom: isTranslated ? hostAt(source) : client })
  }

  #connectTo(
    client: NetworkClient,
    routing: Routing,
    target: NetworkTarget & { readonly dialled: string },
    signal: AbortSignal,
  ): Promise<ByteStream> {
    const { dialled } = target
    switch (routing.kind) {
      case 'direct': {
        const isOutward = client.node !== '' && this.#hosts.isOutside(target.address)
        if (client.node === '' && this.#hosts.isPod(target.address)) throw dialError(dialled, 'ENETUNREACH')
        // Pods have no addresses outside the cluster: their node's address is used instead.
        const sourceAddress = isOutward ? this.#hosts.addressOf(client.node) : client.address
        return this.#network.connect(client, { ...target, sourceAddress }, client.owner, signal)
      }
      case 'endpoint':
        return this.#network.connect(client, { ...target, ...routing }, client.owner, signal)
      case 'rejected':
        throw dialError(dialled, 'ECONNREFUSED')
      case 'dropped':
        return this.#network.dropped(dialled, signal)
      case 'unreachable':
        throw dialError(dialled, 'ENETUNREACH')
      default:
        return routing satisfies never
    }
  }

  /** Whether a Service has an endpoint with this address. */
  isEndpoint(service: ObjectKey, address: string): boolean {
    return this.#running?.directory.isEndpoint(service, address) ?? false
  }

  /** Stops watching the API. The next use starts again. */
  async stop(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    running?.tasks.stop()
    await running?.tasks.join()
  }

  async #run(signal: AbortSignal): Promise<Running> {
    const running = (this.#running ??= this.#start())
    await unlessAborted(Promise.all([running.directory.synced, running.filter.synced]), signal)
    return running
  }

  #start(): Running {
    const { clock, random, log, client } = this.#deps
    const tasks = new TaskGroup()
    const informers = new Informers(client(), { clock, random, log }, tasks)
    const directory = new ServiceDirectory(informers, domain)
    const filter = new PolicyFilter(informers, this.#deps.pod)
    const router = new ServiceRouter({
      clock,
      random,
      servicesAt: (address) => directory.servicesAt(address),
      servicesAtNodePort: (port) => directory.servicesAtNodePort(port),
      routesOf: (service, node) => directory.routesOf(service, node),
      nodeAt: (address) => this.#hosts.nodeAt(address),
      addressOf: (node) => this.#hosts.addressOf(node),
      nodes: () => this.#hosts.nodesOn(),
    })
    return { tasks, directory, router, filter }
  }

  /** Returns the function that records the outcome. */
  #record(
    client: NetworkHost,
    dialled: string,
    routing: Routing,
    blocked: BlockedTraffic | undefined,
  ): (outcome: string) => void {
    if (!this.recordsConnections) return () => {}
    const { flow } = this.#deps
    const target = routing.kind === 'endpoint' ? routing.address : dialled
    const server = routing.kind === 'endpoint' ? this.#hosts.at(routing.address) : undefined
    const [policy] = blocked?.policies ?? []
    const dropping = policy === undefined ? undefined : { resource: 'networkpolicies', ...splitKey(policy) }
    const object = 'service' in routing ? { resource: 'services', ...splitKey(routing.service) } : dropping
    const id = flow.record(
      'call',
      nameOf(client),
      server === undefined ? target : nameOf(server),
      `connect ${dialled}`,
      object,
    )
    return (outcome) => flow.finish(id, outcome)
  }
}

const blockedText = (blocked: BlockedTraffic | undefined): string =>
  blocked === undefined
    ? ''
    : `; dropped by the ${blocked.direction} of the network ${blocked.policies.length === 1 ? 'policy' : 'policies'} ${blocked.policies.join(', ')}`

const nameOf = ({ pod, node, address }: NetworkHost): string =>
  pod !== '' ? `pod/${pod}` : node !== '' ? `node/${node}` : address

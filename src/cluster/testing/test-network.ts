// TestNetwork: the network of a cluster's simulated pods for the test itself: requests as a pod, from a node or from
// outside the cluster. Awaited calls advance the cluster's time.
import type { Clock } from '../../base/time/clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { NetworkError } from '../../machine/network/network-error.ts'
import type { SimulatedHttpHandler } from '../../machine/network/serve-http.ts'
import { noOwner } from '../../machine/network/simulated-connection.ts'
import { awaitedPieces, FetchResponse, simulatedFetch, type FetchInit } from '../../machine/network/simulated-fetch.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { nodeSendOn } from '../../platform/node/http/outbound.ts'
import type { ClusterNetwork, NetworkClient } from '../network/cluster-network.ts'
import { outsideClientAddress } from '../network/network-hosts.ts'
import { parsePlace, type NetworkPlace } from '../network/network-place.ts'

export interface FromOptions {
  /**
   * The client: `pod/<name>`, `pod/<namespace>/<name>`, `node/<name>` or `outside`; the first node by default. Nodes and
   * clients outside the cluster resolve names as pods in the namespace `default` do.
   */
  readonly from?: string
  readonly signal?: AbortSignal
}

export type TestFetchInit = FetchInit & FromOptions

export interface TestNetworkDeps {
  readonly network: ClusterNetwork
  readonly clock: Clock
  readonly pod: (namespace: string, name: string) => Pod | undefined
  /** Advances time until the work is done. */
  readonly awaitCall: <T>(work: Promise<T>, what: string, whyNot: () => string) => Promise<T>
}

export class TestNetwork {
  readonly #deps: TestNetworkDeps

  /** @internal */
  constructor(deps: TestNetworkDeps) {
    this.#deps = deps
  }

  /** Sends a request: `fetch('http://web.default.svc/', { from: 'pod/client' })`. Rejects with NetworkError. */
  async fetch(url: string, init: TestFetchInit = {}): Promise<FetchResponse> {
    const { network, clock, awaitCall } = this.#deps
    const client = this.#client(init.from)
    const what = `${init.method ?? 'GET'} ${url}`
    let whyNot = 'no connection was established'
    const dial = async (host: string, port: number, signal: AbortSignal) => {
      const stream = await hinted(client, network.connect(client, host, port, signal))
      whyNot = `a connection to ${host}:${port} was established, but the response is not complete`
      return stream
    }
    const response = await awaitCall(simulatedFetch(url, init, { dial, sendOn: nodeSendOn, clock }), what, () => whyNot)
    return new FetchResponse(response, (step) => awaitCall(step, what, () => whyNot))
  }

  /** Opens a connection. */
  async connect(host: string, port: number, options: FromOptions = {}): Promise<ByteStream> {
    const { network, awaitCall } = this.#deps
    const client = this.#client(options.from)
    const { signal = new AbortController().signal } = options
    const what = `the connection to ${host}:${port}`
    const connected = hinted(client, network.connect(client, host, port, signal))
    const stream = await awaitCall(connected, what, () => 'it was not established')
    return {
      pieces: awaitedPieces(stream.pieces, (step) => awaitCall(step, what, () => 'the peer sends nothing')),
      write: (piece) => awaitCall(stream.write(piece), what, () => 'the peer does not read'),
      end: () => stream.end(),
      destroy: () => stream.destroy(),
    }
  }

  /** The addresses of a name. */
  async resolve(name: string, options: FromOptions = {}): Promise<readonly string[]> {
    const { network, awaitCall } = this.#deps
    const { from, signal = new AbortController().signal } = options
    return awaitCall(
      network.resolve(this.#client(from), name, signal),
      `resolving ${name}`,
      () => 'there is no response',
    )
  }

  /** Adds a host outside the cluster, for example the target of an ExternalName Service; returns its address. */
  addHost(name: string, ports: Readonly<Record<number, SimulatedHttpHandler>>): string {
    return this.#deps.network.addHost(name, ports)
  }

  /** Whether connections are recorded, so that `cluster.flow(service, 'web')` shows them; false by default. */
  get recordsConnections(): boolean {
    return this.#deps.network.recordsConnections
  }

  set recordsConnections(isOn: boolean) {
    this.#deps.network.recordsConnections = isOn
  }

  #client(from: string | undefined): NetworkClient {
    return this.#clientAt(from === undefined ? undefined : parsePlace(from))
  }

  #clientAt(place: NetworkPlace | undefined): NetworkClient {
    const { network, pod } = this.#deps
    const dns = network.dnsOf('default')
    if (place?.kind === 'service') throw new Error('a Service does not open connections; name a pod, a node or outside')
    if (place?.kind === 'outside') return { address: outsideClientAddress, pod: '', node: '', dns, owner: noOwner }
    if (place?.kind === 'pod') {
      const { namespace, name } = place
      const found = pod(namespace, name)
      if (found === undefined) throw new Error(`there is no pod ${name} in namespace ${namespace}`)
      const { phase, podIP: address = '' } = found.status
      if (phase !== 'Running' || address === '') throw new Error(`pod ${namespace}/${name} is not running: ${phase}`)
      const { nodeName: node = '' } = found.spec
      return { address, pod: `${namespace}/${name}`, node, dns: network.dnsOf(namespace, name), owner: noOwner }
    }
    const node = place === undefined ? network.hosts.nodesOn()[0] : network.hosts.node(place.name)
    if (node === undefined)
      throw new Error(place === undefined ? 'no node is on' : `there is no simulated node ${place.name}`)
    return { address: node.address, pod: '', node: node.name, dns, owner: noOwner }
  }
}

/** Explains why a client outside the cluster does not reach addresses of the cluster. */
async function hinted(client: NetworkClient, connected: Promise<ByteStream>): Promise<ByteStream> {
  try {
    return await connected
  } catch (error) {
    if (!(error instanceof NetworkError) || error.code !== 'ENETUNREACH' || client.node !== '') throw error
    throw new NetworkError(
      error.code,
      `${error.message}; cluster IPs and pods are reachable from pods and nodes only: call from one ` +
        "(from: 'node/node-0'), or use a node port or a load balancer IP",
    )
  }
}

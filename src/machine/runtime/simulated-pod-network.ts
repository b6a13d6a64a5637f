// The network of the pods of one simulated node: their addresses, and who listens there.
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { authorityOf, type DialTarget, type PodDialer } from '../dialer/pod-dialer.ts'
import { noFaults, type NetworkHost } from '../network/link-faults.ts'
import { dialError } from '../network/network-error.ts'
import { noOwner } from '../network/simulated-connection.ts'
import { openTo, type NetworkListener } from '../network/simulated-network.ts'
import { nextAddress } from './simulated-addresses.ts'
import type { SimulatedSandbox } from './simulated-container.ts'
import { healthCheckRefused } from './simulated-process.ts'

/** A pod as a server. */
export interface SimulatedPod {
  readonly namespace: string
  readonly name: string
  readonly listenerAt: (port: number) => NetworkListener | undefined
}

export interface SimulatedPodNetworkDeps {
  readonly clock: Clock
  readonly random: Random
  /** The node's pod range, once it has one. */
  readonly podRange: () => string | undefined
  readonly nodeAddress: () => string | undefined
}

const loopback: NetworkHost = { address: '127.0.0.1', pod: '', node: '' }

export class SimulatedPodNetwork {
  /** Connections from the node to its pods. */
  readonly dialer: PodDialer = {
    connect: (target) => this.connect(this.#sandboxes.get(target.host), target),
    checkHealth: (target, service) => this.#checkHealth(target, service),
  }
  readonly #deps: SimulatedPodNetworkDeps
  /** Ready sandboxes by address. */
  readonly #sandboxes = new Map<string, SimulatedSandbox>()
  #addressLast = ''

  constructor(deps: SimulatedPodNetworkDeps) {
    this.#deps = deps
  }

  /** An address that no ready sandbox has. */
  newAddress(): string {
    const range = this.#deps.podRange()
    if (range === undefined) throw new Error('the node has no range of addresses for its pods yet')
    const address = nextAddress(range, this.#addressLast, (each) => this.#sandboxes.has(each))
    if (address === undefined) throw new Error(`no address is left in the range ${range} of the node`)
    this.#addressLast = address
    return address
  }

  add(sandbox: SimulatedSandbox): void {
    for (const ip of sandbox.ips) this.#sandboxes.set(ip, sandbox)
  }

  remove(sandbox: SimulatedSandbox): void {
    for (const ip of sandbox.ips) if (this.#sandboxes.get(ip) === sandbox) this.#sandboxes.delete(ip)
  }

  /** The pod with this address, while its sandbox is ready. */
  podAt(address: string): SimulatedPod | undefined {
    const sandbox = this.#sandboxes.get(address)
    if (sandbox === undefined) return undefined
    const { namespace, name } = sandbox.config
    return { namespace, name, listenerAt: (port) => this.listenerIn(sandbox, port) }
  }

  listenerIn(sandbox: SimulatedSandbox, port: number): NetworkListener | undefined {
    const { clock } = this.#deps
    for (const container of sandbox.containers) {
      const accept = container.isAnswering(clock) ? container.ports(clock).acceptorAt(port) : undefined
      if (accept !== undefined) return { owner: container, accept }
    }
    return undefined
  }

  /** Connects from the node. */
  connect(sandbox: SimulatedSandbox | undefined, target: DialTarget): Promise<ByteStream> {
    const { clock, random, nodeAddress } = this.#deps
    const listener = sandbox === undefined ? undefined : this.listenerIn(sandbox, target.port)
    const dialled = authorityOf(target)
    if (listener === undefined) return Promise.reject(dialError(dialled, 'ECONNREFUSED'))
    const sourceAddress = nodeAddress() ?? loopback.address
    const link = { client: loopback, server: loopback, owner: noOwner, dialled, sourceAddress }
    return Promise.resolve(openTo(listener, { clock, random, faults: noFaults }, link))
  }

  #checkHealth(target: DialTarget, service: string): Promise<string> {
    const { clock } = this.#deps
    for (const container of this.#sandboxes.get(target.host)?.containers ?? []) {
      const status = container.isAnswering(clock) ? container.ports(clock).health(target.port, service) : undefined
      if (status !== undefined) return Promise.resolve(status)
    }
    return Promise.reject(healthCheckRefused(authorityOf(target)))
  }
}

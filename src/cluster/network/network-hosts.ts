// NetworkHosts: the hosts of a cluster's network by address: nodes, their pods, and hosts outside the cluster that a test
// has added. Pods are looked up in the runtimes of the nodes, so they are registered nowhere.
import type { Clock } from '../../base/time/clock.ts'
import { httpAcceptor, type SimulatedHttpHandler } from '../../machine/network/serve-http.ts'
import { noOwner } from '../../machine/network/simulated-connection.ts'
import type { NetworkListener, ReachableHost } from '../../machine/network/simulated-network.ts'
import type { SimulatedPod } from '../../machine/runtime/simulated-runtime.ts'

/** The machine of a node. */
export interface NetworkMachine {
  readonly isOn: boolean
  podAt(address: string): SimulatedPod | undefined
  nodeListenerAt(port: number): NetworkListener | undefined
}

export interface NetworkNode {
  readonly name: string
  readonly address: string
  readonly machine: NetworkMachine
}

interface OutsideHost {
  readonly name: string
  readonly host: ReachableHost
}

/** Addresses for documentation (RFC 5737): hosts outside the cluster, and the client of a test. */
const outsidePrefix = '198.51.100.'
const outsideHostsMax = 254
export const outsideClientAddress = '203.0.113.1'

export class NetworkHosts {
  readonly #clock: Clock
  readonly #nodes = new Map<string, NetworkNode>()
  readonly #nodesByAddress = new Map<string, NetworkNode>()
  readonly #outside = new Map<string, OutsideHost>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  addNode(node: NetworkNode): void {
    this.#nodes.set(node.name, node)
    // Addresses of nodes repeat beyond 254 nodes; the first node keeps its own.
    if (!this.#nodesByAddress.has(node.address)) this.#nodesByAddress.set(node.address, node)
  }

  addOutside(name: string, ports: Readonly<Record<number, SimulatedHttpHandler>>): string {
    const acceptors = new Map(
      Object.entries(ports).map(([port, handle]) => [Number(port), httpAcceptor(handle, this.#clock)] as const),
    )
    const known = [...this.#outside.values()].find((each) => each.name === name.toLowerCase())
    const address = known?.host.address ?? `${outsidePrefix}${this.#outside.size + 1}`
    if (known === undefined && this.#outside.size >= outsideHostsMax)
      throw new Error(`there are ${outsideHostsMax} hosts outside the cluster, and ${name} would be one more`)
    const listenerAt = (port: number) => {
      const accept = acceptors.get(port)
      return accept === undefined ? undefined : { owner: noOwner, accept }
    }
    this.#outside.set(address, { name: name.toLowerCase(), host: { address, pod: '', node: '', listenerAt } })
    return address
  }

  /** Undefined when no host has the address now. */
  at(address: string): ReachableHost | undefined {
    const node = this.#nodesByAddress.get(address)
    if (node !== undefined)
      return node.machine.isOn
        ? { address, pod: '', node: node.name, listenerAt: (port) => node.machine.nodeListenerAt(port) }
        : undefined
    return this.#outside.get(address)?.host ?? this.#podAt(address)
  }

  #podAt(address: string): ReachableHost | undefined {
    for (const { name: node, machine } of this.#nodes.values()) {
      const pod = machine.isOn ? machine.podAt(address) : undefined
      if (pod !== undefined) return { address, pod: `${pod.namespace}/${pod.name}`, node, listenerAt: pod.listenerAt }
    }
    return undefined
  }

  node(name: string): NetworkNode | undefined {
    return this.#nodes.get(name)
  }

  /** The node with the address, while it is on. */
  nodeAt(address: string): NetworkNode | undefined {
    const node = this.#nodesByAddress.get(address)
    return node?.machine.isOn === true ? node : undefined
  }

  nodesOn(): readonly NetworkNode[] {
    return [...this.#nodes.values()].filter(({ machine }) => machine.isOn)
  }

  addressOf(node: string): string {
    return this.#nodes.get(node)?.address ?? ''
  }

  isPod(address: string): boolean {
    return this.#podAt(address) !== undefined
  }

  isOutside(address: string): boolean {
    return this.#outside.has(address)
  }

  /** Undefined when no host has the name. */
  outsideAddresses(name: string): readonly string[] | undefined {
    const found = [...this.#outside.values()].filter((each) => each.name === name).map(({ host }) => host.address)
    return found.length === 0 ? undefined : found
  }
}

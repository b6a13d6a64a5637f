// SimulatedCloud: a cloud in memory, in the time of the clock. A test creates, stops and removes instances, injects faults,
// and reads the load balancers and routes that exist.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { LoadBalancerIngress } from '../../api/core/v1/service/service-spec.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { keyOf } from '../../api/meta/object.ts'
import type { CloudInstance, CloudProvider, CloudRoute } from '../provider/cloud-provider.ts'
import { takeFault, type CloudFault, type CloudOperation } from './cloud-faults.ts'

export interface SimulatedCloudOptions {
  /** New instances are distributed over the zones in turn; `zone-a` alone by default. */
  readonly zones?: readonly string[]
  /** `region-1` by default. */
  readonly region?: string
  /** `standard-8` by default. */
  readonly instanceType?: string
  /** How long it takes to create or change a load balancer; 0 by default. */
  readonly loadBalancerMs?: number
  /** Whether the cloud's network needs routes to the pods of nodes; it does by default. */
  readonly hasRoutes?: boolean
  /** Faults from the start of the cluster. */
  readonly faults?: readonly CloudFault[]
}

/** The machines behind the instances of a cluster: they lose power with their instance. */
export interface InstanceMachines {
  powerOff(name: string): Promise<void>
  powerOn(name: string): void
}

export interface SimulatedLoadBalancer {
  /** The key of its Service: `default/web`. */
  readonly service: string
  readonly address: string
  readonly nodes: readonly string[]
  readonly ports: readonly number[]
}

/** What a test does with the cloud: `cluster.cloud`. */
export interface CloudControl {
  loadBalancers(): readonly SimulatedLoadBalancer[]
  routes(): readonly CloudRoute[]
  /** The operations that were called, in order: `EnsureLoadBalancer default/web`. */
  calls(): readonly string[]
  /** Changes properties of an instance, such as its addresses. */
  changeInstance(name: string, change: Partial<Omit<CloudInstance, 'providerId' | 'isShutDown'>>): void
  /** Stops an instance; its machine loses power. */
  stopInstance(name: string): Promise<void>
  /** Starts a stopped instance. */
  startInstance(name: string): void
  /** Removes an instance; its machine loses power. */
  removeInstance(name: string): Promise<void>
  /** Removes a load balancer without the knowledge of the cluster. */
  removeLoadBalancer(service: string): void
  inject(fault: CloudFault): void
  /** Removes all faults. */
  heal(): void
}

/** Addresses of load balancers are within a documentation range. */
const addressOf = (index: number): string => `203.0.113.${index + 1}`
const loadBalancersMax = 254
/** Further calls replace the oldest ones. */
const callsMax = 10_000

export class SimulatedCloud implements CloudControl {
  readonly provider: CloudProvider
  readonly #clock: Clock
  readonly #options: Required<Omit<SimulatedCloudOptions, 'faults'>>
  readonly #instances = new Map<string, CloudInstance>()
  readonly #balancers = new Map<string, SimulatedLoadBalancer>()
  readonly #routes = new Map<string, CloudRoute>()
  readonly #calls: string[] = []
  #faults: readonly CloudFault[]
  #machines: InstanceMachines = { powerOff: () => Promise.resolve(), powerOn: () => undefined }

  constructor({ clock, faults = [], ...options }: SimulatedCloudOptions & { readonly clock: Clock }) {
    this.#clock = clock
    this.#faults = faults
    this.#options = {
      zones: ['zone-a'],
      region: 'region-1',
      instanceType: 'standard-8',
      loadBalancerMs: 0,
      hasRoutes: true,
      ...options,
    }
    this.provider = {
      name: 'simulated',
      instances: {
        find: (node, context) =>
          this.#perform('FindInstance', node.metadata.name, () => this.#instanceOf(node), context),
      },
      loadBalancers: {
        find: (service, context) =>
          this.#perform(
            'FindLoadBalancer',
            keyOf(service),
            () => ingressOf(this.#balancers.get(keyOf(service))),
            context,
          ),
        ensure: (service, nodes, context) =>
          this.#perform('EnsureLoadBalancer', keyOf(service), () => this.#ensure(service, nodes), context),
        updateNodes: (service, nodes, context) =>
          this.#perform('UpdateLoadBalancer', keyOf(service), () => this.#updateNodes(service, nodes), context),
        delete: (service, context) =>
          this.#perform(
            'DeleteLoadBalancer',
            keyOf(service),
            () => void this.#balancers.delete(keyOf(service)),
            context,
          ),
      },
      ...(this.#options.hasRoutes ? { routes: this.#routesPart() } : {}),
    }
  }

  /** Connects the machines of a cluster to the instances. @internal */
  connect(machines: InstanceMachines): void {
    this.#machines = machines
  }

  /** Creates the instance of a machine. @internal */
  addInstance(name: string, address: string): void {
    const { zones, region, instanceType: type } = this.#options
    const zone = zones[this.#instances.size % zones.length] ?? ''
    const addresses = [{ type: 'InternalIP', address }]
    const providerId = `simulated://${zone}/${name}`
    this.#instances.set(name, { providerId, addresses, type, zone, region, labels: {}, isShutDown: false })
  }

  loadBalancers(): readonly SimulatedLoadBalancer[] {
    return [...this.#balancers.values()]
  }

  routes(): readonly CloudRoute[] {
    return [...this.#routes.values()]
  }

  calls(): readonly string[] {
    return [...this.#calls]
  }

  changeInstance(name: string, change: Partial<Omit<CloudInstance, 'providerId' | 'isShutDown'>>): void {
    this.#instances.set(name, { ...this.#instance(name), ...change })
  }

  async stopInstance(name: string): Promise<void> {
    this.#instances.set(name, { ...this.#instance(name), isShutDown: true })
    await this.#machines.powerOff(name)
  }

  startInstance(name: string): void {
    this.#instances.set(name, { ...this.#instance(name), isShutDown: false })
    this.#machines.powerOn(name)
  }

  async removeInstance(name: string): Promise<void> {
    this.#instance(name)
    this.#instances.delete(name)
    await this.#machines.powerOff(name)
  }

  removeLoadBalancer(service: string): void {
    if (!this.#balancers.delete(service)) throw new Error(`the Service ${service} has no load balancer`)
  }

  inject(fault: CloudFault): void {
    this.#faults = [...this.#faults, fault]
  }

  heal(): void {
    this.#faults = []
  }

  #instance(name: string): CloudInstance {
    const found = this.#instances.get(name)
    if (found !== undefined) return found
    throw new Error(`there is no instance ${name}; there are ${[...this.#instances.keys()].join(', ')}`)
  }

  #instanceOf({ metadata, spec: { providerID = '' } }: Node): CloudInstance | undefined {
    if (providerID === '') return this.#instances.get(metadata.name)
    return [...this.#instances.values()].find(({ providerId }) => providerId === providerID)
  }

  #ensure(service: Service, nodes: readonly Node[]): readonly LoadBalancerIngress[] {
    const key = keyOf(service)
    const address = this.#balancers.get(key)?.address ?? this.#freeAddress()
    const ports = (service.spec.ports ?? []).map(({ port }) => port)
    const balancer = { service: key, address, nodes: nodes.map(({ metadata }) => metadata.name), ports }
    this.#balancers.set(key, balancer)
    return ingressOf(balancer) ?? []
  }

  #updateNodes(service: Service, nodes: readonly Node[]): void {
    const found = this.#balancers.get(keyOf(service))
    if (found === undefined) throw new Error('there is no such load balancer')
    this.#balancers.set(found.service, { ...found, nodes: nodes.map(({ metadata }) => metadata.name) })
  }

  #freeAddress(): string {
    const used = new Set(this.loadBalancers().map(({ address }) => address))
    for (let index = 0; index < loadBalancersMax; index++) if (!used.has(addressOf(index))) return addressOf(index)
    throw new Error(`the cloud has no more than ${loadBalancersMax} load balancers`)
  }

  #routesPart(): NonNullable<CloudProvider['routes']> {
    const idOf = ({ nodeName, destinationCidr }: CloudRoute) => `${nodeName} ${destinationCidr}`
    return {
      list: (context) => this.#perform('ListRoutes', '', () => this.routes(), context),
      create: (route, nameHint, context) =>
        this.#perform(
          'CreateRoute',
          idOf(route),
          () => void this.#routes.set(idOf(route), { ...route, name: `${nameHint}-${route.destinationCidr}` }),
          context,
        ),
      delete: (route, context) =>
        this.#perform('DeleteRoute', idOf(route), () => void this.#routes.delete(idOf(route)), context),
    }
  }

  /** Applies the faults of the operation, and the time that it takes. */
  async #perform<T>(operation: CloudOperation, about: string, run: () => T, { signal }: Context): Promise<T> {
    this.#calls.push(about === '' ? operation : `${operation} ${about}`)
    if (this.#calls.length > callsMax) this.#calls.shift()
    const { fault, rest } = takeFault(this.#faults, operation)
    this.#faults = rest
    const isChange = operation === 'EnsureLoadBalancer' || operation === 'UpdateLoadBalancer'
    if (isChange && this.#options.loadBalancerMs > 0) await this.#clock.sleep(this.#options.loadBalancerMs, signal)
    switch (fault?.action.kind) {
      case 'fail':
        throw new Error(fault.action.message)
      case 'lose':
        run()
        throw new Error(fault.action.message)
      case 'delay':
        await this.#clock.sleep(fault.action.ms, signal)
        return run()
      case 'hang':
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      case undefined:
        return run()
      default:
        return fault?.action satisfies undefined as never
    }
  }
}

const ingressOf = (balancer: SimulatedLoadBalancer | undefined): readonly LoadBalancerIngress[] | undefined =>
  balancer === undefined ? undefined : [{ ip: balancer.address, ipMode: 'VIP' }]

// CloudProvider: what the controllers of this folder need from a cloud: instances with their zones, load balancers and
// routes. A provider implements the parts that its cloud has; the controllers of missing parts do not run.
import type { Context } from '../../base/observability/context.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { LoadBalancerIngress } from '../../api/core/v1/service/service-spec.ts'
import type { Service } from '../../api/core/v1/service/service.ts'

export interface CloudProvider {
  /** A short name: `simulated`. Flows show calls to `cloud/<name>`. */
  readonly name: string
  readonly instances?: CloudInstances
  readonly loadBalancers?: CloudLoadBalancers
  readonly routes?: CloudRoutes
}

/** As in the status of a Node. */
export interface InstanceAddress {
  readonly type: string
  readonly address: string
}

export interface CloudInstances {
  /**
   * The instance of a node, by its provider id if it has one and by its name otherwise; undefined when the cloud has no
   * such instance. An error means that this is not known.
   */
  find(node: Node, context: Context): Promise<CloudInstance | undefined>
}

export interface CloudInstance {
  /** `simulated://zone-a/node-0`. It never changes. */
  readonly providerId: string
  readonly addresses: readonly InstanceAddress[]
  /** Empty where the cloud has none. */
  readonly type: string
  readonly zone: string
  readonly region: string
  /** Further labels of the node. Labels of Kubernetes and labels that the node has are not overwritten. */
  readonly labels: Readonly<Record<string, string>>
  /** The instance exists, and is stopped. */
  readonly isShutDown: boolean
}

/** All operations are idempotent: they are repeated after failures and restarts. */
export interface CloudLoadBalancers {
  /** The addresses of the Service's load balancer; undefined when there is none. */
  find(service: Service, context: Context): Promise<readonly LoadBalancerIngress[] | undefined>
  /** Creates the load balancer, or updates it to the Service's spec and the nodes; returns its addresses. */
  ensure(service: Service, nodes: readonly Node[], context: Context): Promise<readonly LoadBalancerIngress[]>
  /** Replaces the nodes of an existing load balancer. */
  updateNodes(service: Service, nodes: readonly Node[], context: Context): Promise<void>
  /** Succeeds when there is no load balancer. */
  delete(service: Service, context: Context): Promise<void>
}

/** Routes of the cloud's network to the pods of nodes. */
export interface CloudRoutes {
  list(context: Context): Promise<readonly CloudRoute[]>
  /** The hint distinguishes routes of different clusters and nodes in the cloud. */
  create(route: CloudRoute, nameHint: string, context: Context): Promise<void>
  delete(route: CloudRoute, context: Context): Promise<void>
}

export interface CloudRoute {
  /** The cloud's name of the route; empty before it is created. */
  readonly name: string
  readonly nodeName: string
  readonly destinationCidr: string
  /** The cloud reports that the target no longer exists. */
  readonly isBlackhole: boolean
}

// Cluster: constructs and connects the components of one process. Nothing else in the tree constructs them.
import { context } from '../../base/observability/context.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { Metrics, type Gauge } from '../../base/observability/metrics.ts'
import { node } from '../../api/core/v1/node/node.ts'
import type { FrontProxyRules } from '../../apiserver/authentication/front-proxy.ts'
import { DirectKubelets, kubeletClient } from '../../apiserver/kubelet-client/direct-kubelets.ts'
import { noKubelets, type KubeletConnection } from '../../apiserver/kubelet-client/kubelet-connection.ts'
import type { User } from '../../apiserver/request/request.ts'
import type { ApiServer } from '../../apiserver/server.ts'
import { serviceRangesDefault } from '../../apiserver/strategies/service/service-ranges.ts'
import { Client } from '../../client/client.ts'
import { leaderGauge } from '../../client/leader-election.ts'
import { AddressPool } from '../../cloud/address-pool/address-pool.ts'
import type { SimulatedCloud } from '../../cloud/simulated/simulated-cloud.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import type { ControllerMetrics } from '../../controllers/runtime/runner.ts'
import { controllerMetrics } from '../../controllers/runtime/start-controller.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import type { OutboundTls } from '../../platform/http/outbound.ts'
import { DecisionRecord } from '../../scheduler/cycle/decision-record.ts'
import type { NodeVolumes } from '../../storage/local-path/node-volumes.ts'
import { installAnnouncers } from '../bootstrap/address-pool.ts'
import { bindKubeletClient } from '../bootstrap/bootstrap-objects.ts'
import { bindNetworkAgents } from '../bootstrap/network-agents.ts'
import { publishClusterInfo, type ClusterInfo } from '../bootstrap/cluster-info.ts'
import { publishExtensionAuthentication, type ClientAuthorities } from '../bootstrap/extension-authentication.ts'
import { publishRootCertificate } from '../bootstrap/root-certificate.ts'
import { ServerEndpoints } from '../bootstrap/server-endpoints.ts'
import { apiServerUser, proxyUser } from '../client/component-users.ts'
import { DirectTransport } from '../client/direct-transport.ts'
import { apiServerComponent, apiServerName } from '../components/api-server.ts'
import type { ClusterOptions } from '../components/cluster-options.ts'
import type { Component } from '../components/component.ts'
import { announcerComponent } from '../components/announcer.ts'
import type { ComponentDefinition } from '../components/component-definition.ts'
import { componentIn } from '../components/component-in-cluster.ts'
import { cloudControllersIn, controllerManagerIn, type ControllersContext } from '../components/controllers.ts'
import { ingressComponent } from '../components/ingress.ts'
import type { KubeletsContext } from '../components/kubelet-access.ts'
import { leaseElectionsComponent } from '../components/lease-elections.ts'
import { manifestsComponent } from '../components/manifests.ts'
import { proxyComponent } from '../components/proxy.ts'
import { nodeDnsComponent, nodeProxySettings, realKubeletComponent } from '../components/real-node.ts'
import { schedulerComponent } from '../components/scheduler.ts'
import { simulatedNodeName, SimulatedNodes } from '../components/simulated-nodes.ts'
import { simulatedNodesComponent } from '../components/simulated-nodes-component.ts'
import { snapshotTakerComponent } from '../components/snapshot-taker.ts'
import { csiSidecarsComponent, localPathComponent, snapshotControllerComponent } from '../components/storage.ts'
import type { IngressChoices } from '../flags/ingress-flags.ts'
import type { BalancerTarget } from '../../gateway/attachment/gateway-balancer.ts'
import { nodeRangesDefault } from '../flags/node-ranges.ts'
import type { ClusterNetwork } from '../network/cluster-network.ts'
import type { RealNode } from '../node/real-node.ts'
import { noteTrustedAuthority } from '../rotation/node-authority.ts'
import { remoteKubelets } from '../node/remote-kubelets.ts'
import { deleteStaleNodes } from './stale-nodes.ts'

export class Cluster implements ControllersContext, KubeletsContext {
  readonly options: ClusterOptions
  readonly flow: FlowRecorder
  readonly metrics: Metrics
  readonly leaderGauge: Gauge
  readonly controllerMetrics: ControllerMetrics
  readonly controllerSettings: ControllerSettings
  readonly decisions = new DecisionRecord()
  /** Kubelets of this process are called without sockets. */
  readonly kubelets: DirectKubelets
  readonly #components = new Map<string, Component>()
  readonly #simulated: SimulatedNodes
  readonly #serverEndpoints: ServerEndpoints
  #ready = Promise.withResolvers<void>()
  #server: ApiServer | undefined
  #isStopping = false
  #areOthersStarted = false

  constructor(options: ClusterOptions) {
    this.options = options
    this.kubelets = new DirectKubelets(this.#remoteKubelets(options.kubeletTls))
    this.metrics = options.metrics ?? new Metrics()
    this.leaderGauge = leaderGauge(this.metrics)
    this.controllerMetrics = controllerMetrics(this.metrics)
    const nodeRanges = nodeRangesDefault(options.nodes)
    this.controllerSettings = { crypto: nodeCrypto, nodeRanges, ...options.controllerSettings }
    this.flow = new FlowRecorder(options.clock, options.flowEvents)
    this.#simulated = new SimulatedNodes(this, this.controllerSettings)
    const { serviceRanges = serviceRangesDefault } = options
    const publisher = this.client(apiServerName, apiServerUser)
    this.#serverEndpoints = new ServerEndpoints({ ...options, client: publisher, serviceRanges })
    for (const component of this.#initialComponents()) this.#components.set(component.name, component)
  }

  /** In the order in which they are started. */
  #initialComponents(): readonly Component[] {
    const { options } = this
    const nodes = Array.from({ length: options.nodes }, () => this.#simulated.add())
    const managers = Array.from({ length: options.controllerManagers ?? 1 }, (_, index) =>
      controllerManagerIn(this, index),
    )
    const hasSnapshots = options.hasVolumeSnapshots === true
    const cloud = options.cloud === undefined ? [] : [this.#cloudControllers(options.cloud)]
    const others: readonly ComponentDefinition[] = [
      ...(options.coordinatedElection === undefined ? [] : [leaseElectionsComponent]),
      ...(options.ingress?.mode === 'on' ? [this.#ingress(options.ingress)] : []),
      ...(options.snapshots === undefined ? [] : [snapshotTakerComponent(options.snapshots)]),
      ...(options.manifests === undefined ? [] : [manifestsComponent(options.manifests)]),
      ...(hasSnapshots ? [snapshotControllerComponent] : []),
      ...(options.csi === undefined ? [] : [csiSidecarsComponent(options.csi, hasSnapshots)]),
      schedulerComponent(options.schedulerConfiguration ?? {}, this.decisions),
    ]
    const storage = nodes.length === 0 ? [] : this.#localPath('simulated', this.#simulated.volumes)
    const simulated = this.#simulatedNodes([...storage.map((each) => componentIn(this, each)), ...nodes])
    return [this.#apiServer(), ...managers, ...cloud, ...others.map((each) => componentIn(this, each)), ...simulated]
  }

  /** Where several processes use the store, one of them runs the simulated nodes. */
  #simulatedNodes(members: readonly Component[]): readonly Component[] {
    if (this.options.identity === undefined || members.length === 0) return members
    const requested = Array.from({ length: this.#simulated.count }, (_, index) => simulatedNodeName(index))
    const definition = simulatedNodesComponent({
      members,
      removeSurplus: async (client, ctx) =>
        void (await deleteStaleNodes(client, { created: [], requested, isShared: false }, ctx)),
      powerOff: () => this.#simulated.powerOff(),
    })
    return [componentIn(this, definition)]
  }

  get components(): ReadonlyMap<string, Component> {
    return this.#components
  }

  /** The network of simulated pods. */
  get network(): ClusterNetwork {
    return this.#simulated.network
  }

  /** Adds this machine as a node that routes the traffic of Services, with a DNS server for pods. */
  addRealNode(real: RealNode): void {
    const { description, network, volumes } = real
    const { name, hostIp } = description
    const { ingress, loadBalancers, serviceRanges = serviceRangesDefault } = this.options
    const { clusterCidrs: serviceCidrs } = serviceRanges
    const podCidrs = (this.controllerSettings.nodeRanges?.ranges ?? []).map(({ cidr }) => cidr)
    const definitions: readonly ComponentDefinition[] = [
      proxyComponent(nodeProxySettings(real, network, { podCidrs, serviceCidrs, clusterCidrs: podCidrs })),
      ...(network === undefined ? [] : [nodeDnsComponent(real, network, serviceCidrs[0])]),
      ...(typeof loadBalancers === 'object'
        ? [announcerComponent({ nodeName: name, pool: AddressPool.parse(loadBalancers.addresses) })]
        : []),
      ...this.#localPath(name, new Map([[name, volumes]])),
      ...(ingress?.mode === 'auto'
        ? [this.#ingress(ingress, hostIp, { address: network?.gateways[0] ?? hostIp, nodeName: name })]
        : []),
      realKubeletComponent(this, real),
    ]
    for (const definition of definitions) this.#add(componentIn(this, definition))
  }

  /** Adds a simulated node. */
  addSimulatedNode(): void {
    const before = this.#simulated.volumes
    const kubelet = this.#simulated.add()
    const added = [...this.#simulated.volumes].filter(([name]) => !before.has(name))
    const storage = added.flatMap(([name, volumes]) => this.#localPath(name, new Map([[name, volumes]])))
    const members = [...storage.map((each) => componentIn(this, each)), kubelet]
    for (const component of this.#simulatedNodes(members)) this.#add(component)
  }

  #add(component: Component): void {
    this.#components.set(component.name, component)
    if (this.#areOthersStarted && !this.#isStopping) component.start()
  }

  get server(): ApiServer | undefined {
    return this.#server
  }

  /** Resolves when the API server that was started last has filled its caches and the bootstrap objects exist. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  start(): void {
    this.startServer()
    void this.ready.then(() => this.startOthers())
  }

  startServer(): void {
    this.#ready = Promise.withResolvers()
    this.components.get(apiServerName)?.start()
  }

  /** Starts the components that need a ready API server. */
  startOthers(): void {
    this.#areOthersStarted = true
    if (!this.#isStopping) for (const component of this.components.values()) component.start()
  }

  /** Like `startOthers`, in the next turn of the event loop. */
  startOthersNextTurn(): void {
    for (const component of this.components.values()) component.startNextTurn()
  }

  component(name: string): Component {
    const found = this.components.get(name)
    if (found !== undefined) return found
    throw new Error(
      `there is no component ${JSON.stringify(name)}; there are ${[...this.components.keys()].join(', ')}`,
    )
  }

  /** Stops everything in reverse order. Leases are released while the API server is still running. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const component of [...this.components.values()].toReversed()) await component.stop()
    await this.#simulated.powerOff()
    await this.options.store.close()
  }

  /** Stops everything except the store, containers included. It can be started again. */
  async crash(): Promise<void> {
    for (const component of [...this.components.values()].toReversed()) await component.kill()
    await this.#simulated.powerOff()
  }

  /** Removes a simulated node at once, with everything on it. Starting its kubelet brings it back, empty. */
  async powerOff(name: string): Promise<void> {
    const machine = this.#simulated.machine(name)
    await this.components.get(`kubelet/${name}`)?.kill()
    machine.powerOff()
  }

  /** Shuts a simulated node down in order: its kubelet's shutdown delay applies. */
  async shutDown(name: string): Promise<void> {
    await this.#simulated.machine(name).shutdown.announce()
    await this.powerOff(name)
  }

  /** Publishes the address of the API server to pods. */
  publish(host: string, port: number, signal: AbortSignal): Promise<void> {
    return this.#serverEndpoints.publish(host, port, signal)
  }

  /** Takes the address off the list of API servers, before this one stops. */
  withdraw(signal: AbortSignal): Promise<void> {
    return this.#serverEndpoints.withdraw(signal)
  }

  /** Authorizes the API server at kubelets, and the network components of nodes to read what they route and filter. */
  async bindNodes(signal: AbortSignal): Promise<void> {
    const client = this.client(apiServerName, apiServerUser)
    await bindKubeletClient(client, kubeletClient.commonName, context(signal))
    await bindNetworkAgents(client, context(signal))
    if (typeof this.options.loadBalancers === 'object') await installAnnouncers(client, proxyUser.name, context(signal))
  }

  /** Publishes the address and authority of the API server to nodes that want to join. */
  publishInfo(info: ClusterInfo, signal: AbortSignal): Promise<void> {
    return publishClusterInfo(this.client(apiServerName, apiServerUser), info, context(signal))
  }

  /** Publishes the client authorities to extension servers. */
  publishAuthorities(authorities: ClientAuthorities, rules: FrontProxyRules, signal: AbortSignal): Promise<void> {
    const client = this.client(apiServerName, apiServerUser)
    return publishExtensionAuthentication(client, authorities, rules, context(signal))
  }

  /** Publishes the authorities to pods, and notes that the nodes of this process use them. */
  async announceAuthority(authority: string, signal: AbortSignal): Promise<void> {
    const client = this.client(apiServerName, apiServerUser)
    await publishRootCertificate(client, authority, context(signal))
    const prefix = 'kubelet/'
    const nodes = [...this.#components.keys()].filter((name) => name.startsWith(prefix))
    for (const name of nodes)
      await noteTrustedAuthority(client, name.slice(prefix.length), authority, nodeCrypto, context(signal))
  }

  client(sender: string, user: User): Client {
    return new Client(this.transport(sender, user))
  }

  transport(sender: string, user: User): DirectTransport {
    return new DirectTransport(() => this.#server, sender, user)
  }

  #apiServer(): Component {
    return apiServerComponent(this, {
      kubelets: this.kubelets,
      decisions: this.decisions,
      serverEndpoints: this.#serverEndpoints,
      onServer: (server) => (this.#server = server),
      onReady: () => this.#ready.resolve(),
    })
  }

  #cloudControllers(cloud: SimulatedCloud): Component {
    cloud.connect({
      powerOff: (name) => this.powerOff(name),
      powerOn: (name) => this.component(`kubelet/${name}`).start(),
    })
    return cloudControllersIn(this, cloud)
  }

  #localPath(name: string, nodes: ReadonlyMap<string, NodeVolumes>): readonly ComponentDefinition[] {
    return this.options.localPath === true ? [localPathComponent(name, nodes)] : []
  }

  /** With a pool of addresses and a node that routes their traffic to `own`, each Gateway gets one of them. */
  #ingress(choices: IngressChoices, hostIp?: string, own?: BalancerTarget): ComponentDefinition {
    const { hasGatewayApi = false, loadBalancers } = this.options
    const balancerTarget = typeof loadBalancers === 'object' ? own : undefined
    return ingressComponent({
      choices,
      hasGateways: hasGatewayApi,
      balancerTarget,
      ...(hostIp === undefined ? {} : { hostIp }),
    })
  }

  #remoteKubelets(tls: OutboundTls | undefined): KubeletConnection {
    if (tls === undefined) return noKubelets
    const findNode = (name: string) => this.#server?.registry.cached(node, '', name)
    return remoteKubelets({ outbound: nodeOutbound, tls, findNode }, () => this.#simulated.podRanges())
  }
}

// Cluster: constructs and connects the components of one process. Nothing else in the tree constructs them.
import { realClock, type Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import type { Random } from '../../base/random/random.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { ConversionMetrics } from '../../apiserver/custom-resources/conversion-metrics.ts'
import { ServerMetrics } from '../../apiserver/metrics/server-metrics.ts'
import { RequestMetrics } from '../../apiserver/request/request-metrics.ts'
import { ApiServer, type ApiServerDeps } from '../../apiserver/server.ts'
import { DirectKubelets, kubeletClient } from '../../apiserver/kubelet-client/direct-kubelets.ts'
import type { HealthCheck } from '../../apiserver/health/health.ts'
import { noKubelets, type KubeletConnection } from '../../apiserver/kubelet-client/kubelet-connection.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { LegacyTokenUsage } from '../../apiserver/authentication/legacy-token-usage.ts'
import { serviceRangesDefault, type ServiceRanges } from '../../apiserver/strategies/service/service-ranges.ts'
import { flowSchemaReconciler } from '../../apiserver/fairness/flow-schema-reconciler.ts'
import type { Policies } from '../../apiserver/filters/policies.ts'
import type { User } from '../../apiserver/request/request.ts'
import { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import { cloudControllers } from '../../cloud/cloud-controllers.ts'
import { AddressPool } from '../../cloud/address-pool/address-pool.ts'
import { AddressAnnouncer } from '../../cloud/address-pool/address-announcer.ts'
import { addressPoolController } from '../../cloud/address-pool/address-pool-controller.ts'
import { nodeAddressController } from '../../cloud/node-addresses/node-address-controller.ts'
import type { SimulatedCloud } from '../../cloud/simulated/simulated-cloud.ts'
import { controllers } from '../../controllers/controllers.ts'
import { managerAccount, type Controller } from '../../controllers/runtime/controller.ts'
import type { FrontProxyRules } from '../../apiserver/authentication/front-proxy.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import { RangePool } from '../../controllers/node-ipam/range-pool.ts'
import { controllerMetrics } from '../../controllers/runtime/start-controller.ts'
import { Kubelet } from '../../kubelet/kubelet.ts'
import type { NodeDescription } from '../../kubelet/node/node-status.ts'
import { delegatedAuth, trustingApiServer } from '../../kubelet/server/delegated-auth.ts'
import { defaultKubeletSettings, type KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import type { SimulatedStorage } from '../../machine/csi/simulated/simulated-csi-driver.ts'
import { LinkFaults } from '../../machine/network/link-faults.ts'
import { SimulatedRuntime, type SimulatedRuntimeOptions } from '../../machine/runtime/simulated-runtime.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import type { Identity } from '../../pki/authority.ts'
import type { OutboundTls } from '../../platform/http/outbound.ts'
import type { SchedulerConfiguration } from '../../scheduler/framework/scheduler-configuration.ts'
import { DecisionRecord } from '../../scheduler/cycle/decision-record.ts'
import { extenderOf } from '../../scheduler/framework/extender.ts'
import { schedulerMetrics } from '../../scheduler/framework/scheduler-metrics.ts'
import { schedulerPlugins } from '../../scheduler/plugins.ts'
import { Scheduler } from '../../scheduler/scheduler.ts'
import { startCsiSidecars, startSnapshotController } from '../../storage/csi/csi-sidecars.ts'
import { startLocalPathProvisioner } from '../../storage/local-path/local-path-provisioner.ts'
import type { NodeVolumes } from '../../storage/local-path/node-volumes.ts'
import type { Store } from '../../store/store.ts'
import {
  bindKubeletClient,
  bindNodeProxies,
  bindPolicyAgents,
  bootstrapCluster,
  bootstrapObjects,
} from '../bootstrap/bootstrap-objects.ts'
import { installAnnouncers } from '../bootstrap/address-pool.ts'
import { ServerEndpoints } from '../bootstrap/server-endpoints.ts'
import { installCsiDriver } from '../bootstrap/csi-sidecars.ts'
import { ingressMetrics } from '../../ingress/data-plane/ingress-metrics.ts'
import { startIngress } from '../node/start-ingress.ts'
import type { IngressChoices } from '../flags/ingress-flags.ts'
import type { LoadBalancerChoice } from '../flags/load-balancer-flags.ts'
import { installGatewayApi } from '../bootstrap/gateway-api.ts'
import { installVolumeSnapshots } from '../bootstrap/volume-snapshots.ts'
import { publishExtensionAuthentication, type ClientAuthorities } from '../bootstrap/extension-authentication.ts'
import { publishLocalPath } from '../bootstrap/local-path-storage.ts'
import { publishClusterInfo, type ClusterInfo } from '../bootstrap/cluster-info.ts'
import { thisMachinesAddresses } from './run-announcer.ts'
import { Component } from './component.ts'
import { startControllerManager } from './controller-manager.ts'
import { DirectTransport } from '../client/direct-transport.ts'
import { remoteKubelets } from '../node/remote-kubelets.ts'
import { kubeletServer, startRealKubelet, type KubeletServerOptions } from '../node/kubelet-node.ts'
import { nodeRangesDefault, podRangesDefault } from '../flags/node-ranges.ts'
import type { RealNode } from '../node/real-node.ts'
import { configz } from '../node/configz.ts'
import { ClusterNetwork } from '../network/cluster-network.ts'
import { simulatedHost, simulatedVolumes } from '../node/simulated-host.ts'
import { simulatedPlugins } from '../node/simulated-plugins.ts'
import { SimulatedMachine } from '../node/simulated-machine.ts'
import { simulatedNodeName } from './stale-nodes.ts'
import {
  apiServerUser,
  csiSidecarsUser,
  controllerManagerUser,
  controllerUser,
  dnsUser,
  ingressUser,
  localPathUser,
  nodeUser,
  proxyUser,
  schedulerUser,
  snapshotControllerUser,
} from '../client/component-users.ts'
import { uiExplanations } from '../ui/ui-explanations.ts'
import { uiFiles } from '../ui/ui-files.ts'
import type { StepClock } from '../../apiserver/ui/ui-api.ts'
import { trackLegacyTokens } from '../policy/legacy-token-tracking.ts'
import type { ObjectCaches } from '../../apiserver/watch-cache/object-caches.ts'

export interface ClusterOptions {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics?: Metrics
  readonly store: Store
  /** Authentication, authorization, admission, audit and fairness. */
  readonly policies: (caches: ObjectCaches) => Policies
  /** Uses of legacy tokens. They are not tracked when omitted. */
  readonly tokenUses?: LegacyTokenUsage
  /** Number of simulated nodes. */
  readonly nodes: number
  /** Number of controller managers, of which one leads. 1 by default. */
  readonly controllerManagers?: number
  readonly controllerSettings?: ControllerSettings
  readonly simulation?: SimulatedRuntimeOptions
  /** Faults of the links between simulated pods. */
  readonly linkFaults?: LinkFaults
  /** Settings of the kubelets of simulated nodes. */
  readonly kubeletSettings?: KubeletSettings
  /** Client certificate for kubelets in other processes. Without it they are not called. */
  readonly kubeletTls?: OutboundTls
  /** The client certificate of the front proxy, which extension servers trust. */
  readonly proxyIdentity?: () => Identity | undefined
  /** Whether metrics.k8s.io is registered from the start. */
  readonly advertisesAddOns?: boolean
  /** The health check of KMS plugins for encryption at rest. */
  readonly kmsCheck?: HealthCheck | undefined
  readonly flowEvents?: number
  /** The storage driver of simulated nodes, with its sidecars. */
  readonly csi?: SimulatedStorage | undefined
  /** The cloud of simulated nodes, with its controllers. */
  readonly cloud?: SimulatedCloud | undefined
  /** What implements Services of type LoadBalancer; nothing by default, as in upstream without a cloud. */
  readonly loadBalancers?: LoadBalancerChoice
  /** Whether the kinds of volume snapshots and their controller are installed. */
  readonly hasVolumeSnapshots?: boolean
  /** Whether the kinds of the Gateway API are installed, and Gateways served where Ingresses are. */
  readonly hasGatewayApi?: boolean
  /** Cluster IPs and node ports of Services. */
  readonly serviceRanges?: ServiceRanges
  readonly schedulerConfiguration?: SchedulerConfiguration
  /** Whether there is the StorageClass `local-path`, whose volumes are directories of the nodes of this process. */
  readonly localPath?: boolean
  /** Where Ingresses are served; nowhere when omitted. */
  readonly ingress?: IngressChoices
  /** Creates the API server; tests inject faults with it. */
  readonly newApiServer?: (deps: ApiServerDeps) => ApiServer
  /** The port of the web UI, if it has one of its own. */
  readonly uiPort?: () => number | undefined
  /** Advances the time for the web UI, where it is virtual. */
  readonly stepClock?: StepClock
}

function balancerControllers(choice: LoadBalancerChoice = 'none'): readonly Controller[] {
  if (choice === 'none') return []
  return [
    choice === 'node-addresses' ? nodeAddressController : addressPoolController(AddressPool.parse(choice.addresses)),
  ]
}

const serverName = 'apiserver'

export class Cluster {
  readonly flow: FlowRecorder
  readonly metrics: Metrics
  readonly decisions = new DecisionRecord()
  /** The network of simulated pods. */
  readonly network: ClusterNetwork
  readonly #components = new Map<string, Component>()
  readonly #controllerMetrics
  readonly #controllerSettings: ControllerSettings
  readonly #podRanges: RangePool
  readonly #options: ClusterOptions
  #ready = Promise.withResolvers<void>()
  /** Kubelets of this process are called without sockets. */
  readonly #kubelets: DirectKubelets
  readonly #machines = new Map<string, SimulatedMachine>()
  readonly #serverEndpoints: ServerEndpoints
  #server: ApiServer | undefined
  #isStopping = false
  #areOthersStarted = false

  constructor(options: ClusterOptions) {
    this.#options = options
    this.#kubelets = new DirectKubelets(this.#remoteKubelets(options.kubeletTls))
    this.metrics = options.metrics ?? new Metrics()
    this.#controllerMetrics = controllerMetrics(this.metrics)
    this.#podRanges = new RangePool(podRangesDefault(options.nodes))
    const nodeRanges = nodeRangesDefault(options.nodes)
    this.#controllerSettings = { crypto: nodeCrypto, nodeRanges, ...options.controllerSettings }
    this.flow = new FlowRecorder(options.clock, options.flowEvents)
    this.network = this.#newNetwork()
    const { serviceRanges = serviceRangesDefault } = options
    const publisher = this.client(serverName, apiServerUser)
    this.#serverEndpoints = new ServerEndpoints({ ...options, client: publisher, serviceRanges })
    const nodes = Array.from({ length: options.nodes }, (_, index) => this.#kubelet(index))
    const managers = Array.from({ length: options.controllerManagers ?? 1 }, (_, index) =>
      this.#controllerManager(index),
    )
    const snapshots = options.hasVolumeSnapshots === true ? [this.#snapshotController()] : []
    const storage = nodes.length === 0 ? [] : this.#localPath('simulated', this.#simulatedVolumes())
    const sidecars = options.csi === undefined ? [] : [this.#csiSidecars(options.csi)]
    const cloud = options.cloud === undefined ? [] : [this.#cloudControllers(options.cloud)]
    const ingress = options.ingress?.mode === 'on' ? [this.#ingress(options.ingress)] : []
    const others = [...cloud, ...ingress, ...snapshots, ...sidecars, this.#scheduler(), ...storage]
    for (const component of [this.#apiServer(), ...managers, ...others, ...nodes])
      this.#components.set(component.name, component)
  }

  get components(): ReadonlyMap<string, Component> {
    return this.#components
  }

  /** Adds this machine as a node that routes the traffic of Services, with a DNS server for pods. */
  addRealNode(node: RealNode): void {
    const { name } = node.description
    const storage = this.#localPath(name, new Map([[name, node.volumes]]))
    const { ingress } = this.#options
    const proxies = ingress?.mode === 'auto' ? [this.#ingress(ingress, node.description.hostIp)] : []
    const { loadBalancers } = this.#options
    const announcers = typeof loadBalancers === 'object' ? [this.#announcer(name, loadBalancers.addresses)] : []
    const components = [...this.#nodeServices(node), ...announcers, ...storage, ...proxies, this.#realKubelet(node)]
    for (const component of components) this.#add(component)
  }

  /** Adds a simulated node. */
  addSimulatedNode(): void {
    const name = simulatedNodeName(this.#machines.size)
    const kubelet = this.#kubelet(this.#machines.size)
    const added = [...this.#simulatedVolumes()].filter(([node]) => node === name)
    for (const component of [...this.#localPath(name, new Map(added)), kubelet]) this.#add(component)
  }

  #add(component: Component): void {
    this.#components.set(component.name, component)
    if (this.#areOthersStarted && !this.#isStopping) component.start()
  }

  /** The API server, while it is running. */
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
    this.components.get(serverName)?.start()
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

  /** Stops everything in reverse order. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.crash()
    await this.#options.store.close()
  }

  /** Stops everything except the store, containers included. It can be started again. */
  async crash(): Promise<void> {
    for (const component of [...this.components.values()].toReversed()) await component.kill()
    for (const machine of this.#machines.values()) machine.powerOff()
    await this.network.stop()
  }

  /** Removes a simulated node at once, with everything on it. Starting its kubelet brings it back, empty. */
  async powerOff(node: string): Promise<void> {
    const machine = this.#machine(node)
    await this.components.get(`kubelet/${node}`)?.kill()
    machine.powerOff()
  }

  /** Shuts a simulated node down in order: its kubelet's shutdown delay applies. */
  async shutDown(node: string): Promise<void> {
    await this.#machine(node).shutdown.announce()
    await this.powerOff(node)
  }

  #machine(node: string): SimulatedMachine {
    const machine = this.#machines.get(node)
    if (machine !== undefined) return machine
    throw new Error(`there is no simulated node ${node}; there are ${[...this.#machines.keys()].join(', ')}`)
  }

  /** Publishes the address of the API server to pods. */
  publish(host: string, port: number, signal: AbortSignal): Promise<void> {
    return this.#serverEndpoints.publish(host, port, signal)
  }

  /** Authorizes the API server at kubelets, and the network components of nodes to read what they route and filter. */
  async bindNodes(signal: AbortSignal): Promise<void> {
    const client = this.client('apiserver', apiServerUser)
    await bindKubeletClient(client, kubeletClient.commonName, context(signal))
    await bindNodeProxies(client, context(signal))
    await bindPolicyAgents(client, context(signal))
    if (typeof this.#options.loadBalancers === 'object')
      await installAnnouncers(client, proxyUser.name, context(signal))
  }

  /** Publishes the address and authority of the API server to nodes that want to join. */
  publishInfo(info: ClusterInfo, signal: AbortSignal): Promise<void> {
    return publishClusterInfo(this.client('apiserver', apiServerUser), info, context(signal))
  }

  /** Publishes the client authorities to extension servers. */
  publishAuthorities(authorities: ClientAuthorities, rules: FrontProxyRules, signal: AbortSignal): Promise<void> {
    const client = this.client('apiserver', apiServerUser)
    return publishExtensionAuthentication(client, authorities, rules, context(signal))
  }

  client(sender: string, user: User): Client {
    return new Client(this.transport(sender, user))
  }

  transport(sender: string, user: User): DirectTransport {
    return new DirectTransport(() => this.#server, sender, user)
  }

  #apiServer(): Component {
    const { clock, random, log, store, advertisesAddOns = false } = this.#options
    const { serviceRanges = serviceRangesDefault } = this.#options
    const metrics = this.metrics
    const requestMetrics = new RequestMetrics(metrics)
    const serverMetrics = new ServerMetrics(metrics)
    const conversionMetrics = new ConversionMetrics(metrics)
    const digest = (text: string) => nodeCrypto.sha256(text).toHex().toUpperCase()
    const pageFiles = uiFiles()
    return new Component(serverName, this.#options, (tasks) => {
      const { newApiServer = (own) => new ApiServer(own) } = this.#options
      const deps: ApiServerDeps = {
        store,
        clock,
        random: random.fork('apiserver'),
        flow: this.flow,
        log,
        metrics,
        requestMetrics,
        serverMetrics,
        conversionMetrics,
        policies: this.#options.policies,
        bootstrapObjects,
        reconcilers: [flowSchemaReconciler],
        digest,
        kubelets: this.#kubelets,
        serviceRanges,
        explain: (podKey) => this.decisions.explain(podKey),
        advertisesAddOns,
        outbound: nodeOutbound,
        proxyIdentity: this.#options.proxyIdentity,
        kmsCheck: this.#options.kmsCheck,
        ui: {
          files: pageFiles,
          port: this.#options.uiPort ?? (() => undefined),
          clock: realClock,
          explanations: uiExplanations({ clock, clientAs: (user) => this.client('Web UI', user) }),
          stepClock: this.#options.stepClock,
        },
      }
      const server = newApiServer(deps)
      this.#server = server
      tasks.signal.addEventListener('abort', () => (this.#server = undefined), { once: true })
      tasks.start('caches', (signal) =>
        server.run(signal, () => {
          tasks.start('bootstrap', async (stop) => {
            await server.registry.repair(stop)
            const bootstrapClient = this.client('apiserver', apiServerUser)
            await bootstrapCluster(bootstrapClient, clock, serviceRanges, context(stop))
            const { csi, hasVolumeSnapshots, hasGatewayApi } = this.#options
            if (csi !== undefined)
              await installCsiDriver(bootstrapClient, csi.config, csiSidecarsUser.name, context(stop))
            if (hasGatewayApi === true) await installGatewayApi(bootstrapClient, context(stop))
            if (hasVolumeSnapshots === true)
              await installVolumeSnapshots(bootstrapClient, snapshotControllerUser.name, context(stop))
            this.#ready.resolve()
          })
          tasks.start('server endpoints', (stop) => this.#serverEndpoints.run(stop))
          const { tokenUses } = this.#options
          if (tokenUses !== undefined)
            tasks.start('legacy token tracking', (stop) =>
              trackLegacyTokens(this.client('apiserver', apiServerUser), tokenUses, log, context(stop)),
            )
        }),
      )
    })
  }

  #csiSidecars(storage: SimulatedStorage): Component {
    const { clock, log, hasVolumeSnapshots: hasSnapshots = false } = this.#options
    const random = this.#options.random.fork('csi-sidecars')
    return new Component('csi-sidecars', this.#options, (tasks) => {
      const client = this.client('csi-sidecars', csiSidecarsUser)
      const informers = new Informers(client, { clock, random, log }, tasks)
      const deps = { client, informers, clock, random, log, flow: this.flow }
      const driver = storage.driverOf({ id: 'controller' })
      tasks.start('csi sidecars', () => startCsiSidecars(driver, { hasSnapshots }, deps, tasks))
    })
  }

  #snapshotController(): Component {
    const { clock, log } = this.#options
    const random = this.#options.random.fork('snapshot-controller')
    return new Component('snapshot-controller', this.#options, (tasks) => {
      const client = this.client('snapshot-controller', snapshotControllerUser)
      const informers = new Informers(client, { clock, random, log }, tasks)
      startSnapshotController({ client, informers, clock, random, log, flow: this.flow }, tasks)
    })
  }

  /** The first manager is the only one, or one of several of which one leads. */
  #controllerManager(index: number): Component {
    const { clock, random, log, controllerManagers = 1 } = this.#options
    const settings = this.#controllerSettings
    const balancers = balancerControllers(this.#options.loadBalancers)
    const name = index === 0 ? 'controllers' : `controllers-${index}`
    return new Component(name, this.#options, (tasks) => {
      startControllerManager(tasks, {
        clock,
        random: random.fork(name),
        log,
        flow: this.flow,
        metrics: this.#controllerMetrics,
        settings,
        controllers: [...controllers, ...balancers],
        client: this.client(name, controllerManagerUser),
        clientOf: ({ name: controller, account }) =>
          this.client(
            `controller/${controller}`,
            account === managerAccount ? controllerManagerUser : controllerUser(account),
          ),
        ...(controllerManagers > 1 ? { identity: `${name}_1` } : {}),
      })
    })
  }

  #cloudControllers(cloud: SimulatedCloud): Component {
    const { clock, random, log } = this.#options
    const name = 'cloud-controllers'
    cloud.connect({
      powerOff: (node) => this.powerOff(node),
      powerOn: (node) => this.component(`kubelet/${node}`).start(),
    })
    return new Component(name, this.#options, (tasks) => {
      startControllerManager(tasks, {
        ...{ clock, log, random: random.fork(name), flow: this.flow, metrics: this.#controllerMetrics },
        settings: this.#controllerSettings,
        client: this.client(name, controllerManagerUser),
        clientOf: ({ name: controller, account }) => this.client(`controller/${controller}`, controllerUser(account)),
        controllers: cloudControllers(cloud.provider, { clock, flow: this.flow }),
      })
    })
  }

  #scheduler(): Component {
    const { clock, log, schedulerConfiguration: configuration = {} } = this.#options
    const { decisions, flow } = this
    const metrics = schedulerMetrics(this.metrics)
    const random = this.#options.random.fork('scheduler')
    return new Component('scheduler', this.#options, (tasks) => {
      const client = this.client('scheduler', schedulerUser)
      const informers = new Informers(client, { clock, random, log }, tasks)
      const extenders = (configuration.extenders ?? []).map((extender) => extenderOf(extender, nodeOutbound, clock))
      const plugins = schedulerPlugins
      const deps = {
        client,
        informers,
        clock,
        random,
        log,
        flow,
        plugins,
        configuration,
        decisions,
        extenders,
        metrics,
      }
      new Scheduler(deps, tasks).start()
    })
  }

  #kubelet(index: number): Component {
    const { clock, log, simulation, kubeletSettings: settings = defaultKubeletSettings } = this.#options
    const name = simulatedNodeName(index)
    const random = this.#options.random.fork(`kubelet/${name}`)
    const podRange = () => this.#podRangeOf(name)
    // The machine outlives its kubelet: containers keep running while the kubelet restarts.
    const machine: SimulatedMachine = new SimulatedMachine(
      (disk) => new SimulatedRuntime(clock, random, { podRange, network: () => network, disk, ...simulation }),
    )
    const { csi } = this.#options
    const plugins = csi === undefined ? undefined : simulatedPlugins(csi, name, machine.disk)
    const hostIp = `192.0.2.${(index % 254) + 1}`
    const network = this.network.addNode(name, hostIp, machine)
    this.#options.cloud?.addInstance(name, hostIp)
    this.#machines.set(name, machine)
    const description: NodeDescription = {
      name,
      hostIp,
      capacity: { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100Gi', pods: '110' },
      runtime: `${machine.runtime.name}://${machine.runtime.version}`,
      operatingSystem: 'linux',
      architecture: 'amd64',
      ...this.#ownPodRange(),
    }
    return new Component(`kubelet/${name}`, this.#options, (tasks) => {
      const client = this.client(`kubelet/${name}`, nodeUser(name))
      machine.powerOn()
      const { runtime } = machine
      const host = simulatedHost(runtime, machine.disk, machine.shutdown, plugins)
      const flow = this.flow
      const kubelet = new Kubelet({ client, runtime, clock, random, flow, log, description, settings, host })
      kubelet.start(tasks)
      this.#serveKubelet({ nodeName: name, runtime, logs: runtime.logs, kubelet }, client, tasks)
    })
  }

  #simulatedVolumes(): ReadonlyMap<string, NodeVolumes> {
    return new Map(Array.from(this.#machines, ([name, { disk }]) => [name, simulatedVolumes(disk)]))
  }

  /** The provisioner of volumes on these nodes. */
  #localPath(name: string, nodes: ReadonlyMap<string, NodeVolumes>): readonly Component[] {
    const { clock, log, localPath = false } = this.#options
    if (!localPath) return []
    const random = this.#options.random.fork(`local-path/${name}`)
    const component = new Component(`local-path/${name}`, this.#options, (tasks) => {
      const client = this.client(`local-path/${name}`, localPathUser)
      tasks.start('storage class', async (signal) => {
        const areLimited = await Promise.all(Array.from(nodes.values(), (volumes) => volumes.areLimited(signal)))
        const publisher = this.client('apiserver', apiServerUser)
        await publishLocalPath(publisher, localPathUser.name, areLimited.every(Boolean), context(signal))
        startLocalPathProvisioner({ client, clock, random, log, nodes, host: name }, tasks)
      })
    })
    return [component]
  }

  #newNetwork(): ClusterNetwork {
    const { clock, random, log, linkFaults = new LinkFaults() } = this.#options
    return new ClusterNetwork({
      ...{ clock, random: random.fork('network'), log, flow: this.flow, faults: linkFaults },
      client: () => this.client('network', apiServerUser),
      pod: (namespace, name) => this.#server?.registry.cached(pod, namespace, name),
    })
  }

  /** Simulated nodes bring their own pod range when no controller assigns ranges. */
  #ownPodRange(): { readonly podCidrs?: readonly string[] } {
    const { ranges = [] } = this.#controllerSettings.nodeRanges ?? {}
    const isGiven = ranges.length > 0 && this.#options.controllerManagers !== 0
    const podCidr = isGiven ? undefined : this.#podRanges.take()
    return podCidr === undefined ? {} : { podCidrs: [podCidr] }
  }

  /** The pod range of the node, from the cache, because every sandbox needs it. */
  #podRangeOf(nodeName: string): string | undefined {
    const { podCIDRs = [] } = this.#server?.registry.cached(node, '', nodeName)?.spec ?? {}
    return podCIDRs.find((cidr) => !cidr.includes(':'))
  }

  #realKubelet(real: RealNode): Component {
    const { clock, log, random } = this.#options
    const { name } = real.description
    return new Component(`kubelet/${name}`, this.#options, (tasks) => {
      const client = this.client(`kubelet/${name}`, nodeUser(name))
      const kubelet = startRealKubelet(real, { client, clock, random, flow: this.flow, log }, tasks)
      const configuration = configz(real.settings)
      this.#serveKubelet({ ...real, configuration, nodeName: name, kubelet }, client, tasks)
    })
  }

  /** Pods of all nodes reach the DNS server at the address of this machine in the pod network. */
  #nodeServices(real: RealNode): readonly Component[] {
    const { clock, log, random, serviceRanges = serviceRangesDefault } = this.#options
    const { name } = real.description
    const { startProxy, startDns } = real.services(real.network, this.metrics)
    const podCidrs = (this.#controllerSettings.nodeRanges?.ranges ?? []).map(({ cidr }) => cidr)
    const proxy = new Component(`proxy/${name}`, this.#options, (tasks) =>
      startProxy(
        {
          ...{ clock, log, random, podCidrs, flow: this.flow, serviceCidrs: serviceRanges.clusterCidrs },
          client: this.client(`proxy/${name}`, proxyUser),
          nodeClient: this.client(`kubelet/${name}`, nodeUser(name)),
        },
        tasks,
      ),
    )
    if (startDns === undefined) return [proxy]
    const dns = new Component('dns', this.#options, (tasks) =>
      tasks.start('DNS', () => {
        const publisher = this.client('apiserver', apiServerUser)
        const client = this.client('dns', dnsUser)
        return startDns({ clock, log, random, client, publisher, serviceRange: serviceRanges.clusterCidrs[0] }, tasks)
      }),
    )
    return [proxy, dns]
  }

  /** Makes this machine respond for addresses of load balancers. */
  #announcer(nodeName: string, addresses: string): Component {
    const { clock, log } = this.#options
    const name = `announcer/${nodeName}`
    const random = this.#options.random.fork(name)
    const [pool, machine] = [AddressPool.parse(addresses), thisMachinesAddresses()]
    return new Component(name, this.#options, (tasks) => {
      const client = this.client(name, proxyUser)
      const informers = new Informers(client, { clock, random, log }, tasks)
      const deps = { informers, client, pool, nodeName, machine, clock, random, log, flow: this.flow }
      tasks.start('announcer', (signal) => new AddressAnnouncer(deps).run(signal))
    })
  }

  /** `hostIp` is in the status of Ingresses if the proxy listens on all addresses. */
  #ingress({ mode: _, ...choices }: IngressChoices, hostIp?: string): Component {
    const { clock, log } = this.#options
    const random = this.#options.random.fork('ingress')
    const address = choices.host === '0.0.0.0' || choices.host === '::' ? hostIp : choices.host
    const settings = { ...choices, addresses: address === undefined ? [] : [{ ip: address }] }
    const metrics = ingressMetrics(this.metrics)
    return new Component('ingress', this.#options, (tasks) =>
      tasks.start('ingress', async () => {
        const publisher = this.client('apiserver', apiServerUser)
        const client = this.client('ingress', ingressUser)
        const deps = { client, publisher, clock, random, log, flow: this.flow, metrics }
        const gateways = this.#options.hasGatewayApi === true ? {} : undefined
        await startIngress({ ...deps, platform: nodePlatform, settings, gateways }, tasks)
      }),
    )
  }

  /** The kubelet's server in this process, without a socket. */
  #serveKubelet(
    served: Omit<KubeletServerOptions, 'access' | 'pod' | 'clock' | 'log' | 'flow'>,
    client: Client,
    tasks: TaskGroup,
  ): void {
    const { clock, log } = this.#options
    const { nodeName } = served
    const server = kubeletServer({
      ...{ ...served, clock, log, flow: this.flow },
      access: trustingApiServer(kubeletClient.commonName, delegatedAuth({ client, nodeName })),
      pod: (namespace, name) => this.#podOn(nodeName, namespace, name),
    })
    this.#kubelets.add(nodeName, (request, cause) => server.handle(request, cause), tasks.signal)
  }

  #remoteKubelets(tls: OutboundTls | undefined): KubeletConnection {
    if (tls === undefined) return noKubelets
    const findNode = (name: string) => this.#server?.registry.cached(node, '', name)
    const simulated = () => [...this.#machines.keys()].flatMap((name) => this.#podRangeOf(name) ?? [])
    return remoteKubelets({ outbound: nodeOutbound, tls, findNode }, simulated)
  }

  #podOn(nodeName: string, namespace: string, name: string): Pod | undefined {
    const found = this.#server?.registry.cached(pod, namespace, name)
    return found?.spec.nodeName === nodeName ? found : undefined
  }
}

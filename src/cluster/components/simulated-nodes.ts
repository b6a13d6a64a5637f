// The simulated nodes of a process: their machines, which outlive their kubelets, and the network of their pods.
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import type { ControllerSettings } from '../../controllers/runtime/controller-settings.ts'
import { RangePool } from '../../controllers/node-ipam/range-pool.ts'
import { Kubelet } from '../../kubelet/kubelet.ts'
import { defaultKubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import type { NodeDescription } from '../../kubelet/node/node-status.ts'
import { LinkFaults } from '../../machine/network/link-faults.ts'
import { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import type { NodeVolumes } from '../../storage/local-path/node-volumes.ts'
import { apiServerUser, nodeUser } from '../client/component-users.ts'
import { podRangesDefault } from '../flags/node-ranges.ts'
import { ClusterNetwork } from '../network/cluster-network.ts'
import { simulatedHost, simulatedVolumes } from '../node/simulated-host.ts'
import { SimulatedMachine } from '../node/simulated-machine.ts'
import { simulatedPlugins } from '../node/simulated-plugins.ts'
import { Component } from './component.ts'
import { serveKubelet, type KubeletsContext } from './kubelet-access.ts'

export const simulatedNodeName = (index: number): string => `node-${index}`

export class SimulatedNodes {
  readonly network: ClusterNetwork
  readonly #cluster: KubeletsContext
  readonly #controllerSettings: ControllerSettings
  readonly #machines = new Map<string, SimulatedMachine>()
  readonly #podRanges: RangePool

  constructor(cluster: KubeletsContext, controllerSettings: ControllerSettings) {
    this.#cluster = cluster
    this.#controllerSettings = controllerSettings
    this.#podRanges = new RangePool(podRangesDefault(cluster.options.nodes))
    this.network = newNetwork(cluster)
  }

  /** The kubelet of a further node. */
  add(): Component {
    const { options } = this.#cluster
    const index = this.#machines.size
    const name = simulatedNodeName(index)
    const hostIp = `192.0.2.${(index % 254) + 1}`
    const machine = this.#newMachine(name, hostIp)
    options.cloud?.addInstance(name, hostIp)
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
    return this.#kubelet(description, machine)
  }

  get count(): number {
    return this.#machines.size
  }

  machine(name: string): SimulatedMachine {
    const machine = this.#machines.get(name)
    if (machine !== undefined) return machine
    throw new Error(`there is no simulated node ${name}; there are ${[...this.#machines.keys()].join(', ')}`)
  }

  /** Volumes of the StorageClass `local-path`, by node. */
  get volumes(): ReadonlyMap<string, NodeVolumes> {
    return new Map(Array.from(this.#machines, ([name, { disk }]) => [name, simulatedVolumes(disk)]))
  }

  /** The ranges of pod addresses to which no packets can be sent. */
  podRanges(): readonly string[] {
    return [...this.#machines.keys()].flatMap((name) => podRangeOf(this.#cluster, name) ?? [])
  }

  /** Ends everything on all nodes. */
  async powerOff(): Promise<void> {
    for (const machine of this.#machines.values()) machine.powerOff()
    await this.network.stop()
  }

  #newMachine(name: string, hostIp: string): SimulatedMachine {
    const { clock, random, simulation } = this.#cluster.options
    const podRange = () => podRangeOf(this.#cluster, name)
    const own = random.fork(`kubelet/${name}`)
    const machine: SimulatedMachine = new SimulatedMachine(
      (disk) => new SimulatedRuntime(clock, own, { podRange, network: () => network, disk, ...simulation }),
    )
    const network = this.network.addNode(name, hostIp, machine)
    return machine
  }

  #kubelet(description: NodeDescription, machine: SimulatedMachine): Component {
    const { options, flow } = this.#cluster
    const { clock, log, csi, kubeletSettings: settings = defaultKubeletSettings } = options
    const { name } = description
    const random = options.random.fork(`kubelet/${name}`)
    const plugins = csi === undefined ? undefined : simulatedPlugins(csi, name, machine.disk)
    return new Component(`kubelet/${name}`, options, (tasks) => {
      const client = this.#cluster.client(`kubelet/${name}`, nodeUser(name))
      machine.powerOn()
      const { runtime } = machine
      const host = simulatedHost(runtime, machine.disk, machine.shutdown, plugins)
      const kubelet = new Kubelet({ client, runtime, clock, random, flow, log, description, settings, host })
      kubelet.start(tasks)
      serveKubelet(this.#cluster, { nodeName: name, runtime, logs: runtime.logs, kubelet }, client, tasks)
    })
  }

  /** Simulated nodes bring their own pod range when no controller assigns ranges. */
  #ownPodRange(): { readonly podCidrs?: readonly string[] } {
    const { ranges = [] } = this.#controllerSettings.nodeRanges ?? {}
    const isGiven = ranges.length > 0 && this.#cluster.options.controllerManagers !== 0
    const podCidr = isGiven ? undefined : this.#podRanges.take()
    return podCidr === undefined ? {} : { podCidrs: [podCidr] }
  }
}

/** The pod range of the node, from the cache, because every sandbox needs it. */
function podRangeOf({ server }: KubeletsContext, nodeName: string): string | undefined {
  const { podCIDRs = [] } = server?.registry.cached(node, '', nodeName)?.spec ?? {}
  return podCIDRs.find((cidr) => !cidr.includes(':'))
}

function newNetwork(cluster: KubeletsContext): ClusterNetwork {
  const { clock, random, log, linkFaults = new LinkFaults() } = cluster.options
  return new ClusterNetwork({
    clock,
    random: random.fork('network'),
    log,
    flow: cluster.flow,
    faults: linkFaults,
    client: () => cluster.client('network', apiServerUser),
    pod: (namespace, name) => cluster.server?.registry.cached(pod, namespace, name),
  })
}

// The pod network of a real node: the CNI configuration, the bridge, and the paths to other nodes. A network of another
// CNI plugin is left alone.
import { mustParseCidr, type Cidr } from '../../base/net/cidr.ts'
import { mustParseIp, type IpAddress } from '../../base/net/ip-address.ts'
import { writeBridgeNetwork } from '../../machine/cni/bridge-network.ts'
import type { KernelSettings } from '../../machine/kernel-settings/kernel-settings.ts'
import { NodePodNetwork } from '../../machine/pod-network/node-pod-network.ts'
import type { PodNetwork } from '../../machine/pod-network/pod-network.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Processes } from '../../platform/process/processes.ts'
import { gatewayOf, hardwareAddressOf, nextHopOf } from '../../proxy/pod-routes/peer-paths.ts'
import { bridge, machineNetworks, rangeConflict } from './machine-network.ts'

export interface NodeNetwork {
  readonly podRanges: readonly Cidr[]
  /** The addresses of this machine in its pod ranges, which all pods of the cluster can reach. */
  readonly gateways: readonly IpAddress[]
  readonly podNetwork: PodNetwork
}

export interface NodeNetworkOptions {
  readonly podRanges: readonly string[]
  /** The address from which this machine reaches other nodes. */
  readonly nodeAddress: string
  /** Where the state of the node is stored, and where the runtime reads CNI configurations. */
  readonly directory: string
  readonly configurationDirectory: string
  /** The addresses of Services. */
  readonly serviceRanges: readonly string[]
}

export interface NodeNetworkDeps extends Pick<Platform, 'files'> {
  readonly processes: Processes
  readonly kernelSettings: KernelSettings
}

/** Undefined if another CNI plugin is configured. */
export async function provideNodeNetwork(
  { nodeAddress, directory, configurationDirectory, ...options }: NodeNetworkOptions,
  { files, processes, kernelSettings }: NodeNetworkDeps,
  signal: AbortSignal,
): Promise<NodeNetwork | undefined> {
  const podRanges = ownRanges(options.podRanges)
  const serviceRanges = options.serviceRanges.map(mustParseCidr)
  const conflict = rangeConflict({ podRanges, serviceRanges }, machineNetworks())
  if (conflict !== undefined) throw new Error(conflict)
  const configuration = {
    bridge,
    addressesDirectory: `${directory}/addresses`,
    podCidrs: podRanges,
  }
  if ((await writeBridgeNetwork(configurationDirectory, configuration, files)) === 'another') return undefined
  const ranges = podRanges.map((range) => ({ range, gateway: gatewayOf(range), tunnelAddress: nextHopOf(range) }))
  const podNetwork = new NodePodNetwork(
    {
      bridge,
      ranges,
      hardwareAddress: hardwareAddressOf(podRanges),
      nodeAddress: mustParseIp(nodeAddress),
      serviceRanges,
    },
    { processes, kernelSettings },
  )
  await podNetwork.prepare(signal)
  return { podRanges, gateways: ranges.map(({ gateway }) => gateway), podNetwork }
}

/** Those of the Node, which has at least one. */
function ownRanges(texts: readonly string[]): readonly [Cidr, ...Cidr[]] {
  const [first, ...others] = texts.map(mustParseCidr)
  if (first === undefined) throw new Error('the node has no pod range')
  return [first, ...others]
}

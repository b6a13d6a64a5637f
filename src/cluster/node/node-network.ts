// The pod network of a real node: the CNI configuration, the bridge, and the paths to other nodes. A network of another
// CNI plugin is left alone.
import { writeBridgeNetwork } from '../../machine/cni/bridge-network.ts'
import type { KernelSettings } from '../../machine/kernel-settings/kernel-settings.ts'
import { NodePodNetwork } from '../../machine/pod-network/node-pod-network.ts'
import type { PodNetwork } from '../../machine/pod-network/pod-network.ts'
import type { Platform } from '../../platform/platform.ts'
import { gatewayOf, hardwareAddressOf, nextHopOf } from '../../proxy/pod-routes/peer-paths.ts'
import { bridge, machineNetworks, podRangeConflict } from './machine-network.ts'

export interface NodeNetwork {
  readonly podRanges: readonly string[]
  /** The addresses of this machine in its pod ranges, which all pods of the cluster can reach. */
  readonly gateways: readonly string[]
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

export interface NodeNetworkDeps extends Pick<Platform, 'files' | 'processes'> {
  readonly kernelSettings: KernelSettings
}

/** Undefined if another CNI plugin is configured. */
export async function provideNodeNetwork(
  { podRanges, nodeAddress, directory, configurationDirectory, serviceRanges }: NodeNetworkOptions,
  { files, processes, kernelSettings }: NodeNetworkDeps,
  signal: AbortSignal,
): Promise<NodeNetwork | undefined> {
  const networks = machineNetworks()
  const conflict = podRanges.map((range) => podRangeConflict(range, networks)).find((each) => each !== undefined)
  if (conflict !== undefined) throw new Error(conflict)
  const configuration = {
    bridge,
    addressesDirectory: `${directory}/addresses`,
    podCidrs: podRanges,
  }
  if ((await writeBridgeNetwork(configurationDirectory, configuration, files)) === 'another') return undefined
  const ranges = podRanges.map((range) => ({ range, gateway: gatewayOf(range), tunnelAddress: nextHopOf(range) }))
  const hardwareAddress = hardwareAddressOf(podRanges)
  const podNetwork = new NodePodNetwork(
    { bridge, ranges, hardwareAddress, nodeAddress, serviceRanges },
    { processes, kernelSettings },
  )
  await podNetwork.prepare(signal)
  return { podRanges, gateways: ranges.map(({ gateway }) => gateway), podNetwork }
}

// Removes what a node has changed in the network of its machine.
import type { Clock } from '../../base/time/clock.ts'
import { NftProgram } from '../../machine/nftables/nft-program.ts'
import { removePodNetwork } from '../../machine/pod-network/node-pod-network.ts'
import { removePolicyRules } from '../../network-policy/policy-agent.ts'
import { nodeProcesses } from '../../platform/node/process/processes.ts'
import type { InteractivePrograms, Processes } from '../../platform/process/processes.ts'
import { removeHostPortRules } from '../../proxy/host-ports/host-port-agent.ts'
import { removeServiceRules } from '../../proxy/service-proxy.ts'
import { removeBridge } from './machine-network.ts'

/** Removes the rules of Services and network policies, the paths to other nodes and the bridge. No effect on what is not ours. */
export const removeNodeNetwork = (clock: Clock, signal: AbortSignal): Promise<void> =>
  removeNetworkThrough(nodeProcesses, clock, signal)

/** As removeNodeNetwork, with these programs. */
export async function removeNetworkThrough(
  processes: Pick<Processes, 'run'> & InteractivePrograms,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  await using nftables = new NftProgram({ processes, clock })
  await removeServiceRules(nftables)
  await removePolicyRules(nftables)
  await removeHostPortRules(nftables)
  await removePodNetwork(processes, signal)
  await removeBridge(processes, signal)
}

// The addresses of load balancers for which this machine responds.
import type { AnnouncedAddresses } from '../../machine/announced-addresses/announced-addresses.ts'
import { NodeAnnouncedAddresses } from '../../machine/announced-addresses/node-announced-addresses.ts'
import { nodeKernelSettings } from '../../machine/kernel-settings/node-kernel-settings.ts'
import { nodeProcesses } from '../../platform/node/process/processes.ts'

export const thisMachinesAddresses = (): AnnouncedAddresses =>
  new NodeAnnouncedAddresses({ processes: nodeProcesses, kernelSettings: nodeKernelSettings() })

// The host of a simulated node: a disk in memory, and no mounts.
import { SimulatedCgroups } from '../../machine/cgroups/simulated-cgroups.ts'
import { SimulatedHostLoad } from '../../machine/load/simulated-host-load.ts'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { ManualShutdown } from '../../machine/shutdown/manual-shutdown.ts'
import type { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import type { NodeHost } from '../../kubelet/node/node-host.ts'

export const simulatedHost = (runtime: SimulatedRuntime, shutdown = new ManualShutdown()): NodeHost => ({
  logs: runtime.logs,
  dialer: runtime.dialer,
  disk: new SimulatedDisk(),
  paths: { pods: '/pods', logs: '/logs' },
  dns: { servers: [], domain: 'cluster.local', node: { servers: [], searches: [], options: [] } },
  cgroups: new SimulatedCgroups(),
  cgroupRoot: '/kubepods',
  load: new SimulatedHostLoad(),
  shutdown,
  mountsVolumes: false,
  manifests: [],
  digest: (text) => text,
  services: () => [],
})

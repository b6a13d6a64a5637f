// The host of a simulated node.
import { SimulatedCgroups } from '../../machine/cgroups/simulated-cgroups.ts'
import { SimulatedHostLoad } from '../../machine/load/simulated-host-load.ts'
import type { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { SimulatedQuotas } from '../../machine/quotas/simulated-quotas.ts'
import { ManualShutdown } from '../../machine/shutdown/manual-shutdown.ts'
import type { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import { nodeSendOn } from '../../platform/node/http/outbound.ts'
import { NodeVolumes } from '../../storage/local-path/node-volumes.ts'
import type { NodeHost, NodePlugins } from '../../kubelet/node/node-host.ts'

/** Volumes of the StorageClass `local-path` on the disk of a simulated node. */
export const simulatedVolumes = (disk: SimulatedDisk): NodeVolumes =>
  new NodeVolumes({ directory: '/volumes', disk, quotas: new SimulatedQuotas(disk), isVolatile: true })

/** The runtime's containers mount volumes of the disk. */
export const simulatedHost = (
  runtime: SimulatedRuntime,
  disk: SimulatedDisk,
  shutdown = new ManualShutdown(),
  plugins?: NodePlugins,
): NodeHost => ({
  logs: runtime.logs,
  dialer: runtime.dialer,
  sendOn: nodeSendOn,
  disk,
  paths: { pods: '/pods', logs: '/logs' },
  dns: { servers: [], domain: 'cluster.local', node: { servers: [], searches: [], options: [] }, nodeAddress: '' },
  cgroups: new SimulatedCgroups(),
  cgroupRoot: '/kubepods',
  load: new SimulatedHostLoad(),
  shutdown,
  // Simulated images have no files.
  imageMounts: {
    mount: (_image, path) => disk.mountTmpfs(path, undefined),
    unmount: (path) => disk.unmount(path),
  },
  ...(plugins === undefined ? {} : { plugins }),
  manifests: [],
  digest: (text) => text,
  services: () => [],
})

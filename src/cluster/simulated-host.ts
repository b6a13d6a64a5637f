// The machine of a simulated node: a disk in memory and nothing to mount.
import { SimulatedDisk } from '../machine/disk/simulated-disk.ts'
import type { NodeHost } from '../kubelet/node-host.ts'

export const simulatedHost = (): NodeHost => ({
  disk: new SimulatedDisk(),
  paths: { pods: '/pods', logs: '/logs' },
  dns: { servers: [], domain: 'cluster.local', node: { servers: [], searches: [], options: [] } },
  cgroupRoot: '/kubepods',
  mountsVolumes: false,
  services: () => [],
})

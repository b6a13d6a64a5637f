// NodeHost: the machine that a kubelet runs pods on, beside its runtime.
import type { Service } from '../api/core/v1/service.ts'
import type { Disk } from '../machine/disk/disk.ts'
import type { ClusterDns } from './pod-config/dns.ts'
import type { NodePaths } from './pod-config/paths.ts'

export interface NodeHost {
  readonly disk: Disk
  readonly paths: NodePaths
  readonly dns: ClusterDns
  /** Below which control group pods run. */
  readonly cgroupRoot: string
  /** Whether volumes are made: a simulated container has nothing to see them with. */
  readonly mountsVolumes: boolean
  /** The services that containers are told of. */
  readonly services: () => readonly Service[]
}

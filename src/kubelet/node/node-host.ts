// NodeHost: the machine that a kubelet runs pods on, beside its runtime.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { Cgroups } from '../../machine/cgroups/cgroups.ts'
import type { ImageMounts } from '../../machine/cri/image-mounts.ts'
import type { Disk } from '../../machine/disk/disk.ts'
import type { HostLoad } from '../../machine/load/host-load.ts'
import type { LogFiles } from '../../machine/logs/log-files.ts'
import type { ManifestSource } from '../../machine/manifests/manifest-source.ts'
import type { PodDialer } from '../../machine/dialer/pod-dialer.ts'
import type { HostShutdown } from '../../machine/shutdown/host-shutdown.ts'
import type { ClusterDns } from '../pod-config/dns.ts'
import type { NodePaths } from '../pod-config/node-paths.ts'

export interface NodeHost {
  readonly disk: Disk
  /** What containers print. */
  readonly logs: LogFiles
  /** How it reaches into its pods. */
  readonly dialer: PodDialer
  readonly paths: NodePaths
  readonly dns: ClusterDns
  readonly cgroups: Cgroups
  /** The control group that holds all pods: `/kubepods`. */
  readonly cgroupRoot: string
  readonly load: HostLoad
  readonly shutdown: HostShutdown
  /** How images are shown as volumes; left out where they cannot be. */
  readonly imageMounts?: ImageMounts
  /** Whether volumes are made: a simulated container has nothing to see them with. */
  readonly mountsVolumes: boolean
  /** Where it finds pods that no API server has told it of. */
  readonly manifests: readonly ManifestSource[]
  /** A short text that differs when the text does. */
  readonly digest: (text: string) => string
  /** The services that containers are told of. */
  readonly services: () => readonly Service[]
}

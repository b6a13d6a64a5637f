// NodeHost: the interfaces of the machine that a kubelet uses beside the container runtime.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { Cgroups } from '../../machine/cgroups/cgroups.ts'
import type { ImageMounts } from '../../machine/cri/image-mounts.ts'
import type { CsiDrivers } from '../../machine/csi/csi-driver.ts'
import type { Disk } from '../../machine/disk/disk.ts'
import type { HostLoad } from '../../machine/load/host-load.ts'
import type { ListeningPorts } from '../../machine/listening-ports/listening-ports.ts'
import type { LogFiles } from '../../machine/logs/log-files.ts'
import type { ManifestSource } from '../../machine/manifests/manifest-source.ts'
import type { PluginSockets } from '../../machine/plugin-sockets/plugin-sockets.ts'
import type { PodDialer } from '../../machine/dialer/pod-dialer.ts'
import type { SendOn } from '../../platform/http/outbound.ts'
import type { HostShutdown } from '../../machine/shutdown/host-shutdown.ts'
import type { ProtectPod } from '../container/sandbox-starter.ts'
import type { ClusterDns } from '../pod-config/dns.ts'
import type { NodePaths } from '../pod-config/node-paths.ts'

export interface NodePlugins {
  readonly sockets: PluginSockets
  readonly drivers: CsiDrivers
  /** In hexadecimal. */
  readonly sha256: (text: string) => string
}

export interface NodeHost {
  readonly disk: Disk
  /** Log files of containers. */
  readonly logs: LogFiles
  /** Connections to pods, for probes and hooks. */
  readonly dialer: PodDialer
  /** HTTP on these connections. */
  readonly sendOn: SendOn
  readonly paths: NodePaths
  readonly dns: ClusterDns
  readonly cgroups: Cgroups
  /** The cgroup of all pods: `/kubepods`. */
  readonly cgroupRoot: string
  readonly load: HostLoad
  readonly shutdown: HostShutdown
  /** Left out where load balancers do not use the addresses of the machine. */
  readonly listeningPorts?: ListeningPorts
  /** Mounts images as volumes; left out where that is not supported. */
  readonly imageMounts?: ImageMounts
  /** Storage drivers; left out where none can register. */
  readonly plugins?: NodePlugins
  /** Sources of static pods. */
  readonly manifests: readonly ManifestSource[]
  /** A short hash. */
  readonly digest: (text: string) => string
  /**
   * Resolves when the network policies of a pod apply to the addresses of its sandbox; its containers start afterwards. Left
   * out where policies are not enforced.
   */
  readonly protectPod?: ProtectPod
  /** Services whose addresses containers get as environment variables. */
  readonly services: () => readonly Service[]
}

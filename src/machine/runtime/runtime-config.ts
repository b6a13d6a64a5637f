// Configurations of sandboxes and containers, which a kubelet computes from a pod and passes to the runtime.
import type { CgroupLimits } from '../cgroups/cgroups.ts'

export interface SandboxConfig {
  readonly podUid: string
  readonly namespace: string
  readonly name: string
  /** The number of the sandbox within the pod, from 0. */
  readonly attempt: number
  /** Empty: the node's hostname. */
  readonly hostname: string
  /** Directory of the container logs; each container has its own file below it. */
  readonly logDirectory: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** The node's configuration when left out. */
  readonly dns?: DnsConfig
  readonly ports: readonly HostPort[]
  /** The parent cgroup of the pod's processes. */
  readonly cgroupParent: string
  readonly namespaces: SandboxNamespaces
  readonly sysctls: Readonly<Record<string, string>>
  readonly security: SandboxSecurity
  /** The runtime handler; empty for the default. */
  readonly runtimeHandler: string
}

export interface DnsConfig {
  readonly servers: readonly string[]
  readonly searches: readonly string[]
  readonly options: readonly string[]
}

export interface HostPort {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP'
  readonly containerPort: number
  readonly hostPort: number
  readonly hostIp: string
}

/** The scope of the kernel namespaces. */
export interface SandboxNamespaces {
  readonly network: 'pod' | 'node'
  readonly processes: 'container' | 'pod' | 'node'
  readonly ipc: 'pod' | 'node'
}

export interface SandboxSecurity {
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly supplementalGroups: readonly number[]
  /** Whether any container of the pod is privileged. */
  readonly privileged: boolean
  readonly seccomp?: SecurityProfile
}

export interface SecurityProfile {
  readonly type: 'RuntimeDefault' | 'Unconfined' | 'Localhost'
  /** The file (seccomp) or name (AppArmor) of a localhost profile. */
  readonly localhost?: string
}

export interface ContainerConfig {
  readonly name: string
  /** As the pod specifies it. */
  readonly image: string
  /** The id of the present image. */
  readonly imageId: string
  /** The number of the attempt, from 0; it becomes the restart count. */
  readonly attempt: number
  /** Empty: the image's default. */
  readonly command: readonly string[]
  readonly arguments: readonly string[]
  /** Empty: the image's default. */
  readonly workingDirectory: string
  readonly environment: readonly { readonly name: string; readonly value: string }[]
  readonly mounts: readonly ContainerMount[]
  readonly devices: readonly ContainerDevice[]
  /** The log file, relative to the sandbox's log directory. */
  readonly logFile: string
  readonly stdin: boolean
  readonly stdinOnce: boolean
  readonly tty: boolean
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly resources: ContainerResources
  readonly security: ContainerSecurity
  /** The container whose PID namespace an ephemeral container joins. */
  readonly targetId?: string
  readonly stopSignal?: string
}

export interface ContainerMount {
  readonly hostPath: string
  readonly containerPath: string
  readonly readOnly: boolean
  readonly recursiveReadOnly?: boolean
  readonly propagation: 'private' | 'host-to-container' | 'bidirectional'
}

/** A device of the node in the container. */
export interface ContainerDevice {
  readonly hostPath: string
  readonly containerPath: string
  readonly readOnly: boolean
}

/** A missing value means unlimited. */
export interface ContainerResources extends CgroupLimits {
  readonly oomScoreAdjust?: number
}

export interface ContainerSecurity {
  readonly namespaces: SandboxNamespaces
  readonly runAsUser?: number
  readonly runAsUsername?: string
  readonly runAsGroup?: number
  readonly supplementalGroups: readonly number[]
  readonly privileged: boolean
  readonly readOnlyRoot: boolean
  readonly noNewPrivileges: boolean
  readonly addedCapabilities: readonly string[]
  readonly droppedCapabilities: readonly string[]
  readonly seccomp?: SecurityProfile
  readonly appArmor?: SecurityProfile
  /** Whether /proc is unmasked (procMount: Unmasked). */
  readonly unmaskedProc: boolean
  readonly seLinux?: { readonly user: string; readonly role: string; readonly type: string; readonly level: string }
}

/** Defaults for tests and simulated nodes. */
export const plainSandbox = (podUid: string, namespace: string, name: string): SandboxConfig => ({
  podUid,
  namespace,
  name,
  attempt: 0,
  hostname: name,
  logDirectory: '',
  labels: {},
  annotations: {},
  ports: [],
  cgroupParent: '',
  namespaces: { network: 'pod', processes: 'container', ipc: 'pod' },
  sysctls: {},
  security: { supplementalGroups: [], privileged: false },
  runtimeHandler: '',
})

export const plainContainer = (name: string, image: string, attempt = 0): ContainerConfig => ({
  name,
  image,
  imageId: image,
  attempt,
  command: [],
  arguments: [],
  workingDirectory: '',
  environment: [],
  mounts: [],
  devices: [],
  logFile: `${name}/${attempt}.log`,
  stdin: false,
  stdinOnce: false,
  tty: false,
  labels: {},
  annotations: {},
  resources: {},
  security: {
    namespaces: { network: 'pod', processes: 'container', ipc: 'pod' },
    supplementalGroups: [],
    privileged: false,
    readOnlyRoot: false,
    noNewPrivileges: false,
    addedCapabilities: [],
    droppedCapabilities: [],
    unmaskedProc: false,
  },
})

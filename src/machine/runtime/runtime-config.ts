// What a sandbox and a container are to be: all that a kubelet has worked out of a pod before the runtime is asked.

export interface SandboxConfig {
  readonly podUid: string
  readonly namespace: string
  readonly name: string
  /** Which sandbox of the pod it is, from 0. */
  readonly attempt: number
  /** Empty: the node's own. */
  readonly hostname: string
  /** Where the logs of its containers go; each container names its own file below it. */
  readonly logDirectory: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** Absent: the node's own. */
  readonly dns?: DnsConfig
  readonly ports: readonly HostPort[]
  /** Below which control group the pod's processes run. */
  readonly cgroupParent: string
  readonly namespaces: SandboxNamespaces
  readonly sysctls: Readonly<Record<string, string>>
  readonly security: SandboxSecurity
  /** Which way of running containers; empty: the runtime's usual one. */
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

/** With whom the kernel's namespaces are shared. */
export interface SandboxNamespaces {
  readonly network: 'pod' | 'node'
  readonly processes: 'container' | 'pod' | 'node'
  readonly ipc: 'pod' | 'node'
}

export interface SandboxSecurity {
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly supplementalGroups: readonly number[]
  /** Whether a container of the pod is privileged. */
  readonly privileged: boolean
  readonly seccomp?: SecurityProfile
}

export interface SecurityProfile {
  readonly type: 'RuntimeDefault' | 'Unconfined' | 'Localhost'
  /** The file or the name of a profile of the node's own. */
  readonly localhost?: string
}

export interface ContainerConfig {
  readonly name: string
  /** As the pod names it. */
  readonly image: string
  /** What is run: the id of a present image. */
  readonly imageId: string
  /** Which start of this container it is, from 0: it becomes the restart count. */
  readonly attempt: number
  /** Empty: the image's own. */
  readonly command: readonly string[]
  readonly arguments: readonly string[]
  /** Empty: the image's own. */
  readonly workingDirectory: string
  readonly environment: readonly { readonly name: string; readonly value: string }[]
  readonly mounts: readonly ContainerMount[]
  readonly devices: readonly ContainerDevice[]
  /** The log file, below the sandbox's log folder. */
  readonly logFile: string
  readonly stdin: boolean
  readonly stdinOnce: boolean
  readonly tty: boolean
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly resources: ContainerResources
  readonly security: ContainerSecurity
  /** Whose processes an ephemeral container sees. */
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

/** A device of the node that the container sees. */
export interface ContainerDevice {
  readonly hostPath: string
  readonly containerPath: string
  readonly readOnly: boolean
}

/** Absent is unlimited. */
export interface ContainerResources {
  readonly cpuShares?: number
  readonly cpuPeriodUs?: number
  readonly cpuQuotaUs?: number
  readonly memoryBytes?: number
  /** By the size of pages, as the kernel names it: `2MB`. */
  readonly hugepageBytes?: Readonly<Record<string, number>>
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
  /** All of /proc is shown as it is. */
  readonly unmaskedProc: boolean
  readonly seLinux?: { readonly user: string; readonly role: string; readonly type: string; readonly level: string }
}

/** What most sandboxes are; tests and simulated nodes say only what differs. */
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

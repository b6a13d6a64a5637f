// Converts sandbox and container configurations to CRI messages.
import type { ProtoInput } from '../../wire/protobuf/proto-message.ts'
import type {
  ContainerConfig,
  ContainerDevice,
  ContainerMount,
  ContainerResources,
  ContainerSecurity,
  SandboxConfig,
  SandboxNamespaces,
  SecurityProfile,
} from '../runtime/runtime-config.ts'
import { signal, type containerConfig } from './messages/container.ts'
import type { linuxContainerResources } from './messages/resources.ts'
import type { podSandboxConfig } from './messages/sandbox.ts'
import type { linuxContainerSecurityContext } from './messages/security.ts'
import { imageAnnotation, podUidLabel } from './status-messages.ts'

export const sandboxMessage = (config: SandboxConfig): ProtoInput<typeof podSandboxConfig> => ({
  metadata: { name: config.name, uid: config.podUid, namespace: config.namespace, attempt: config.attempt },
  hostname: config.hostname,
  logDirectory: config.logDirectory,
  dnsConfig: config.dns,
  portMappings: config.ports,
  labels: { ...config.labels, [podUidLabel]: config.podUid },
  annotations: config.annotations,
  linux: {
    cgroupParent: config.cgroupParent,
    sysctls: config.sysctls,
    securityContext: {
      namespaceOptions: namespaces(config.namespaces),
      runAsUser: number(config.security.runAsUser),
      runAsGroup: number(config.security.runAsGroup),
      supplementalGroups: config.security.supplementalGroups,
      privileged: config.security.privileged,
      seccomp: profile(config.security.seccomp),
    },
  },
})

export const containerMessage = (
  config: ContainerConfig,
  { podUid }: SandboxConfig,
): ProtoInput<typeof containerConfig> => ({
  metadata: { name: config.name, attempt: config.attempt },
  image: { image: config.imageId, userSpecifiedImage: config.image },
  command: config.command,
  args: config.arguments,
  workingDir: config.workingDirectory,
  envs: config.environment.map(({ name, value }) => ({ key: name, value: new TextEncoder().encode(value) })),
  mounts: config.mounts.map(mount),
  devices: config.devices.map(device),
  labels: { ...config.labels, [podUidLabel]: podUid },
  annotations: { ...config.annotations, [imageAnnotation]: config.image },
  logPath: config.logFile,
  stdin: config.stdin,
  stdinOnce: config.stdinOnce,
  tty: config.tty,
  stopSignal: signalOf(config.stopSignal),
  linux: {
    resources: resourcesMessage(config.resources),
    securityContext: security(config.security, config.targetId),
  },
})

export const resourcesMessage = (resources: ContainerResources): ProtoInput<typeof linuxContainerResources> => ({
  cpuShares: resources.cpuShares,
  cpuPeriod: resources.cpuPeriodUs,
  cpuQuota: resources.cpuQuotaUs,
  memoryLimitInBytes: resources.memoryBytes,
  oomScoreAdj: resources.oomScoreAdjust,
  hugepageLimits: Object.entries(resources.hugepageBytes ?? {}).map(([pageSize, limit]) => ({ pageSize, limit })),
})

function security(
  config: ContainerSecurity,
  targetId: string | undefined,
): ProtoInput<typeof linuxContainerSecurityContext> {
  const shared = namespaces(config.namespaces)
  return {
    capabilities: { addCapabilities: config.addedCapabilities, dropCapabilities: config.droppedCapabilities },
    privileged: config.privileged,
    namespaceOptions: targetId === undefined ? shared : { ...shared, pid: 'TARGET', targetId },
    runAsUser: number(config.runAsUser),
    runAsUsername: config.runAsUsername,
    runAsGroup: number(config.runAsGroup),
    readonlyRootfs: config.readOnlyRoot,
    supplementalGroups: config.supplementalGroups,
    noNewPrivs: config.noNewPrivileges,
    maskedPaths: config.unmaskedProc || config.privileged ? [] : maskedPaths,
    readonlyPaths: config.unmaskedProc || config.privileged ? [] : readOnlyPaths,
    seccomp: profile(config.seccomp),
    apparmor: profile(config.appArmor),
    selinuxOptions: config.seLinux,
  }
}

/** CRI's name of a signal: `SIGRTMIN+3` is `SIGRTMINPLUS3`. Without one the image's stop signal is used. */
const signalOf = (name: string | undefined) => {
  const wanted = name?.replace('+', 'PLUS').replace('-', 'MINUS')
  return signal.names.find((known) => known === wanted) ?? 'RUNTIME_DEFAULT'
}

/** Kernel files that are hidden from containers. */
const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
]

/** Kernel files that containers can read but not change. */
const readOnlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

const modes = { pod: 'POD', container: 'CONTAINER', node: 'NODE' } as const

const namespaces = ({ network, processes, ipc }: SandboxNamespaces) => ({
  network: modes[network],
  pid: modes[processes],
  ipc: modes[ipc],
})

const propagations = {
  private: 'PROPAGATION_PRIVATE',
  'host-to-container': 'PROPAGATION_HOST_TO_CONTAINER',
  bidirectional: 'PROPAGATION_BIDIRECTIONAL',
} as const

/** Device permissions: read, write and mknod. */
const device = ({ hostPath, containerPath, readOnly }: ContainerDevice) => ({
  hostPath,
  containerPath,
  permissions: readOnly ? 'r' : 'mrw',
})

const mount = ({ hostPath, containerPath, readOnly, recursiveReadOnly, propagation }: ContainerMount) => ({
  hostPath,
  containerPath,
  readonly: readOnly,
  recursiveReadOnly: recursiveReadOnly ?? false,
  propagation: propagations[propagation],
})

const profile = (of: SecurityProfile | undefined) =>
  of === undefined ? undefined : { profileType: of.type, localhostRef: of.localhost ?? '' }

const number = (value: number | undefined) => (value === undefined ? undefined : { value })

// Converts CRI messages to the types of the ContainerRuntime contract.
import type { Proto } from '../../wire/protobuf/proto-message.ts'
import type {
  RuntimeContainer,
  RuntimeFileSystem,
  RuntimeHandler,
  RuntimeImage,
  RuntimePod,
  RuntimeStats,
} from '../runtime/container-runtime.ts'
import type { containerStatus } from './messages/container.ts'
import type { image } from './messages/image.ts'
import type { runtimeHandler } from './messages/runtime.ts'
import type { containerStats, filesystemUsage } from './messages/stats.ts'
import type { podSandboxStatus } from './messages/sandbox.ts'

/** The label that upstream's kubelet sets, so that other tools find the pods. */
export const podUidLabel = 'io.kubernetes.pod.uid'
/** The image as the pod names it; the runtime only stores what it resolved to. */
export const imageAnnotation = 'coxswain.dev/image'

const nanosPerMs = 1_000_000n

export function podOf(
  sandbox: Proto<typeof podSandboxStatus>,
  containers: readonly Proto<typeof containerStatus>[],
): RuntimePod {
  const { ip = '', additionalIps = [] } = sandbox.network ?? {}
  return {
    podUid: sandbox.metadata?.uid ?? '',
    namespace: sandbox.metadata?.namespace ?? '',
    name: sandbox.metadata?.name ?? '',
    sandboxId: sandbox.id,
    attempt: sandbox.metadata?.attempt ?? 0,
    isReady: sandbox.state === 'SANDBOX_READY',
    ips: [ip, ...additionalIps.map((one) => one.ip)].filter((address) => address !== ''),
    containers: containers
      .toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0))
      .map(containerOf),
  }
}

const states = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'exited',
} as const

const containerOf = (status: Proto<typeof containerStatus>): RuntimeContainer => ({
  id: status.id,
  name: status.metadata?.name ?? '',
  image: status.annotations[imageAnnotation] ?? status.image?.image ?? '',
  imageId: status.imageRef,
  attempt: status.metadata?.attempt ?? 0,
  state: states[status.state],
  startedMs: Number(status.startedAt / nanosPerMs),
  finishedMs: Number(status.finishedAt / nanosPerMs),
  exitCode: status.exitCode,
  reason: status.reason,
  message: status.message,
  recursivelyReadOnly: status.mounts.filter((one) => one.recursiveReadOnly).map((one) => one.containerPath),
  logPath: status.logPath,
  ...(status.user?.linux === undefined ? {} : { user: status.user.linux }),
})

/** The built-in pause image, which is in no registry. */
export const pauseImage = 'coxswain.local/pause:1'

export const imageOf = ({
  id,
  repoTags,
  repoDigests,
  size,
  uid,
  username,
  pinned,
}: Proto<typeof image>): RuntimeImage => ({
  id,
  tags: repoTags,
  digests: repoDigests,
  sizeBytes: size,
  // The image specifies a user name, so the uid is unknown.
  uid: uid?.value ?? (username === '' ? 0 : undefined),
  username,
  ...(pinned || repoTags.includes(pauseImage) ? { isPinned: true } : {}),
})

export const fileSystemOf = ({ fsId, usedBytes, inodesUsed }: Proto<typeof filesystemUsage>): RuntimeFileSystem => ({
  path: fsId?.mountpoint ?? '',
  usedBytes: usedBytes?.value ?? 0,
  inodesUsed: inodesUsed?.value ?? 0,
})

export const handlerOf = ({ name, features }: Proto<typeof runtimeHandler>): RuntimeHandler => ({
  name,
  mountsRecursivelyReadOnly: features?.recursiveReadOnlyMounts ?? false,
})

export const statsOf = ({
  attributes,
  cpu,
  memory,
  swap,
  writableLayer,
}: Proto<typeof containerStats>): RuntimeStats => ({
  containerId: attributes?.id ?? '',
  podUid: attributes?.labels[podUidLabel] ?? '',
  name: attributes?.metadata?.name ?? '',
  usage: {
    cpuNanos: cpu?.usageCoreNanoSeconds?.value ?? 0,
    memoryBytes: memory?.usageBytes?.value ?? 0,
    workingSetBytes: memory?.workingSetBytes?.value ?? 0,
    rssBytes: memory?.rssBytes?.value ?? 0,
    pageFaults: memory?.pageFaults?.value ?? 0,
    majorPageFaults: memory?.majorPageFaults?.value ?? 0,
    swapBytes: swap?.swapUsageBytes?.value ?? 0,
  },
  layer: { bytes: writableLayer?.usedBytes?.value ?? 0, inodes: writableLayer?.inodesUsed?.value ?? 0 },
})

/** Debian's containerd is 1.6.20~ds1. Clients parse a semantic version, where such a suffix follows a plus sign. */
export const semanticVersion = (version: string): string => version.replace('~', '+')

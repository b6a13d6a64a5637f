// NodeStats: usage of the node and its pods, collected on request and cached briefly.
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import type { CgroupUsage } from '../../machine/cgroups/cgroups.ts'
import type { FileSystemLoad, InterfaceLoad, MemoryLoad } from '../../machine/load/host-load.ts'
import type { ContainerRuntime, RuntimeStats } from '../../machine/runtime/container-runtime.ts'
import type { Cgroups } from '../../machine/cgroups/cgroups.ts'
import type { Disk } from '../../machine/disk/disk.ts'
import type { HostLoad } from '../../machine/load/host-load.ts'
import { logDirectory, volumeDirectory, volumesDirectory, type NodePaths } from '../pod-config/node-paths.ts'
import { podCgroup } from '../resources/pod-cgroups.ts'
import type { VolumeUsage } from '../volumes/csi/csi-stats.ts'
import { volumeTypes } from '../volumes/volume-types.ts'
import { BriefCache } from './brief-cache.ts'
import { CpuRates, type CpuRound } from './cpu-rates.ts'
import type { MachineInfo } from './metrics-text.ts'
import { singleFileSystem, type DiskLayout } from './disk-layout.ts'
import { cpuAndMemoryOf } from './summary.ts'
import type {
  ContainerStats,
  CpuAndMemorySummary,
  CpuStats,
  FsStats,
  MemoryStats,
  NetworkStats,
  PodStats,
  Summary,
  VolumeStats,
} from './summary.ts'

export interface MeasuredHost {
  readonly cgroups: Cgroups
  readonly cgroupRoot: string
  readonly load: HostLoad
  readonly disk: Disk
  readonly paths: NodePaths
}

export interface NodeStatsDeps {
  readonly runtime: Pick<ContainerRuntime, 'stats' | 'fileSystems'>
  readonly host: MeasuredHost
  readonly pods: () => readonly Pod[]
  readonly nodeName: string
  readonly machine: MachineInfo
  readonly clock: Clock
  /** The usage of volumes of storage drivers, by the name of the volume in the pod; left out where there are none. */
  readonly driverVolumes?: (podUid: string) => ReadonlyMap<string, VolumeUsage>
}

/** How long a summary is cached. */
const cacheMs = 2_000
/** How long disk usage is cached, which requires walking the directories. */
const filesCacheMs = 10_000

interface Files {
  readonly logs: ReadonlyMap<string, number>
  readonly volumes: ReadonlyMap<string, number>
}

export class NodeStats {
  readonly #deps: NodeStatsDeps
  readonly #startedMs: number
  readonly #rates = new CpuRates()
  readonly #files = new Map<string, { readonly untilMs: number; readonly files: Promise<Files> }>()
  readonly #summary: BriefCache<Summary>
  readonly #cpuAndMemory: BriefCache<CpuAndMemorySummary>
  #layout: DiskLayout = singleFileSystem

  constructor(deps: NodeStatsDeps) {
    this.#deps = deps
    this.#startedMs = deps.clock.nowMs()
    this.#summary = new BriefCache(deps.clock, cacheMs)
    this.#cpuAndMemory = new BriefCache(deps.clock, cacheMs)
  }

  get machine(): MachineInfo {
    return this.#deps.machine
  }

  /** The file systems found by the last collection. */
  get layout(): DiskLayout {
    return this.#layout
  }

  summary(signal: AbortSignal): Promise<Summary> {
    return this.#summary.getOrCollect(() => this.#collect(signal))
  }

  /** A summary that was collected now, without the cache. */
  fresh(signal: AbortSignal): Promise<Summary> {
    this.#summary.clear()
    return this.summary(signal)
  }

  /** The part of the summary that the metrics API needs. Its collection reads no directories. */
  async cpuAndMemory(signal: AbortSignal): Promise<CpuAndMemorySummary> {
    const whole = this.#summary.current
    return whole === undefined
      ? this.#cpuAndMemory.getOrCollect(() => this.#collectCpuAndMemory(signal))
      : cpuAndMemoryOf(await whole)
  }

  async #collectCpuAndMemory(signal: AbortSignal): Promise<CpuAndMemorySummary> {
    const { runtime, host } = this.#deps
    const { load } = host
    const [containers, cpuNanos, memory] = await Promise.all([runtime.stats(signal), load.cpuNanos(), load.memory()])
    const round = this.#startRound()
    const pods: CpuAndMemorySummary['pods'][number][] = []
    for (const [pod, own] of this.#measuredPods(containers)) pods.push((await this.#podLoad(pod, own, round)).stats)
    const node = this.#nodeLoad(cpuNanos, memory, round)
    round.rates.finish()
    return { node, pods }
  }

  #startRound(): Round {
    const nowMs = this.#deps.clock.nowMs()
    return { rates: this.#rates.round(), nowMs, time: rfc3339(nowMs) }
  }

  /** The pods that have containers, with these. */
  *#measuredPods(containers: readonly RuntimeStats[]): Iterable<[Pod, readonly RuntimeStats[]]> {
    const byPod = Map.groupBy(containers, ({ podUid }) => podUid)
    for (const pod of this.#deps.pods()) {
      const own = isPodFinished(pod) ? undefined : byPod.get(pod.metadata.uid)
      if (own !== undefined) yield [pod, own]
    }
  }

  async #collect(signal: AbortSignal): Promise<Summary> {
    const { runtime, host } = this.#deps
    const { load, disk, paths } = host
    // The directory is missing until the node has its first pod.
    if ((await disk.kindOf(paths.pods)) === undefined) await disk.makeDirectory(paths.pods, 0o750)
    const [containers, fileSystems, cpuNanos, memory, nodeFs, network, processes] = await Promise.all([
      runtime.stats(signal),
      runtime.fileSystems(signal),
      load.cpuNanos(),
      load.memory(),
      load.fileSystem(paths.pods),
      load.network(),
      load.processes(),
    ])
    const imageFs = await load.fileSystem(fileSystems.images.path)
    const containerFs =
      fileSystems.containers === undefined ? imageFs : await load.fileSystem(fileSystems.containers.path)
    this.#layout = { node: nodeFs.device, images: imageFs.device, containers: containerFs.device }
    const round = this.#startRound()
    const { time } = round
    const pods: PodStats[] = []
    for (const [pod, own] of this.#measuredPods(containers))
      pods.push(await this.#podStats(pod, own, { nodeFs, containerFs }, round))
    const node = this.#nodeLoad(cpuNanos, memory, round)
    const layerBytes = containers.reduce((sum, { layer }) => sum + layer.bytes, 0)
    round.rates.finish()
    const known = new Set(pods.map(({ podRef }) => podRef.uid))
    for (const uid of this.#files.keys()) if (!known.has(uid)) this.#files.delete(uid)
    return {
      node: {
        ...node,
        swap: {
          time,
          swapAvailableBytes: memory.swapCapacityBytes - memory.swapUsedBytes,
          swapUsageBytes: memory.swapUsedBytes,
        },
        ...networkStats(network, time),
        fs: fsStats(nodeFs, nodeFs.usedBytes, time),
        runtime: {
          imageFs: fsStats(imageFs, fileSystems.images.usedBytes, time, fileSystems.images.inodesUsed),
          containerFs: fsStats(containerFs, fileSystems.containers?.usedBytes ?? layerBytes, time),
        },
        rlimit: { time, maxpid: processes.max, curproc: processes.running },
      },
      pods,
    }
  }

  #nodeLoad(cpuNanos: number, memory: MemoryLoad, round: Round): CpuAndMemorySummary['node'] {
    return {
      nodeName: this.#deps.nodeName,
      startTime: rfc3339(this.#startedMs),
      cpu: cpuStats('node', cpuNanos, this.#startedMs, round),
      memory: nodeMemory(memory, round.time),
    }
  }

  async #podLoad(pod: Pod, own: readonly RuntimeStats[], round: Round): Promise<PodLoad> {
    const { host } = this.#deps
    const { time } = round
    const group = await host.cgroups.usage(podCgroup(host.cgroupRoot, pod))
    // Simulated containers have no cgroup: the usage of the pod is the sum of its containers'.
    const whole = group === undefined || group.processes === 0 ? sumOf(own) : group
    const podStart = pod.status.startTime ?? time
    const podStartMs = Date.parse(podStart)
    const containers = own.map(({ name, containerId, usage }) => {
      const startTime = startOf(pod, name) ?? podStart
      const cpu = cpuStats(containerId, usage.cpuNanos, Date.parse(startTime), round)
      return { name, startTime, cpu, memory: memoryStats(usage, time) }
    })
    const stats = {
      podRef: { name: pod.metadata.name, namespace: namespaceOf(pod), uid: pod.metadata.uid },
      startTime: podStart,
      containers,
      cpu: cpuStats(pod.metadata.uid, whole.cpuNanos, podStartMs, round),
      memory: memoryStats(whole, time),
    }
    return { stats, whole }
  }

  async #podStats(
    pod: Pod,
    own: readonly RuntimeStats[],
    { nodeFs: fs, containerFs }: { readonly nodeFs: FileSystemLoad; readonly containerFs: FileSystemLoad },
    round: Round,
  ): Promise<PodStats> {
    const { host, driverVolumes } = this.#deps
    const { time } = round
    const { logs, volumes } = await this.#filesOf(pod)
    const network = pod.spec.hostNetwork ? [] : await this.#networkOf(podCgroup(host.cgroupRoot, pod))
    const { stats, whole } = await this.#podLoad(pod, own, round)
    const containers = stats.containers.map((load, index): ContainerStats => {
      const { usage, layer } = own[index] as RuntimeStats
      return {
        ...load,
        swap: { time, swapUsageBytes: usage.swapBytes },
        rootfs: fsStats(containerFs, layer.bytes, time, layer.inodes),
        logs: fsStats(fs, logs.get(load.name) ?? 0, time),
      }
    })
    const volume = [...volumes].map(([name, bytes]): VolumeStats => ({ name, ...fsStats(fs, bytes, time) }))
    const onDisk = volume.filter(({ name }) => !isInMemory(pod, name))
    const ofDrivers = [...(driverVolumes?.(pod.metadata.uid) ?? [])].map(([name, usage]): VolumeStats => ({
      name,
      ...usage,
      ...claimOf(pod, name),
    }))
    const files = [...containers.flatMap((one) => [one.rootfs, one.logs]), ...onDisk]
    return {
      ...stats,
      containers,
      swap: { time, swapUsageBytes: whole.swapBytes },
      ...networkStats(network, time),
      volume: [...volume, ...ofDrivers],
      'ephemeral-storage': fsStats(
        fs,
        files.reduce((sum, { usedBytes = 0 }) => sum + usedBytes, 0),
        time,
      ),
      process_stats: { process_count: whole.processes },
    }
  }

  /** The containers of a pod share one network namespace. */
  async #networkOf(cgroup: string): Promise<readonly InterfaceLoad[]> {
    const { cgroups, load } = this.#deps.host
    const process = await cgroups.process(cgroup)
    return process === undefined ? [] : load.network(process)
  }

  #filesOf(pod: Pod): Promise<Files> {
    const nowMs = this.#deps.clock.monotonicMs()
    const known = this.#files.get(pod.metadata.uid)
    if (known !== undefined && known.untilMs > nowMs) return known.files
    const files = this.#measureFiles(pod)
    this.#files.set(pod.metadata.uid, { untilMs: nowMs + filesCacheMs, files })
    files.catch(() => this.#files.delete(pod.metadata.uid))
    return files
  }

  async #measureFiles(pod: Pod): Promise<Files> {
    const { disk, paths } = this.#deps.host
    const logs = new Map<string, number>()
    for (const { name } of pod.spec.containers)
      logs.set(name, await disk.usedBytes(`${logDirectory(paths, pod)}/${name}`))
    const volumes = new Map<string, number>()
    if ((await disk.kindOf(volumesDirectory(paths, pod.metadata.uid))) === undefined) return { logs, volumes }
    for (const volume of pod.spec.volumes ?? []) {
      const type = volumeTypes.find(({ name }) => volume[name] !== undefined)
      // The usage of volumes of storage drivers is reported by their drivers.
      if (type === undefined || volume.csi !== undefined) continue
      const directory = volumeDirectory(paths, pod.metadata.uid, type.directoryName, volume.name)
      if ((await disk.kindOf(directory)) !== undefined) volumes.set(volume.name, await disk.usedBytes(directory))
    }
    return { logs, volumes }
  }
}

/** One collection of rates. */
interface Round {
  readonly rates: CpuRound
  readonly nowMs: number
  readonly time: string
}

interface PodLoad {
  readonly stats: CpuAndMemorySummary['pods'][number]
  readonly whole: CgroupUsage
}

const cpuStats = (key: string, nanos: number, startedMs: number, { rates, nowMs, time }: Round): CpuStats => ({
  time,
  usageNanoCores: rates.nanoCores(key, nanos, startedMs, nowMs),
  usageCoreNanoSeconds: nanos,
})

const claimOf = (pod: Pod, name: string): Pick<VolumeStats, 'pvcRef'> => {
  const volume = pod.spec.volumes?.find((one) => one.name === name)
  const namespace = namespaceOf(pod)
  if (volume?.persistentVolumeClaim !== undefined)
    return { pvcRef: { name: volume.persistentVolumeClaim.claimName, namespace } }
  return volume?.ephemeral === undefined ? {} : { pvcRef: { name: `${pod.metadata.name}-${name}`, namespace } }
}

const isInMemory = ({ spec }: Pod, name: string): boolean =>
  spec.volumes?.some(
    (volume) =>
      volume.name === name &&
      (volume.emptyDir?.medium === 'Memory' || volume.secret !== undefined || volume.projected !== undefined),
  ) ?? false

function startOf({ status }: Pod, name: string): string | undefined {
  const isNamed = (one: { readonly name: string }) => one.name === name
  const container = status.containerStatuses?.find(isNamed) ?? status.initContainerStatuses?.find(isNamed)
  return container?.state?.running?.startedAt ?? undefined
}

function sumOf(own: readonly RuntimeStats[]): CgroupUsage {
  const sum = (of: (usage: RuntimeStats['usage']) => number) => own.reduce((total, { usage }) => total + of(usage), 0)
  return {
    cpuNanos: sum(({ cpuNanos }) => cpuNanos),
    memoryBytes: sum(({ memoryBytes }) => memoryBytes),
    workingSetBytes: sum(({ workingSetBytes }) => workingSetBytes),
    rssBytes: sum(({ rssBytes }) => rssBytes),
    pageFaults: sum(({ pageFaults }) => pageFaults),
    majorPageFaults: sum(({ majorPageFaults }) => majorPageFaults),
    swapBytes: sum(({ swapBytes }) => swapBytes),
    processes: own.length,
  }
}

const memoryStats = (usage: RuntimeStats['usage'], time: string): MemoryStats => ({
  time,
  usageBytes: usage.memoryBytes,
  workingSetBytes: usage.workingSetBytes,
  rssBytes: usage.rssBytes,
  pageFaults: usage.pageFaults,
  majorPageFaults: usage.majorPageFaults,
})

const networkStats = (interfaces: readonly InterfaceLoad[], time: string): { readonly network?: NetworkStats } => {
  const [first] = interfaces
  return first === undefined ? {} : { network: { time, ...first, interfaces } }
}

const nodeMemory = (memory: MemoryLoad, time: string): MemoryStats => ({
  time,
  availableBytes: memory.availableBytes,
  usageBytes: memory.usedBytes,
  workingSetBytes: memory.workingSetBytes,
  rssBytes: memory.rssBytes,
  pageFaults: 0,
  majorPageFaults: 0,
})

const fsStats = (fs: FileSystemLoad, usedBytes: number, time: string, inodesUsed?: number): FsStats => ({
  time,
  availableBytes: fs.availableBytes,
  capacityBytes: fs.capacityBytes,
  usedBytes,
  inodesFree: fs.inodesFree,
  inodes: fs.inodes,
  inodesUsed: inodesUsed ?? fs.inodes - fs.inodesFree,
})

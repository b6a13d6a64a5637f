// A real node: this machine, with a containerd that is started below the data directory, or with an existing runtime.
import { availableParallelism, arch, hostname, release, totalmem } from 'node:os'
import { readFileSync } from 'node:fs'
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { NodeHost } from '../../kubelet/node/node-host.ts'
import type { MachineInfo, NodeDescription } from '../../kubelet/node/node-status.ts'
import { allocatableOf, hugePageAmounts } from '../../kubelet/node/allocatable.ts'
import type { KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { parseResolvConf, type ClusterDns } from '../../kubelet/pod-config/dns.ts'
import { NodeCgroups } from '../../machine/cgroups/node-cgroups.ts'
import { nodeListeningPorts } from '../../machine/listening-ports/node-listening-ports.ts'
import { NodeHostLoad } from '../../machine/load/node-host-load.ts'
import { nodeKernelSettings } from '../../machine/kernel-settings/node-kernel-settings.ts'
import { Containerd } from '../../machine/cri/containerd.ts'
import { ctrAt } from '../../machine/cri/ctr.ts'
import { CtrImageMounts } from '../../machine/cri/image-mounts.ts'
import { grpcCsiDrivers } from '../../machine/csi/grpc-csi-drivers.ts'
import { CriRuntime } from '../../machine/cri/cri-runtime.ts'
import { snapshotterIn, type Snapshotter } from '../../machine/cri/snapshotter.ts'
import { NodeLogFiles } from '../../machine/logs/node-log-files.ts'
import { NodeSystemLogs } from '../../machine/logs/node-system-logs.ts'
import { manifestUrlSource, manifestDirectorySource } from '../../machine/manifests/node-manifests.ts'
import { NodePluginSockets } from '../../machine/plugin-sockets/node-plugin-sockets.ts'
import { nodePodDialer } from '../../machine/dialer/node-pod-dialer.ts'
import { nodeSendOn } from '../../platform/node/http/outbound.ts'
import { ManualShutdown } from '../../machine/shutdown/manual-shutdown.ts'
import { NodeLogind } from '../../machine/shutdown/node-logind.ts'
import type { Disk } from '../../machine/disk/disk.ts'
import { NodeDisk } from '../../machine/disk/node-disk.ts'
import { ProjectQuotas } from '../../machine/quotas/project-quotas.ts'
import type { Processes } from '../../platform/process/processes.ts'
import { NodeVolumes } from '../../storage/local-path/node-volumes.ts'
import type { PolicyAgent } from '../../network-policy/policy-agent.ts'
import type { Platform } from '../../platform/platform.ts'
import { loadImageFolder } from './image-folder.ts'
import { lockMachine } from './machine-network.ts'
import { provideNodeNetwork, type NodeNetwork } from './node-network.ts'
import { removeNodeNetwork } from './remove-node-network.ts'
import type { KubeletServerHolder } from './kubelet-port.ts'
import { PodProtection } from './pod-protection.ts'
import { selfTest } from './self-test.ts'
import { stopPods } from './stop-pods.ts'
import { cniPluginDirectory } from './container-prerequisites.ts'

export interface RealNode {
  readonly settings: KubeletSettings
  readonly runtime: CriRuntime
  readonly description: NodeDescription
  readonly logs: NodeLogFiles
  readonly systemLogs: NodeSystemLogs
  host(services: () => readonly Service[]): NodeHost
  /** Volumes of the StorageClass `local-path`. */
  readonly volumes: NodeVolumes
  /** Where its kubelet's server is set, if it has a port. */
  readonly server?: KubeletServerHolder | undefined
  /** The network of the ranges that were known before the start. */
  readonly network: NodeNetwork | undefined
  /** Pods start when this agent protects them. */
  readonly usePolicies: (agent: PolicyAgent) => void
  /** Configures pod addresses of these ranges. Undefined if the runtime has its own network, which is kept. */
  provideNetwork(ranges: NodeNetworkRanges, signal: AbortSignal): Promise<NodeNetwork | undefined>
  /** Stops the pods as at a system shutdown, if this process announces shutdowns. */
  shutDown(): Promise<void>
  /** Stops all containers and removes their network. */
  stopPods(): Promise<void>
  /** Disconnects from the runtime; containers keep running. */
  stop(): Promise<void>
}

export interface RealNodeOptions {
  readonly settings: KubeletSettings
  readonly dataDirectory: string
  readonly hostIp: string
  /** The port of the kubelet, if it has one. */
  readonly kubeletPort?: number | undefined
  /** The hostname when omitted. */
  readonly name?: string
  /** Known before the start; without them the cluster assigns ranges of pods. */
  readonly ranges?: NodeNetworkRanges
  /** Ports of the Ingress proxy in this process. A load balancer may take them. */
  readonly ingressPorts?: readonly number[]
  /** The socket of an existing runtime; without it a containerd is started. */
  readonly runtimeSocket?: string
  /** Runs while that runtime does not respond, with the node as far as it is known. */
  readonly whileUnavailable?: (description: NodeDescription, signal: AbortSignal) => Promise<void>
}

export interface NodeNetworkRanges {
  readonly podRanges: readonly string[]
  /** The addresses of Services. */
  readonly serviceRanges: readonly string[]
}

export interface RealNodeDeps {
  readonly platform: Platform
  readonly clock: Clock
  readonly log: Log
}

/** The default snapshotter of an existing containerd. */
export const containerdSnapshotter = 'overlayfs'
/** Records the control group of the pods, which the cleanup needs. */
export const cgroupFile = (directory: string): string => `${directory}/cgroup`

/** As upstream, for a runtime that does not report its version. */
const unknownRuntime = 'remote://Unknown'

const ownSocket = (directory: string): string => `${directory}/containerd/containerd.sock`

/** Timeout of one connection attempt, pause before the next, and the time after which the start fails. */
const connectMsMax = 5_000
const connectAgainMs = 500
const unavailableMsMax = 600_000

/** Time limit for stopping all containers. */
const stopPodsMsMax = 20_000

export async function startRealNode(
  options: RealNodeOptions,
  deps: RealNodeDeps,
  signal: AbortSignal,
): Promise<RealNode> {
  const { dataDirectory, hostIp, ranges, settings, runtimeSocket, whileUnavailable } = options
  const { platform, clock, log } = deps
  const directory = `${dataDirectory}/node`
  const networkDirectory = `${directory}/net.d`
  const provideNetwork = async (provided: NodeNetworkRanges, stop: AbortSignal) =>
    runtimeSocket === undefined
      ? provideNodeNetwork(
          {
            ...provided,
            directory,
            nodeAddress: hostIp,
            configurationDirectory: networkDirectory,
          },
          { ...platform, kernelSettings: nodeKernelSettings() },
          stop,
        )
      : undefined
  const protection = new PodProtection(runtimeSocket === undefined)
  await using starting = new AsyncDisposableStack()
  if (runtimeSocket === undefined) starting.use(await lockMachine())
  const network = ranges === undefined ? undefined : await provideNetwork(ranges, signal)
  if (ranges !== undefined && network === undefined) protection.giveUp()
  const cgroupRoot = `${settings.cgroupRoot.replace(/\/$/, '')}/kubepods`
  await platform.files.makeDirectory(directory)
  await platform.files.write(cgroupFile(directory), cgroupRoot)
  const load = new NodeHostLoad()
  const cgroups = await NodeCgroups.open()
  const machine = await describeMachine(options, load)
  const onUnavailable = (stop: AbortSignal) => whileUnavailable?.(machine, stop) ?? Promise.resolve()
  const { runtime, stop: stopRuntime } =
    runtimeSocket === undefined
      ? await startContainerd(directory, networkDirectory, { platform, clock, log }, signal)
      : await connectRuntime(runtimeSocket, { platform, clock, log, onUnavailable }, signal)
  starting.defer(stopRuntime)
  if (runtimeSocket === undefined) {
    await selfTest({ runtime, cgroups, clock, cgroupRoot }, signal).catch(async (error: unknown) => {
      // Without containers nothing uses the network. The reason of the test is more useful than that of a failed removal.
      if (network !== undefined) await removeNodeNetwork(clock, signal).catch(() => {})
      throw error
    })
    const ctr = ctrAt(platform.processes, ownSocket(directory))
    const loading = { ...platform, runtime, ctr, snapshotter: ownSnapshotter(directory), clock, log }
    await loadImageFolder(`${dataDirectory}/images`, `${directory}/loaded-images.json`, loading, signal)
  }
  const manualShutdown = settings.terminatesPodsOnSigterm ? new ManualShutdown() : undefined
  const shutdown = manualShutdown ?? new NodeLogind({ processes: platform.processes, clock })
  const logs = new NodeLogFiles(`${directory}/logs`)
  const host = realHost(options, deps, { directory, runtime, logs, load, cgroups, cgroupRoot, shutdown, protection })
  const started = starting.move()
  return {
    settings,
    runtime,
    description: { ...machine, runtime: `${runtime.name}://${runtime.version}` },
    logs,
    systemLogs: new NodeSystemLogs('/var/log'),
    host: (services) => ({ ...host, services, dns: clusterDns(host.dns, services) }),
    volumes: nodeVolumes(directory, host.disk, platform.processes),
    network,
    usePolicies: (agent) => protection.use(agent),
    provideNetwork: async (given, stop) => {
      const provided = await provideNetwork(given, stop)
      if (provided === undefined) protection.giveUp()
      return provided
    },
    shutDown: () => manualShutdown?.announce() ?? Promise.resolve(),
    stopPods: () => stopAllPods(runtime, deps),
    stop: () => started.disposeAsync(),
  }
}

const nodeVolumes = (directory: string, disk: Disk, processes: Processes): NodeVolumes =>
  new NodeVolumes({
    directory: `${directory}/local-path`,
    disk,
    quotas: new ProjectQuotas({ processes, mountInfo: () => Promise.resolve(textOf('/proc/self/mountinfo')) }),
    isVolatile: false,
  })

/** The node as far as it is known without its runtime. */
async function describeMachine(
  { dataDirectory, hostIp, kubeletPort, ranges, settings, name = hostname() }: RealNodeOptions,
  load: NodeHostLoad,
): Promise<NodeDescription> {
  const { capacityBytes } = await load.fileSystem(dataDirectory)
  const hugePages = await load.hugePages()
  const hugeBytes = hugePages.reduce((sum, { pageBytes, pages }) => sum + pageBytes * pages, 0)
  const capacity = {
    cpu: String(availableParallelism()),
    memory: `${Math.floor(totalmem() / 1024)}Ki`,
    'ephemeral-storage': `${Math.floor(capacityBytes / 1024)}Ki`,
    ...hugePageAmounts(hugePages),
    pods: String(settings.podsMax),
  }
  const { kubeReserved, systemReserved, thresholds } = settings
  return {
    name: name.toLowerCase(),
    hostIp,
    ...(kubeletPort === undefined ? {} : { kubeletPort }),
    capacity,
    allocatable: allocatableOf(capacity, [kubeReserved, systemReserved, { memory: String(hugeBytes) }], thresholds),
    runtime: unknownRuntime,
    operatingSystem: 'linux',
    architecture: architecture(),
    machine: machineFacts(),
    ...(ranges === undefined ? {} : { podCidrs: ranges.podRanges }),
  }
}

interface RealHostDeps {
  readonly directory: string
  readonly runtime: CriRuntime
  readonly logs: NodeLogFiles
  readonly load: NodeHostLoad
  readonly cgroups: NodeCgroups
  readonly cgroupRoot: string
  readonly shutdown: NodeHost['shutdown']
  readonly protection: PodProtection
}

/** The host of the kubelet, without the cluster's services. */
function realHost(
  { settings, runtimeSocket, hostIp, ingressPorts }: RealNodeOptions,
  { platform, clock }: RealNodeDeps,
  { directory, runtime, logs, load, cgroups, cgroupRoot, shutdown, protection }: RealHostDeps,
): Omit<NodeHost, 'services'> {
  const imageMounts =
    runtime.name === 'containerd'
      ? new CtrImageMounts(platform.processes, {
          socketPath: runtimeSocket ?? ownSocket(directory),
          snapshotter: runtimeSocket === undefined ? ownSnapshotter(directory) : containerdSnapshotter,
        })
      : undefined
  const { manifestDirectory = `${directory}/manifests`, manifestUrl, manifestUrlIntervalMs } = settings
  const { servers, domain, resolvConfPath } = settings.dns
  return {
    disk: new NodeDisk(),
    logs,
    dialer: nodePodDialer(platform.http2, clock),
    sendOn: nodeSendOn,
    paths: { pods: `${directory}/pods`, logs: `${directory}/logs` },
    dns: {
      servers,
      domain,
      nodeAddress: hostIp,
      node: resolvConfPath === '' ? undefined : parseResolvConf(textOf(resolvConfPath)),
    },
    cgroups,
    cgroupRoot,
    load,
    shutdown,
    listeningPorts: nodeListeningPorts(ingressPorts),
    protectPod: (pod, addresses, signal) => protection.protect(pod, addresses, signal),
    ...(imageMounts === undefined ? {} : { imageMounts }),
    plugins: {
      sockets: new NodePluginSockets(`${directory}/plugins_registry`, clock),
      drivers: grpcCsiDrivers({ http2: platform.http2, clock }),
      sha256: (text) => platform.crypto.sha256(text).toHex(),
    },
    manifests: [
      manifestDirectorySource(manifestDirectory, clock),
      ...(manifestUrl === undefined
        ? []
        : [manifestUrlSource(manifestUrl, {}, { outbound: platform.outbound, clock, everyMs: manifestUrlIntervalMs })]),
    ],
    digest: (text) => platform.crypto.sha256(text).toHex().slice(0, 32),
  }
}

/** Without `--cluster-dns`, pods use the addresses of the Service `kube-dns`, if there is one. */
const clusterDns = (own: ClusterDns, services: () => readonly Service[]): ClusterDns => ({
  domain: own.domain,
  node: own.node,
  nodeAddress: own.nodeAddress,
  get servers() {
    return own.servers.length > 0 ? own.servers : (services().find(isDnsService)?.spec.clusterIPs ?? [])
  },
})

const isDnsService = ({ metadata, spec }: Service): boolean =>
  metadata.name === 'kube-dns' && metadata.namespace === 'kube-system' && spec.clusterIP !== 'None'

async function stopAllPods(runtime: CriRuntime, { clock }: RealNodeDeps): Promise<void> {
  const bound = new AbortController()
  const timer = clock.after(stopPodsMsMax, () => bound.abort())
  try {
    await stopPods(runtime, bound.signal)
    await removeNodeNetwork(clock, bound.signal)
  } finally {
    timer.cancel()
  }
}

interface StartedRuntime {
  readonly runtime: CriRuntime
  stop(): Promise<void>
}

export async function startContainerd(
  directory: string,
  networkDirectory: string,
  { platform, clock, log }: RealNodeDeps,
  signal: AbortSignal,
): Promise<StartedRuntime> {
  const containerd = await Containerd.start(
    {
      directory: `${directory}/containerd`,
      architecture: architecture(),
      networkDirectory,
      networkPluginsDirectory: cniPluginDirectory() ?? '/opt/cni/bin',
      mayLowerOomScore: mayLowerOomScore(),
      snapshotter: ownSnapshotter(directory),
    },
    { ...platform, clock, log, sha256: (bytes) => platform.crypto.sha256(bytes).toHex() },
    signal,
  )
  return { runtime: containerd.runtime, stop: () => containerd.stop() }
}

/** An existing runtime has its own network configuration. */
async function connectRuntime(
  socketPath: string,
  {
    platform,
    clock,
    log,
    onUnavailable,
  }: RealNodeDeps & { readonly onUnavailable: (stop: AbortSignal) => Promise<void> },
  signal: AbortSignal,
): Promise<StartedRuntime> {
  await using waiting = new TaskGroup({ signal })
  const untilMs = clock.monotonicMs() + unavailableMsMax
  for (let tries = 0; ; tries++) {
    const late = new AbortController()
    const timer = clock.after(connectMsMax, () => late.abort())
    try {
      const bound = AbortSignal.any([signal, late.signal])
      const runtime = await CriRuntime.connect(socketPath, { ...platform, clock, log }, bound)
      return { runtime, stop: () => Promise.resolve(runtime.close()) }
    } catch (error) {
      signal.throwIfAborted()
      if (clock.monotonicMs() > untilMs)
        throw new Error(`no container runtime responds at ${socketPath}`, { cause: error })
      if (tries === 0) {
        log.warn('the container runtime does not respond yet', { socket: socketPath, error: errorText(error) })
        waiting.start('runtime unavailable', onUnavailable)
      }
      await clock.sleep(connectAgainMs, signal)
    } finally {
      timer.cancel()
    }
  }
}

const architecture = (): 'arm64' | 'amd64' => (arch() === 'arm64' ? 'arm64' : 'amd64')

/** CAP_SYS_RESOURCE: required to lower OOM scores. */
const mayLowerOomScore = (): boolean => {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(textOf('/proc/self/status'))?.[1] ?? '0'
  return (BigInt(`0x${effective}`) & (1n << 24n)) !== 0n
}

/** Of the containerd that is started in this directory. */
export const ownSnapshotter = (directory: string): Snapshotter => snapshotterIn(directory, textOf('/proc/mounts'))

const machineFacts = (): MachineInfo => ({
  machineId: (textOf('/etc/machine-id') || textOf('/var/lib/dbus/machine-id')).trim(),
  systemUuid: textOf('/sys/class/dmi/id/product_uuid').trim(),
  bootId: textOf('/proc/sys/kernel/random/boot_id').trim(),
  kernelVersion: release(),
  osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(textOf('/etc/os-release'))?.[1] ?? '',
})

/** Empty when the file is missing or not readable. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

// A real node: this machine, with a containerd that is started below the data directory, or with an existing runtime.
import { availableParallelism, arch, hostname, release, totalmem } from 'node:os'
import { existsSync, readFileSync } from 'node:fs'
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { NodeHost } from '../../kubelet/node/node-host.ts'
import type { MachineInfo, NodeDescription } from '../../kubelet/node/node-status.ts'
import { allocatableOf, hugePageAmounts } from '../../kubelet/node/allocatable.ts'
import type { KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { parseResolvConf } from '../../kubelet/pod-config/dns.ts'
import { NodeCgroups } from '../../machine/cgroups/node-cgroups.ts'
import { NodeHostLoad } from '../../machine/load/node-host-load.ts'
import { writeBridgeNetwork } from '../../machine/cni/bridge-network.ts'
import { Containerd } from '../../machine/cri/containerd.ts'
import { CtrImageMounts } from '../../machine/cri/image-mounts.ts'
import { CriRuntime } from '../../machine/cri/cri-runtime.ts'
import { NodeLogFiles } from '../../machine/logs/node-log-files.ts'
import { NodeSystemLogs } from '../../machine/logs/node-system-logs.ts'
import { manifestUrlSource, manifestDirectorySource } from '../../machine/manifests/node-manifests.ts'
import { nodePodDialer } from '../../machine/dialer/node-pod-dialer.ts'
import { ManualShutdown } from '../../machine/shutdown/manual-shutdown.ts'
import { NodeLogind } from '../../machine/shutdown/node-logind.ts'
import { NodeDisk } from '../../machine/disk/node-disk.ts'
import type { Platform } from '../../platform/platform.ts'
import { bridge, machineNetworks, removeBridge, lockMachine, podRangeConflict } from './machine-network.ts'
import { stopPods } from './stop-pods.ts'
import { cniPluginDirectory } from './container-prerequisites.ts'

export interface RealNode {
  readonly settings: KubeletSettings
  readonly runtime: CriRuntime
  readonly description: NodeDescription
  readonly logs: NodeLogFiles
  readonly systemLogs: NodeSystemLogs
  host(services: () => readonly Service[]): NodeHost
  /** Configures pod addresses of this range. A network configuration that is not ours is kept. */
  provideNetwork(podCidr: string): Promise<void>
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
  /** The hostname when omitted. */
  readonly name?: string
  /** Known before the start; without it the cluster assigns a range. */
  readonly podCidr?: string
  /** The socket of an existing runtime; without it a containerd is started. */
  readonly runtimeSocket?: string
  /** Runs while that runtime does not respond, with the node as far as it is known. */
  readonly whileUnavailable?: (description: NodeDescription, signal: AbortSignal) => Promise<void>
}

export interface RealNodeDeps {
  readonly platform: Platform
  readonly clock: Clock
  readonly log: Log
}

/** The default snapshotter of an existing containerd. */
export const containerdSnapshotter = 'overlayfs'
/** Records the control group of the pods, which the cleanup needs. */
export const cgroupFile = (folder: string): string => `${folder}/cgroup`

/** As upstream, for a runtime that does not report its version. */
const unknownRuntime = 'remote://Unknown'

/** Timeout of one connection attempt, pause before the next, and the time after which the start fails. */
const connectMsMax = 5_000
const connectAgainMs = 500
const unavailableMsMax = 600_000

/** Time limit for stopping all containers. */
const stopPodsMsMax = 20_000

export async function startRealNode(
  {
    dataDirectory,
    hostIp,
    podCidr,
    settings,
    runtimeSocket,
    whileUnavailable: whileSilent,
    name = hostname(),
  }: RealNodeOptions,
  { platform, clock, log }: RealNodeDeps,
  signal: AbortSignal,
): Promise<RealNode> {
  const folder = `${dataDirectory}/node`
  const networkFolder = `${folder}/net.d`
  const network = { bridge, addressesDirectory: `${folder}/addresses`, masquerades: masquerades() }
  const provide = async (range: string) => {
    const taken = podRangeConflict(range, machineNetworks())
    if (taken !== undefined) throw new Error(taken)
    await writeBridgeNetwork(networkFolder, { ...network, podCidr: range }, platform.files)
  }
  await using starting = new AsyncDisposableStack()
  if (runtimeSocket === undefined) starting.use(await lockMachine())
  if (podCidr !== undefined && runtimeSocket === undefined) await provide(podCidr)
  const cgroupRoot = `${settings.cgroupRoot.replace(/\/$/, '')}/kubepods`
  await platform.files.makeDirectory(folder)
  await platform.files.write(cgroupFile(folder), cgroupRoot)
  const load = new NodeHostLoad()
  const cgroups = await NodeCgroups.open()
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
  const silent: NodeDescription = {
    name: name.toLowerCase(),
    hostIp,
    capacity,
    allocatable: allocatableOf(capacity, [kubeReserved, systemReserved, { memory: String(hugeBytes) }], thresholds),
    runtime: unknownRuntime,
    operatingSystem: 'linux',
    architecture: architecture(),
    machine: machineFacts(),
    ...(podCidr === undefined ? {} : { podCidr }),
  }
  const onUnavailable = (stop: AbortSignal) => whileSilent?.(silent, stop) ?? Promise.resolve()
  const { runtime, stop } =
    runtimeSocket === undefined
      ? await startContainerd(folder, networkFolder, { platform, clock, log }, signal)
      : await connectRuntime(runtimeSocket, { platform, clock, log, onUnavailable }, signal)
  starting.defer(stop)
  const imageMounts =
    runtime.name === 'containerd'
      ? new CtrImageMounts(platform.processes, {
          socketPath: runtimeSocket ?? `${folder}/containerd/containerd.sock`,
          snapshotter: runtimeSocket === undefined ? ownSnapshotter() : containerdSnapshotter,
        })
      : undefined
  const description = { ...silent, runtime: `${runtime.name}://${runtime.version}` }
  const { manifestDirectory: staticFolder = `${folder}/manifests`, manifestUrl, manifestUrlIntervalMs } = settings
  const manifests = [
    manifestDirectorySource(staticFolder, clock),
    ...(manifestUrl === undefined
      ? []
      : [manifestUrlSource(manifestUrl, {}, { outbound: platform.outbound, clock, everyMs: manifestUrlIntervalMs })]),
  ]
  const { servers, domain, resolvConfPath } = settings.dns
  const announced = settings.terminatesPodsOnSigterm ? new ManualShutdown() : undefined
  const shutdown = announced ?? new NodeLogind({ processes: platform.processes, clock })
  const paths = { pods: `${folder}/pods`, logs: `${folder}/logs` }
  const logs = new NodeLogFiles(paths.logs)
  const held = starting.move()
  return {
    settings,
    runtime,
    description,
    logs,
    systemLogs: new NodeSystemLogs('/var/log'),
    host: (services) => ({
      disk: new NodeDisk(),
      logs,
      dialer: nodePodDialer(platform.http2, clock),
      paths,
      dns: { servers, domain, node: parseResolvConf(textOf(resolvConfPath)) },
      cgroups,
      cgroupRoot,
      load,
      shutdown,
      ...(imageMounts === undefined ? {} : { imageMounts }),
      mountsVolumes: true,
      manifests,
      digest: (text) => platform.crypto.sha256(text).toHex().slice(0, 32),
      services,
    }),
    provideNetwork: (range) => (runtimeSocket === undefined ? provide(range) : Promise.resolve()),
    shutDown: () => announced?.announce() ?? Promise.resolve(),
    async stopPods() {
      const bound = new AbortController()
      const timer = clock.after(stopPodsMsMax, () => bound.abort())
      try {
        await stopPods(runtime, bound.signal)
        await removeBridge(platform.processes, bound.signal)
      } finally {
        timer.cancel()
      }
    },
    stop: () => held.disposeAsync(),
  }
}

interface StartedRuntime {
  readonly runtime: CriRuntime
  stop(): Promise<void>
}

export async function startContainerd(
  folder: string,
  networkFolder: string,
  { platform, clock, log }: RealNodeDeps,
  signal: AbortSignal,
): Promise<StartedRuntime> {
  const containerd = await Containerd.start(
    {
      directory: `${folder}/containerd`,
      architecture: architecture(),
      networkDirectory: networkFolder,
      networkPluginsDirectory: cniPluginDirectory() ?? '/opt/cni/bin',
      mayLowerOomScore: mayLowerOomScore(),
      snapshotter: ownSnapshotter(),
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
    onUnavailable: onSilent,
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
        throw new Error(`no container runtime answers at ${socketPath}`, { cause: error })
      if (tries === 0) {
        log.warn('no container runtime answers yet', { socket: socketPath, error: errorText(error) })
        waiting.start('silent runtime', onSilent)
      }
      await clock.sleep(connectAgainMs, signal)
    } finally {
      timer.cancel()
    }
  }
}

const architecture = (): 'arm64' | 'amd64' => (arch() === 'arm64' ? 'arm64' : 'amd64')

const masquerades = (): boolean =>
  ['/usr/sbin/iptables', '/sbin/iptables', '/usr/bin/iptables'].some((path) => existsSync(path))

/** CAP_SYS_RESOURCE: required to lower OOM scores. */
const mayLowerOomScore = (): boolean => {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(textOf('/proc/self/status'))?.[1] ?? '0'
  return (BigInt(`0x${effective}`) & (1n << 24n)) !== 0n
}

/** overlayfs does not work on top of overlayfs, as inside a container. */
export const ownSnapshotter = (): 'overlayfs' | 'native' =>
  /^\S+ \/ overlay /m.test(textOf('/proc/mounts')) ? 'native' : 'overlayfs'

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

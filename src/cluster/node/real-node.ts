// A real node: this machine, with a containerd of our own below the data folder, or with a runtime that is there.
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
  /** Gives pods addresses of this range; a network that somebody else has configured stays. */
  provideNetwork(podCidr: string): Promise<void>
  /** Ends its pods as at a shutdown, where this process is to announce those. */
  shutDown(): Promise<void>
  /** Ends all containers, and takes the network away that was made for them. */
  stopPods(): Promise<void>
  /** Lets go of the runtime; containers go on. */
  stop(): Promise<void>
}

export interface RealNodeOptions {
  readonly settings: KubeletSettings
  readonly dataDirectory: string
  readonly hostIp: string
  /** The machine's own name when left out. */
  readonly name?: string
  /** Known before the start; without it the cluster gives the node its range. */
  readonly podCidr?: string
  /** The socket of a runtime that is there already; without it a containerd is started. */
  readonly runtimeSocket?: string
  /** Runs while that runtime does not answer, with the node as far as it is known. */
  readonly whileUnavailable?: (description: NodeDescription, signal: AbortSignal) => Promise<void>
}

export interface RealNodeDeps {
  readonly platform: Platform
  readonly clock: Clock
  readonly log: Log
}

/** What a containerd that is not ours uses unless it was told otherwise. */
export const containerdSnapshotter = 'overlayfs'
/** Where it stands which control group holds the pods: whoever clears up must know. */
export const cgroupFile = (folder: string): string => `${folder}/cgroup`

/** As upstream says it of a runtime that does not say what it is. */
const unknownRuntime = 'remote://Unknown'

/** How long one try to reach a runtime takes at most, how long the next waits, and when there is no use in another. */
const connectMsMax = 5_000
const connectAgainMs = 500
const unavailableMsMax = 600_000

/** How long all containers together have to end. */
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
  const {
    manifestDirectory: staticFolder = `${folder}/manifests`,
    manifestUrl,
    manifestUrlIntervalMs: manifestUrlMs,
  } = settings
  const manifests = [
    manifestDirectorySource(staticFolder, clock),
    ...(manifestUrl === undefined
      ? []
      : [manifestUrlSource(manifestUrl, {}, { outbound: platform.outbound, clock, everyMs: manifestUrlMs })]),
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

/** Its network is its own matter: it reads the configuration that its own says. */
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

/** CAP_SYS_RESOURCE: without it scores of the out-of-memory killer cannot be lowered. */
const mayLowerOomScore = (): boolean => {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(textOf('/proc/self/status'))?.[1] ?? '0'
  return (BigInt(`0x${effective}`) & (1n << 24n)) !== 0n
}

/** Layers over layers do not work on every file system: what holds containers inside a container does not. */
export const ownSnapshotter = (): 'overlayfs' | 'native' =>
  /^\S+ \/ overlay /m.test(textOf('/proc/mounts')) ? 'native' : 'overlayfs'

const machineFacts = (): MachineInfo => ({
  machineId: (textOf('/etc/machine-id') || textOf('/var/lib/dbus/machine-id')).trim(),
  systemUuid: textOf('/sys/class/dmi/id/product_uuid').trim(),
  bootId: textOf('/proc/sys/kernel/random/boot_id').trim(),
  kernelVersion: release(),
  osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(textOf('/etc/os-release'))?.[1] ?? '',
})

/** Of a file that may be missing, or not for everybody. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

// A real node: this machine, with a containerd of our own below the data folder.
import { availableParallelism, arch, hostname, totalmem } from 'node:os'
import { existsSync, readFileSync } from 'node:fs'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Service } from '../api/core/v1/service.ts'
import type { NodeHost } from '../kubelet/node-host.ts'
import type { NodeDescription } from '../kubelet/node-status.ts'
import { allocatableOf } from '../kubelet/resources/allocatable.ts'
import type { KubeletSettings } from '../kubelet/settings.ts'
import { parseResolvConf } from '../kubelet/pod-config/dns.ts'
import { NodeCgroups } from '../machine/cgroups/node-cgroups.ts'
import { NodeHostLoad } from '../machine/load/node-host-load.ts'
import { provideNetwork } from '../machine/cni/bridge-network.ts'
import { Containerd } from '../machine/cri/containerd.ts'
import type { CriRuntime } from '../machine/cri/runtime.ts'
import { NodeLogFiles } from '../machine/logs/node-log-files.ts'
import { manifestAddress, manifestFolder } from '../machine/manifests/node-manifests.ts'
import { nodeReach } from '../machine/reach/node-reach.ts'
import { NodeDisk } from '../machine/disk/node-disk.ts'
import type { Platform } from '../platform/platform.ts'

export interface RealNode {
  readonly settings: KubeletSettings
  readonly runtime: CriRuntime
  readonly description: NodeDescription
  readonly logs: NodeLogFiles
  host(services: () => readonly Service[]): NodeHost
  stop(): Promise<void>
}

export interface RealNodeOptions {
  readonly settings: KubeletSettings
  readonly dataFolder: string
  readonly hostIp: string
  readonly podCidr: string
}

/** Why this machine cannot run containers; undefined when it can. */
export function whyNoContainers(): string | undefined {
  if (process.platform !== 'linux') return 'containers need Linux'
  if (process.getuid?.() !== 0) return 'containers need root'
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin']
  const missing = ['containerd', 'ctr', 'runc'].filter(
    (name) => !folders.some((folder) => existsSync(`${folder}/${name}`)),
  )
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`
  return pluginsFolder() === undefined ? 'not installed: CNI plugins' : undefined
}

const pluginsFolder = (): string | undefined =>
  ['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni'].find((folder) => existsSync(`${folder}/bridge`))

/** CAP_SYS_RESOURCE: without it scores of the out-of-memory killer cannot be lowered. */
const mayLowerOomScore = (): boolean => {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return (BigInt(`0x${effective}`) & (1n << 24n)) !== 0n
}

/** Layers over layers do not work on every file system: what holds containers inside a container does not. */
const snapshotter = (): 'overlayfs' | 'native' =>
  /^\S+ \/ overlay /m.test(readFileSync('/proc/mounts', 'utf8')) ? 'native' : 'overlayfs'

export async function startRealNode(
  { dataFolder, hostIp, podCidr, settings }: RealNodeOptions,
  { platform, clock, log }: { readonly platform: Platform; readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<RealNode> {
  const architecture = arch() === 'arm64' ? 'arm64' : 'amd64'
  const folder = `${dataFolder}/node`
  const networkFolder = `${folder}/net.d`
  const masquerades = ['/usr/sbin/iptables', '/sbin/iptables', '/usr/bin/iptables'].some((path) => existsSync(path))
  const network = { podCidr, bridge: 'coxswain0', addressesFolder: `${folder}/addresses`, masquerades }
  await provideNetwork(networkFolder, network, platform.files)
  const containerd = await Containerd.start(
    {
      folder: `${folder}/containerd`,
      architecture,
      networkFolder,
      networkPluginsFolder: pluginsFolder() ?? '/opt/cni/bin',
      mayLowerOomScore: mayLowerOomScore(),
      snapshotter: snapshotter(),
    },
    { ...platform, clock, log, sha256: (bytes) => platform.crypto.sha256(bytes).toHex() },
    signal,
  )
  const { runtime } = containerd
  const load = new NodeHostLoad()
  const cgroups = await NodeCgroups.open()
  const { capacityBytes } = await load.fileSystem(folder)
  const capacity = {
    cpu: String(availableParallelism()),
    memory: `${Math.floor(totalmem() / 1024)}Ki`,
    'ephemeral-storage': `${Math.floor(capacityBytes / 1024)}Ki`,
    pods: '110',
  }
  const { kubeReserved, systemReserved, thresholds } = settings
  const description: NodeDescription = {
    name: hostname().toLowerCase(),
    hostIp,
    capacity,
    allocatable: allocatableOf(capacity, [kubeReserved, systemReserved], thresholds),
    runtime: `${runtime.name}://${runtime.version}`,
    operatingSystem: 'linux',
    architecture,
    podCidr,
  }
  const { manifestFolder: staticFolder = `${folder}/manifests`, manifestUrl } = settings
  const manifests = [
    manifestFolder(staticFolder, clock),
    ...(manifestUrl === undefined ? [] : [manifestAddress(manifestUrl, {}, { outbound: platform.outbound, clock })]),
  ]
  const resolvConf = existsSync('/etc/resolv.conf') ? readFileSync('/etc/resolv.conf', 'utf8') : ''
  return {
    settings,
    runtime,
    description,
    logs: new NodeLogFiles(),
    host: (services) => ({
      disk: new NodeDisk(),
      logs: new NodeLogFiles(),
      reach: nodeReach(platform.http2, clock),
      paths: { pods: `${folder}/pods`, logs: `${folder}/logs` },
      dns: { servers: [], domain: 'cluster.local', node: parseResolvConf(resolvConf) },
      cgroups,
      cgroupRoot: `${settings.cgroupRoot.replace(/\/$/, '')}/kubepods`,
      load,
      imageFolder: `${folder}/containerd`,
      mountsVolumes: true,
      manifests,
      digest: (text) => platform.crypto.sha256(text).toHex().slice(0, 32),
      services,
    }),
    stop: () => containerd.stop(),
  }
}

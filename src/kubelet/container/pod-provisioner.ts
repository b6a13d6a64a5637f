// PodProvisioner: provides what a pod needs on the node (directories, cgroup, volumes, and the configuration that the
// runtime gets) and removes it when the pod is gone.
import type { Context } from '../../base/observability/context.ts'
import type { ConfigMap } from '../../api/core/v1/config-map.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Secret } from '../../api/core/v1/secret.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import type { Disk } from '../../machine/disk/disk.ts'
import type { LogFiles } from '../../machine/logs/log-files.ts'
import type { ContainerConfig, ContainerMount, SandboxConfig } from '../../machine/runtime/runtime-config.ts'
import type { ContainerRuntime, RuntimeContainer, RuntimeImage } from '../../machine/runtime/container-runtime.ts'
import { readLog } from '../logs/read-log.ts'
import type { ReferencedObjects } from '../objects/referenced-objects.ts'
import { containersOf } from '../pod/pod-actions.ts'
import { containerConfig } from '../pod-config/container-config.ts'
import { dnsOf, type ClusterDns } from '../pod-config/dns.ts'
import { environmentOf, referencesOf } from '../pod-config/environment.ts'
import type { NodeInfo } from '../pod-config/field-values.ts'
import { hostnameOf, hostsFile, nodeHostsFile } from '../pod-config/hosts-file.ts'
import { hostsPath, logDirectory, podDirectory, terminationFile, type NodePaths } from '../pod-config/node-paths.ts'
import { sandboxConfig } from '../pod-config/sandbox-config.ts'
import type { PodCgroups } from '../resources/pod-cgroups.ts'
import type { VolumeManager, VolumeImages, MountedVolumes } from '../volumes/volume-manager.ts'

export interface PodProvisionerDeps {
  readonly runtime: Pick<ContainerRuntime, 'handlers'>
  readonly disk: Disk
  /** Log files of containers. */
  readonly logs: LogFiles
  readonly objects: ReferencedObjects
  readonly volumes: VolumeManager
  readonly services: () => readonly Service[]
  readonly paths: NodePaths
  readonly dns: ClusterDns
  readonly cgroups: PodCgroups
  readonly cgroupRoot: string
  readonly node: NodeInfo
  readonly memoryCapacityBytes: number
}

/** The image of a container and the images of its image volumes. */
export interface ContainerImages {
  readonly own: RuntimeImage
  readonly volumes: VolumeImages
}

const hostsPathInside = '/etc/hosts'
/** Bound of the node's own hosts file. */
const nodeHostsBytesMax = 1024 * 1024
const terminationBytesMax = 4_096
/** Bound of the termination messages of all containers of a pod together, as upstream. */
const podTerminationBytesMax = 12 * 1024
/** Bounds of the end of the log that is used as the termination message with FallbackToLogsOnError. */
const logBytesMax = 2_048
const logLinesMax = 80

async function readLogEnd(files: LogFiles, path: string, bytesMax: number, signal: AbortSignal): Promise<string> {
  const options = {
    follow: false,
    timestamps: false,
    tailLines: logLinesMax,
    sinceMs: undefined,
    limitBytes: undefined,
  }
  const pieces: Uint8Array[] = []
  for await (const piece of readLog({ files, path, isRunning: () => Promise.resolve(false) }, options, signal))
    pieces.push(piece)
  const text = pieces.map((piece) => new TextDecoder().decode(piece)).join('')
  return text.slice(-bytesMax)
}

/** ConfigMaps and Secrets of the pod's namespace, by name. */
interface NamedObjects {
  readonly configMaps: ReadonlyMap<string, ConfigMap>
  readonly secrets: ReadonlyMap<string, Secret>
}
const noObjects: NamedObjects = { configMaps: new Map(), secrets: new Map() }

export class PodProvisioner {
  readonly #deps: PodProvisionerDeps
  /**
   * Sandbox configurations, cached per version of a pod; every container start needs its sandbox's configuration again.
   */
  readonly #sandboxes = new WeakMap<Pod, SandboxConfig>()

  constructor(deps: PodProvisionerDeps) {
    this.#deps = deps
  }

  async sandbox(pod: Pod, attempt: number, context: Context): Promise<SandboxConfig> {
    const { paths, dns, cgroupRoot } = this.#deps
    const runtimeHandler = await this.#handlerOf(pod, context)
    const known = this.#sandboxes.get(pod)
    if (known?.attempt === attempt && known.runtimeHandler === runtimeHandler) return known
    const config = sandboxConfig(pod, attempt, { paths, dns, cgroupRoot, runtimeHandler })
    this.#sandboxes.set(pod, config)
    return config
  }

  /** What was left out of the pod's DNS configuration to stay within the limits of resolvers. */
  dnsWarnings(pod: Pod): readonly string[] {
    return dnsOf(pod, this.#deps.dns).warnings
  }

  #handlerOf({ spec: { runtimeClassName } }: Pod, context: Context): Promise<string> {
    return runtimeClassName === undefined
      ? Promise.resolve('')
      : this.#deps.objects.runtimeHandler(runtimeClassName, context)
  }

  /** Creates the directories and the cgroup that the sandbox needs. */
  async prepare(pod: Pod): Promise<void> {
    const { disk, paths, cgroups } = this.#deps
    await disk.makeDirectory(podDirectory(paths, pod.metadata.uid), 0o750)
    await disk.makeDirectory(logDirectory(paths, pod), 0o755)
    await cgroups.make(pod)
  }

  /** Mounts the pod's volumes with their current content. Throws VolumeError when a volume is not available. */
  mountVolumes(pod: Pod, images: VolumeImages, context: Context): Promise<MountedVolumes> {
    return this.#deps.volumes.mount(pod, images, context)
  }

  /** Throws ConfigError when the container cannot be configured as its pod specifies. */
  async container(
    pod: Pod,
    container: Container,
    attempt: number,
    images: ContainerImages,
    podIps: readonly string[],
    context: Context,
  ): Promise<ContainerConfig> {
    const { node, memoryCapacityBytes, services, volumes } = this.#deps
    const mounted = await this.mountVolumes(pod, images.volumes, context)
    const hasVariables = container.env !== undefined || container.envFrom !== undefined
    const objects = hasVariables ? await this.#objectsOf(pod, container, context) : noObjects
    const sources = { pod, podIps, node, memoryCapacityBytes, services: services(), ...objects }
    const supportsRecursive = async () => {
      const handler = await this.#handlerOf(pod, context)
      const handlers = await this.#deps.runtime.handlers(context.signal)
      return handlers.some(({ name, mountsRecursivelyReadOnly }) => name === handler && mountsRecursivelyReadOnly)
    }
    const variables = new Map(environmentOf(container, sources).map(({ name, value }) => [name, value]))
    const mounts = await volumes.mountsOf(pod.metadata.uid, container, mounted, variables, supportsRecursive)
    const devices = volumes.devicesOf(container, mounted)
    const own = await this.#ownFiles(pod, container, attempt, podIps, mounts)
    return containerConfig(container, attempt, images.own, { mounts: [...mounts, ...own], devices }, sources)
  }

  /**
   * The termination message of a container: the content of its message file, or the end of its log, depending on the
   * policy.
   */
  async terminationMessage(pod: Pod, container: RuntimeContainer, signal: AbortSignal): Promise<string> {
    const { disk, paths, logs } = this.#deps
    const { name, attempt, exitCode, logPath } = container
    const all = containersOf(pod)
    const bytesMax = Math.min(terminationBytesMax, Math.floor(podTerminationBytesMax / all.length))
    const bytes = await disk.readTail(terminationFile(paths, pod.metadata.uid, name, attempt), bytesMax)
    if (bytes !== undefined && bytes.length > 0) return new TextDecoder().decode(bytes)
    const { terminationMessagePolicy } = all.find((one) => one.name === name) ?? {}
    if (terminationMessagePolicy !== 'FallbackToLogsOnError' || exitCode === 0) return ''
    return readLogEnd(logs, logPath, Math.min(bytesMax, logBytesMax), signal)
  }

  /** Removes the termination message file and the log of a removed container. */
  async removeContainerFiles(podUid: string, { name, attempt, logPath }: RuntimeContainer): Promise<void> {
    const { disk, paths } = this.#deps
    await disk.remove(terminationFile(paths, podUid, name, attempt))
    if (logPath.startsWith(`${paths.logs}/`)) await disk.remove(logPath)
  }

  /** Removes the volumes and the cgroup of a finished pod; its logs and termination messages are kept. */
  async releaseResources(podUid: string, context: Context): Promise<void> {
    await this.#deps.cgroups.remove(podUid)
    await this.#deps.volumes.unmount(podUid, context)
  }

  /** Removes everything of the pod from the node, including its logs. */
  async removePodData(podUid: string, context: Context): Promise<void> {
    const { disk, objects, paths, volumes, cgroups } = this.#deps
    objects.removePod(podUid)
    await cgroups.remove(podUid)
    for (const name of await disk.list(paths.logs))
      if (name.endsWith(`_${podUid}`)) await disk.remove(`${paths.logs}/${name}`)
    // The directory is removed last, because a kubelet that restarts in between finds the pod by its directory.
    await volumes.remove(podUid, context)
  }

  async #ownFiles(
    pod: Pod,
    container: Container,
    attempt: number,
    podIps: readonly string[],
    mounts: readonly ContainerMount[],
  ): Promise<ContainerMount[]> {
    const { disk, paths } = this.#deps
    const { uid } = pod.metadata
    const own: ContainerMount[] = []
    const mount = (hostPath: string, containerPath: string) =>
      own.push({ hostPath, containerPath, readOnly: false, propagation: 'private' })
    if (!mounts.some(({ containerPath }) => containerPath === hostsPathInside)) {
      const content = new TextEncoder().encode(await this.#hostsFile(pod, podIps))
      await disk.write(hostsPath(paths, uid), { content, mode: 0o644 })
      mount(hostsPath(paths, uid), hostsPathInside)
    }
    const messageFile = terminationFile(paths, uid, container.name, attempt)
    await disk.makeDirectory(messageFile.slice(0, messageFile.lastIndexOf('/')), 0o750)
    await disk.write(messageFile, { content: new Uint8Array(), mode: 0o666 })
    mount(messageFile, container.terminationMessagePath)
    return own
  }

  async #hostsFile(pod: Pod, podIps: readonly string[]): Promise<string> {
    const { disk, dns } = this.#deps
    if (pod.spec.hostNetwork) {
      const ofNode = await disk.readTail(hostsPathInside, nodeHostsBytesMax)
      return nodeHostsFile(pod, new TextDecoder().decode(ofNode))
    }
    const { hostname, domain } = hostnameOf(pod, dns.domain)
    return hostsFile(pod, podIps, hostname, domain)
  }

  async #objectsOf(pod: Pod, container: Container, context: Context): Promise<NamedObjects> {
    const { objects } = this.#deps
    const { configMaps, secrets } = referencesOf([container])
    const namespace = namespaceOf(pod)
    const found = async <T>(names: Iterable<string>, find: (name: string) => Promise<T | undefined>) => {
      const pairs = await Promise.all([...names].map(async (name) => [name, await find(name)] as const))
      return new Map(pairs.flatMap(([name, object]) => (object === undefined ? [] : [[name, object] as const])))
    }
    return {
      configMaps: await found(configMaps, (name) => objects.configMap(namespace, name, context)),
      secrets: await found(secrets, (name) => objects.secret(namespace, name, context)),
    }
  }
}

// VolumeManager: mounts the volumes of pods before their containers start, refreshes them while the pod runs, and
// unmounts them when the pod is gone. Operations on the volumes of one pod are serialized.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Volume } from '../../api/core/v1/volume/volume.ts'
import type { Disk } from '../../machine/disk/disk.ts'
import type { ImageMounts } from '../../machine/cri/image-mounts.ts'
import type { ContainerDevice, ContainerMount } from '../../machine/runtime/runtime-config.ts'
import type { RuntimeImage } from '../../machine/runtime/container-runtime.ts'
import type { NodeInfo } from '../pod-config/field-values.ts'
import {
  podDirectory,
  subPathsDirectory,
  volumeDevicesDirectory,
  volumeDirectory,
  volumeTypeDirectory,
  volumesDirectory,
  type NodePaths,
} from '../pod-config/node-paths.ts'
import { containerDevices, containerMounts } from './container-mounts.ts'
import type { CsiVolumes } from './csi/csi-volumes.ts'
import { SerialOperations } from '../../base/async/serial-operations.ts'
import { volumeTypes } from './volume-types.ts'
import { imageVolume } from './types/image.ts'
import {
  VolumeError,
  FormattedVolumeError,
  type ClaimDeps,
  type MountedVolume,
  type VolumeSources,
  type VolumeType,
} from './contract/volume-type.ts'

export interface VolumeManagerDeps {
  readonly disk: Disk
  readonly sources: VolumeSources
  readonly paths: NodePaths
  readonly node: NodeInfo
  readonly clock: Clock
  /** Undefined where image volumes are not supported. */
  readonly imageMounts?: ImageMounts | undefined
  /** Undefined where no storage driver can register. */
  readonly csi?: Pick<CsiVolumes, 'mountInline' | 'mountPersistent' | 'unmountPod'> | undefined
  /** Left out where claims are not updated. */
  readonly claims?: ClaimDeps
}

/** Which volumes of a pod are mounted. */
interface Selection {
  readonly includes: (type: VolumeType) => boolean
  readonly isRecheck: boolean
}

/** Types whose volumes may belong to storage drivers. */
const driverTypes: ReadonlySet<VolumeType['name']> = new Set(['csi', 'ephemeral', 'persistentVolumeClaim'])

const mayBeOfDriver = (volume: Volume): boolean => [...driverTypes].some((name) => volume[name] !== undefined)

/** Pulled images by volume name. */
export type VolumeImages = ReadonlyMap<string, RuntimeImage>

/** The mounted volumes of a pod, by name. */
export type MountedVolumes = ReadonlyMap<string, MountedVolume>

export class VolumeManager {
  readonly #deps: VolumeManagerDeps
  readonly #operations = new SerialOperations()
  /** Claims whose volumes are paths of the node, by pod and volume, so that not every container start reads them again. */
  readonly #nodePaths = new Map<string, Map<string, MountedVolume>>()

  constructor(deps: VolumeManagerDeps) {
    this.#deps = deps
  }

  /** Mounts all volumes of a pod. Throws VolumeError when one is not available now. */
  mount(pod: Pod, images: VolumeImages, context: Context): Promise<MountedVolumes> {
    const selection: Selection = { includes: () => true, isRecheck: false }
    return this.#operations.run(pod.metadata.uid, () => this.#mountAll(pod, selection, images, context))
  }

  /** Updates mounted volumes whose content follows API objects. Throws VolumeError as `mount` does. */
  refresh(pod: Pod, context: Context): Promise<void> {
    return this.#mountAgain(pod, { includes: ({ tracksApiObjects }) => tracksApiObjects, isRecheck: false }, context)
  }

  /** Publishes and expands mounted volumes of storage drivers, and expands `local` ones, where that is needed. */
  recheck(pod: Pod, context: Context): Promise<void> {
    return this.#mountAgain(pod, { includes: ({ name }) => driverTypes.has(name), isRecheck: true }, context)
  }

  async #mountAgain(pod: Pod, selection: Selection, context: Context): Promise<void> {
    const { disk, paths } = this.#deps
    await this.#operations.run(pod.metadata.uid, async () => {
      const kinds = volumeDirectories(paths, pod.metadata.uid).map((directory) => disk.kindOf(directory))
      if ((await Promise.all(kinds)).every((kind) => kind === undefined)) return
      await this.#mountAll(pod, selection, new Map(), context)
    })
  }

  async #mountAll(
    pod: Pod,
    { includes, isRecheck }: Selection,
    images: VolumeImages,
    context: Context,
  ): Promise<MountedVolumes> {
    const mounted = new Map<string, MountedVolume>()
    const mount = async (volume: Volume) => {
      const type = typeOf(volume)
      const mountedVolume = includes(type)
        ? await this.#mountOne(type, pod, volume, images, isRecheck, context)
        : undefined
      if (mountedVolume !== undefined) mounted.set(volume.name, mountedVolume)
    }
    const volumes = pod.spec.volumes ?? []
    for (const volume of volumes) if (!mayBeOfDriver(volume)) await describeFailure(volume, mount)
    // A volume that waits for its attachment does not delay the others.
    const results = await Promise.allSettled(
      volumes.filter(mayBeOfDriver).map((volume) => describeFailure(volume, mount)),
    )
    for (const result of results) if (result.status === 'rejected') throw result.reason
    return mounted
  }

  async #mountOne(
    type: VolumeType,
    pod: Pod,
    volume: Volume,
    images: VolumeImages,
    isRecheck: boolean,
    context: Context,
  ): Promise<MountedVolume | undefined> {
    const { disk, sources, paths, node, clock, imageMounts, csi, claims } = this.#deps
    const { uid } = pod.metadata
    const known = this.#nodePaths.get(uid)?.get(volume.name)
    if (known !== undefined && !isRecheck) return known
    const directory = volumeDirectory(paths, uid, type.directoryName, volume.name)
    const mounted = await type.mount({
      pod,
      volume,
      directory,
      node,
      disk,
      sources,
      imageMounts,
      csi,
      claims,
      isRecheck,
      images,
      clock,
      context,
    })
    if (mounted?.isNodePath) getOrInsert(this.#nodePaths, uid, () => new Map()).set(volume.name, mounted)
    return mounted
  }

  /** The mounts of a container; see container-mounts.ts. */
  mountsOf(
    podUid: string,
    container: Pick<Container, 'name' | 'volumeMounts'>,
    mounted: MountedVolumes,
    variables: ReadonlyMap<string, string>,
    supportsRecursive: () => Promise<boolean>,
  ): Promise<ContainerMount[]> {
    return containerMounts(this.#deps, { podUid, container, mounted, variables, supportsRecursive })
  }

  /** The block devices of a container. Throws ConfigError when a volume is not a block device. */
  devicesOf(container: Pick<Container, 'volumeDevices'>, mounted: MountedVolumes): ContainerDevice[] {
    return containerDevices(container, mounted)
  }

  /** Unmounts and removes the volumes of a finished pod. */
  unmount(podUid: string, context: Context): Promise<void> {
    const { paths } = this.#deps
    return this.#operations.run(podUid, async () => {
      this.#nodePaths.delete(podUid)
      await this.#unmountImages(podUid, context.signal)
      await this.#unmountCsi(podUid, context)
      for (const directory of [subPathsDirectory(paths, podUid), ...volumeDirectories(paths, podUid)])
        await this.#unmountAndRemove(directory)
    })
  }

  /** Removes everything of the pod from the disk, including what other programs have created there. */
  remove(podUid: string, context: Context): Promise<void> {
    return this.#operations.run(podUid, async () => {
      this.#nodePaths.delete(podUid)
      await this.#unmountImages(podUid, context.signal)
      await this.#unmountCsi(podUid, context)
      await this.#unmountAndRemove(podDirectory(this.#deps.paths, podUid))
    })
  }

  /** The runtime keeps the snapshots of image mounts until they are released explicitly. */
  async #unmountImages(podUid: string, signal: AbortSignal): Promise<void> {
    const { disk, paths, imageMounts } = this.#deps
    if (imageMounts === undefined) return
    const directory = volumeTypeDirectory(paths, podUid, imageVolume.directoryName)
    const names = await disk.list(directory)
    if (names.length === 0) return
    // subPath mounts are on top of image mounts.
    await this.#unmountAndRemove(subPathsDirectory(paths, podUid))
    for (const name of names) await imageMounts.unmount(`${directory}/${name}`, signal)
  }

  /** Only their drivers may unmount volumes of storage drivers. */
  async #unmountCsi(podUid: string, context: Context): Promise<void> {
    const { csi, paths } = this.#deps
    if (csi === undefined) return
    // subPath mounts are on top of them.
    await this.#unmountAndRemove(subPathsDirectory(paths, podUid))
    await csi.unmountPod(podUid, context)
  }

  async #unmountAndRemove(directory: string): Promise<void> {
    const { disk } = this.#deps
    // Inner mounts are unmounted first.
    const mounts = [...(await disk.mountsBelow(directory))].toSorted((a, b) => b.length - a.length)
    for (const mount of mounts) await disk.unmount(mount)
    await disk.remove(directory)
  }

  /** Uids of all pods with a directory on this node, including unknown ones. */
  podUids(): Promise<readonly string[]> {
    return this.#deps.disk.list(this.#deps.paths.pods)
  }
}

/** They exist while volumes of the pod are mounted. */
const volumeDirectories = (paths: NodePaths, podUid: string): readonly string[] => [
  volumesDirectory(paths, podUid),
  volumeDevicesDirectory(paths, podUid),
]

function typeOf(volume: Volume): VolumeType {
  const type = volumeTypes.find(({ name }) => volume[name] !== undefined)
  if (type !== undefined) return type
  const kinds = Object.keys(volume).filter((field) => field !== 'name')
  throw new VolumeError(`volumes of type ${kinds.join(', ') || 'none'} are not supported on this node`)
}

/** Errors name the operation and the volume, as upstream's events do. */
async function describeFailure(volume: Volume, mount: (volume: Volume) => Promise<void>): Promise<void> {
  try {
    await mount(volume)
  } catch (error) {
    if (!(error instanceof VolumeError) || error instanceof FormattedVolumeError) throw error
    throw new VolumeError(`MountVolume.SetUp failed for volume ${JSON.stringify(volume.name)} : ${error.message}`)
  }
}

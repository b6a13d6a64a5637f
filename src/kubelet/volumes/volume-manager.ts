// VolumeManager: mounts the volumes of pods before their containers start, refreshes them while the pod runs, and
// unmounts them when the pod is gone. Operations on the volumes of one pod are serialized.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Volume } from '../../api/core/v1/volume/volume.ts'
import type { ContainerDevice, ContainerMount } from '../../machine/runtime/runtime-config.ts'
import type { RuntimeImage } from '../../machine/runtime/container-runtime.ts'
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
import { SerialOperations } from '../../base/async/serial-operations.ts'
import { volumeTypes } from './volume-types.ts'
import {
  VolumeError,
  FormattedVolumeError,
  type MountedVolume,
  type PodVolume,
  type VolumeDeps,
  type VolumeType,
} from './contract/volume-type.ts'

export interface VolumeManagerDeps extends VolumeDeps {
  readonly paths: NodePaths
}

/** Pulled images by volume name. */
export type VolumeImages = ReadonlyMap<string, RuntimeImage>

/** The mounted volumes of a pod, by name. */
export type MountedVolumes = ReadonlyMap<string, MountedVolume>

type VolumeAction = (type: VolumeType, work: PodVolume) => Promise<void>

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
    return this.#operations.run(pod.metadata.uid, async () => {
      const mounted = new Map<string, MountedVolume>()
      await this.#forEach(pod, images, async (type, work) => {
        const { name } = work.volume
        const mountedVolume =
          this.#nodePaths.get(pod.metadata.uid)?.get(name) ?? (await this.#mountOne(type, work, context))
        if (mountedVolume !== undefined) mounted.set(name, mountedVolume)
      })
      return mounted
    })
  }

  /** Updates mounted volumes whose content follows API objects. Throws VolumeError as `mount` does. */
  refresh(pod: Pod, context: Context): Promise<void> {
    return this.#forEachMounted(pod, async (type, work) => {
      if (type.tracksApiObjects) await type.mount(work, this.#deps, context)
    })
  }

  /** Does what mounted volumes need from time to time. Throws VolumeError as `mount` does. */
  recheck(pod: Pod, context: Context): Promise<void> {
    return this.#forEachMounted(pod, async (type, work) => type.recheck?.(work, this.#deps, context))
  }

  async #forEachMounted(pod: Pod, action: VolumeAction): Promise<void> {
    const { disk, paths } = this.#deps
    await this.#operations.run(pod.metadata.uid, async () => {
      const kinds = volumeDirectories(paths, pod.metadata.uid).map((directory) => disk.kindOf(directory))
      if ((await Promise.all(kinds)).every((kind) => kind === undefined)) return
      await this.#forEach(pod, new Map(), action)
    })
  }

  async #forEach(pod: Pod, images: VolumeImages, action: VolumeAction): Promise<void> {
    const perform = async (volume: Volume) => {
      const type = typeOf(volume)
      const directory = volumeDirectory(this.#deps.paths, pod.metadata.uid, type.directoryName, volume.name)
      await action(type, { pod, volume, directory, image: images.get(volume.name) })
    }
    const volumes = pod.spec.volumes ?? []
    const mayWait = (volume: Volume): boolean => findType(volume)?.mayWait === true
    for (const volume of volumes) if (!mayWait(volume)) await describeFailure(volume, perform)
    // A volume that waits for its attachment does not delay the others.
    const results = await Promise.allSettled(volumes.filter(mayWait).map((volume) => describeFailure(volume, perform)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #mountOne(type: VolumeType, work: PodVolume, context: Context): Promise<MountedVolume | undefined> {
    const mounted = await type.mount(work, this.#deps, context)
    const { uid } = work.pod.metadata
    if (mounted?.isNodePath) getOrInsert(this.#nodePaths, uid, () => new Map()).set(work.volume.name, mounted)
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
    const directories = [subPathsDirectory(paths, podUid), ...volumeDirectories(paths, podUid)]
    return this.#release(podUid, directories, context)
  }

  /** Removes everything of the pod from the disk, including what other programs have created there. */
  remove(podUid: string, context: Context): Promise<void> {
    return this.#release(podUid, [podDirectory(this.#deps.paths, podUid)], context)
  }

  #release(podUid: string, directories: readonly string[], context: Context): Promise<void> {
    const { paths } = this.#deps
    return this.#operations.run(podUid, async () => {
      this.#nodePaths.delete(podUid)
      const unmountSubPaths = () => this.#unmountAndRemove(subPathsDirectory(paths, podUid))
      for (const { directoryName, unmount } of typesInOrderOfRelease) {
        const directory = volumeTypeDirectory(paths, podUid, directoryName)
        await unmount({ podUid, directory, unmountSubPaths }, this.#deps, context)
      }
      for (const directory of directories) await this.#unmountAndRemove(directory)
    })
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

/** A driver that does not answer does not delay the release of other volumes. */
const typesInOrderOfRelease = volumeTypes
  .flatMap((type) => (type.unmount === undefined ? [] : [{ ...type, unmount: type.unmount }]))
  .toSorted((a, b) => Number(a.mayWait ?? false) - Number(b.mayWait ?? false))

/** They exist while volumes of the pod are mounted. */
const volumeDirectories = (paths: NodePaths, podUid: string): readonly string[] => [
  volumesDirectory(paths, podUid),
  volumeDevicesDirectory(paths, podUid),
]

const findType = (volume: Volume): VolumeType | undefined => volumeTypes.find(({ name }) => volume[name] !== undefined)

function typeOf(volume: Volume): VolumeType {
  const type = findType(volume)
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

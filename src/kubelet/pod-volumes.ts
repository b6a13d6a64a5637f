// The volumes of pods on a node: made present before containers start, and as the API has them then; taken away when the
// pod is gone.
import type { Clock } from '../base/clock.ts'
import type { Context } from '../base/context.ts'
import type { Container } from '../api/core/v1/container.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import type { Volume } from '../api/core/v1/volume.ts'
import type { Disk } from '../machine/disk/disk.ts'
import type { ContainerMount } from '../machine/runtime/config.ts'
import { ConfigError } from './pod-config/config-error.ts'
import { expanded } from './pod-config/expansion.ts'
import type { NodeFacts } from './pod-config/field-values.ts'
import { podFolder, volumeFolder, type NodePaths } from './pod-config/paths.ts'
import { volumeTypes } from './volumes.ts'
import { VolumeError, type VolumeSources, type VolumeType } from './volumes/volume-type.ts'

export interface PodVolumesParts {
  readonly disk: Disk
  readonly sources: VolumeSources
  readonly paths: NodePaths
  readonly node: NodeFacts
  readonly clock: Clock
}

export class PodVolumes {
  readonly #parts: PodVolumesParts

  constructor(parts: PodVolumesParts) {
    this.#parts = parts
  }

  /** Makes all volumes of a pod present; returns where each lies. Throws VolumeError when one cannot be had now. */
  async mount(pod: Pod, podIps: readonly string[], context: Context): Promise<ReadonlyMap<string, string>> {
    const places = new Map<string, string>()
    for (const volume of pod.spec.volumes ?? []) {
      try {
        places.set(volume.name, await this.#mountOne(pod, volume, podIps, context))
      } catch (error) {
        if (!(error instanceof VolumeError)) throw error
        throw new VolumeError(`MountVolume.SetUp failed for volume ${JSON.stringify(volume.name)} : ${error.message}`)
      }
    }
    return places
  }

  async #mountOne(pod: Pod, volume: Volume, podIps: readonly string[], context: Context): Promise<string> {
    const { disk, sources, paths, node, clock } = this.#parts
    const type = typeOf(volume)
    const folder = volumeFolder(paths, pod.metadata.uid, type.folderName, volume.name)
    const place = await type.mount({ pod, volume, folder, podIps, node, disk, sources, clock, context })
    const gid = pod.spec.securityContext?.fsGroup
    if (type.takesGroup && gid !== undefined) await disk.give(place, { gid }, true)
    return place
  }

  /** What a container sees of the pod's volumes. Throws ConfigError when it asks for what is not there. */
  async mountsOf(
    { volumeMounts = [] }: Pick<Container, 'volumeMounts'>,
    places: ReadonlyMap<string, string>,
    variables: ReadonlyMap<string, string>,
  ): Promise<ContainerMount[]> {
    const mounts: ContainerMount[] = []
    for (const mount of volumeMounts) {
      const place = places.get(mount.name)
      if (place === undefined) throw new ConfigError(`volume ${JSON.stringify(mount.name)} is not mounted`)
      const subPath = mount.subPathExpr === undefined ? mount.subPath : expanded(mount.subPathExpr, variables)
      mounts.push({
        hostPath: subPath === undefined ? place : await this.#parts.disk.inside(place, subPath),
        containerPath: mount.mountPath,
        readOnly: mount.readOnly ?? false,
        ...(mount.recursiveReadOnly === undefined || mount.recursiveReadOnly === 'Disabled'
          ? {}
          : { recursiveReadOnly: true }),
        propagation: propagations[mount.mountPropagation ?? 'None'],
      })
    }
    return mounts
  }

  /** Takes away all that a pod had on the node, whoever made it. */
  async remove(podUid: string): Promise<void> {
    const { disk, paths } = this.#parts
    const folder = podFolder(paths, podUid)
    // Inner mounts go before the outer ones that hold them.
    const mounts = [...(await disk.mountsBelow(folder))].toSorted((a, b) => b.length - a.length)
    for (const mount of mounts) await disk.unmount(mount)
    await disk.remove(folder)
  }
}

const propagations = {
  None: 'private',
  HostToContainer: 'host-to-container',
  Bidirectional: 'bidirectional',
} as const

function typeOf(volume: Volume): VolumeType {
  const type = volumeTypes.find(({ name }) => volume[name] !== undefined)
  if (type !== undefined) return type
  const kinds = Object.keys(volume).filter((field) => field !== 'name')
  throw new VolumeError(`volumes of type ${kinds.join(', ') || 'none'} are not supported on this node`)
}

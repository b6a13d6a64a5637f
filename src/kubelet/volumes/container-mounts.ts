// What a container gets of its pod's mounted volumes: mounts with subPaths, and devices.
import type { Container } from '../../api/core/v1/container/container.ts'
import { PathEscapes, type Disk } from '../../machine/disk/disk.ts'
import type { ContainerDevice, ContainerMount } from '../../machine/runtime/runtime-config.ts'
import { ConfigError } from '../pod-config/config-error.ts'
import { expandVariables, pathCharsMax } from '../pod-config/variable-expansion.ts'
import { subPathDirectory, type NodePaths } from '../pod-config/node-paths.ts'
import { requestsRecursiveReadOnly, isRecursivelyReadOnly } from '../pod-config/recursive-read-only.ts'
import type { MountedVolume } from './contract/volume-type.ts'

export interface ContainerMountsDeps {
  readonly disk: Disk
  readonly paths: NodePaths
}

export interface ContainerMountsInput {
  readonly podUid: string
  readonly container: Pick<Container, 'name' | 'volumeMounts'>
  /** By the name of the volume. */
  readonly mounted: ReadonlyMap<string, MountedVolume>
  /** For subPathExpr. */
  readonly variables: ReadonlyMap<string, string>
  /** Whether the runtime supports recursive read-only mounts. */
  readonly supportsRecursive: () => Promise<boolean>
}

/** Throws ConfigError when a volume is not mounted or not mountable that way. */
export function containerMounts(
  deps: ContainerMountsDeps,
  { podUid, container, mounted, variables, supportsRecursive }: ContainerMountsInput,
): Promise<ContainerMount[]> {
  const mounts = (container.volumeMounts ?? []).map(async (mount, index): Promise<ContainerMount> => {
    const mountedVolume = mounted.get(mount.name)
    if (mountedVolume === undefined) throw new ConfigError(`volume ${JSON.stringify(mount.name)} is not mounted`)
    if (mountedVolume.isBlock)
      throw new ConfigError(`volume ${mount.name} has volumeMode Block, but is specified in volumeMounts`)
    const subPath = subPathOf(mount, container.name, variables)
    const isRecursive = requestsRecursiveReadOnly(mount) && isRecursivelyReadOnly(mount, await supportsRecursive())
    return {
      hostPath:
        subPath === ''
          ? mountedVolume.path
          : await mountSubPath(deps, podUid, mountedVolume.path, subPath, mount.name, container.name, index),
      containerPath: mount.mountPath,
      readOnly: isRecursive || (!mountedVolume.isSealed && (mountedVolume.readOnly || (mount.readOnly ?? false))),
      ...(isRecursive ? { recursiveReadOnly: true } : {}),
      propagation: propagations[mount.mountPropagation ?? 'None'],
    }
  })
  return Promise.all(mounts)
}

/** Throws ConfigError when a volume is not a block device. */
export function containerDevices(
  { volumeDevices = [] }: Pick<Container, 'volumeDevices'>,
  mounted: ReadonlyMap<string, MountedVolume>,
): ContainerDevice[] {
  return volumeDevices.map(({ name, devicePath }) => {
    const mountedVolume = mounted.get(name)
    if (mountedVolume === undefined) throw new ConfigError(`volume ${JSON.stringify(name)} is not mounted`)
    if (!mountedVolume.isBlock)
      throw new ConfigError(`volume ${name} has volumeMode Filesystem, but is specified in volumeDevices`)
    return { hostPath: mountedVolume.path, containerPath: devicePath, readOnly: mountedVolume.readOnly }
  })
}

/**
 * Bind mounts a subPath for the runtime, so that containers which can write to the volume cannot replace the path
 * before it is mounted.
 */
async function mountSubPath(
  { disk, paths }: ContainerMountsDeps,
  podUid: string,
  directory: string,
  subPath: string,
  volume: string,
  container: string,
  index: number,
): Promise<string> {
  const to = subPathDirectory(paths, podUid, volume, container, index)
  try {
    await disk.mountSubPath(directory, subPath, to)
    return to
  } catch (error) {
    // Host paths are not exposed to users.
    const what = error instanceof PathEscapes ? 'prepare subPath' : 'create subPath directory'
    throw new ConfigError(
      `failed to ${what} for volumeMount ${JSON.stringify(volume)} of container ${JSON.stringify(container)}`,
      { cause: error },
    )
  }
}

const propagations = {
  None: 'private',
  HostToContainer: 'host-to-container',
  Bidirectional: 'bidirectional',
} as const

type VolumeMount = NonNullable<Container['volumeMounts']>[number]

/** The subPath of a mount; empty for the whole volume. */
function subPathOf(
  { name, subPath = '', subPathExpr }: VolumeMount,
  container: string,
  variables: ReadonlyMap<string, string>,
): string {
  if (subPathExpr === undefined) return subPath
  const what = `subPathExpr of volumeMount ${JSON.stringify(name)}`
  const path = expandVariables(subPathExpr, (variable) => variables.get(variable), what, pathCharsMax)
  const unknown = /\$\(([^()]*)\)/.exec(path)
  if (unknown !== null)
    throw new ConfigError(`missing value for ${JSON.stringify(unknown[1])} of volumeMount ${JSON.stringify(name)}`)
  const fault = path.startsWith('/')
    ? 'must not be an absolute path'
    : path.split('/').includes('..')
      ? "must not contain '..'"
      : undefined
  if (fault !== undefined)
    throw new ConfigError(`unable to provision SubPath \`${path}\` of container ${JSON.stringify(container)}: ${fault}`)
  return path
}

// Volumes that an earlier kubelet has staged and published, found on the disk.
import type { Disk } from '../../../machine/disk/disk.ts'
import { volumeTypeDirectory, type NodePaths } from '../../pod-config/node-paths.ts'
import { blockDirectory, blockPodDirectory, csiDirectory, csiPaths, csiTypeName } from './csi-paths.ts'
import type { Publication, Staged } from './csi-state.ts'
import { readVolumeData, type VolumeData } from './volume-data.ts'

export interface ReconstructionDeps {
  readonly disk: Disk
  readonly paths: NodePaths
  readonly sha256: (text: string) => string
}

/** Names below `volumeDevices` that are not those of volumes. */
const reserved = new Set(['publish', 'staging'])

export async function foundStaged({ disk, paths, sha256 }: ReconstructionDeps): Promise<readonly Staged[]> {
  const staged: Staged[] = []
  const add = (data: VolumeData | undefined, specName: string, isBlock: boolean) => {
    if (data === undefined) return
    const identity = { driver: data.driverName, handle: data.volumeHandle, specName, isBlock }
    const { staging, stagingData } = csiPaths(paths, '', identity, sha256)
    staged.push({ ...identity, staging, stagingData, isCertain: false, needsAttachment: undefined })
  }
  const blocks = blockDirectory(paths)
  for (const driver of await disk.list(csiDirectory(paths))) {
    const directory = `${csiDirectory(paths)}/${driver}`
    if (directory === blocks) continue
    for (const name of await disk.list(directory)) add(await readVolumeData(disk, `${directory}/${name}`), name, false)
  }
  for (const name of await disk.list(blocks))
    if (!reserved.has(name)) add(await readVolumeData(disk, `${blocks}/${name}/data`), name, true)
  return staged
}

export async function foundPublications({ disk, paths, sha256 }: ReconstructionDeps): Promise<readonly Publication[]> {
  const publications: Publication[] = []
  for (const podUid of await disk.list(paths.pods))
    for (const isBlock of [false, true]) {
      const directory = isBlock ? blockPodDirectory(paths, podUid) : volumeTypeDirectory(paths, podUid, csiTypeName)
      for (const specName of await disk.list(directory)) {
        const data = await readVolumeData(disk, `${directory}/${specName}`)
        if (data === undefined) continue
        const identity = { driver: data.driverName, handle: data.volumeHandle, specName, isBlock }
        const { target, targetData } = csiPaths(paths, podUid, identity, sha256)
        publications.push({ ...identity, podUid, volumeName: undefined, target, targetData, isCertain: false })
      }
    }
  return publications
}

/** Removes directories without a description, which an interrupted kubelet has left: nothing was mounted there. */
export async function removeOrphans({ disk, paths }: ReconstructionDeps): Promise<void> {
  const blocks = blockDirectory(paths)
  for (const driver of await disk.list(csiDirectory(paths))) {
    const directory = `${csiDirectory(paths)}/${driver}`
    if (directory === blocks) continue
    for (const name of await disk.list(directory)) await removeUndescribed(disk, `${directory}/${name}`, '')
  }
  for (const name of await disk.list(blocks))
    if (!reserved.has(name)) await removeUndescribed(disk, `${blocks}/${name}`, '/data')
}

/** A mount that this kubelet cannot attribute to a volume is left alone. */
async function removeUndescribed(disk: Disk, directory: string, dataDirectory: string): Promise<void> {
  if ((await readVolumeData(disk, `${directory}${dataDirectory}`)) !== undefined) return
  if ((await disk.mountsBelow(directory)).length === 0) await disk.remove(directory)
}

// Paths of the volumes of storage drivers, as upstream names them: drivers and operators rely on them.
import { isFileName } from '../../../base/text/file-names.ts'
import { VolumeError } from '../contract/volume-type.ts'
import {
  kubeletDirectory,
  volumeDevicesDirectory,
  volumeTypeDirectory,
  type NodePaths,
} from '../../pod-config/node-paths.ts'
import type { CsiVolume } from './csi-volume.ts'

export const csiTypeName = 'csi'
export const volumeDataFile = 'vol_data.json'

/** Directory of everything that is staged. */
export const csiDirectory = (paths: NodePaths): string => `${kubeletDirectory(paths)}/plugins/kubernetes.io/csi`
/** Directory of block volumes, by the name of the persistent volume. */
export const blockDirectory = (paths: NodePaths): string => `${csiDirectory(paths)}/volumeDevices`
export const blockPublishDirectory = (paths: NodePaths): string => `${blockDirectory(paths)}/publish`
export const blockStagingDirectory = (paths: NodePaths): string => `${blockDirectory(paths)}/staging`

export interface CsiPaths {
  /** Where the volume is staged once per node. */
  readonly staging: string
  /** The directory of the file that describes the staged volume. */
  readonly stagingData: string
  /** Where the volume is published for the pod. */
  readonly target: string
  /** The directory of the file that describes the published volume. */
  readonly targetData: string
}

export function csiPaths(
  paths: NodePaths,
  podUid: string,
  { driver, handle, specName, isBlock }: Pick<CsiVolume, 'driver' | 'handle' | 'specName' | 'isBlock'>,
  sha256: (text: string) => string,
): CsiPaths {
  for (const name of [driver, specName])
    if (!isFileName(name)) throw new VolumeError(`${JSON.stringify(name)} is not a valid name of a driver or a volume`)
  if (isBlock) {
    const data = `${blockDirectory(paths)}/${specName}/data`
    return {
      staging: `${blockStagingDirectory(paths)}/${specName}`,
      stagingData: data,
      target: `${blockPublishDirectory(paths)}/${specName}/${podUid}`,
      targetData: `${blockPodDirectory(paths, podUid)}/${specName}`,
    }
  }
  const stagingData = `${csiDirectory(paths)}/${driver}/${sha256(handle)}`
  const targetData = `${volumeTypeDirectory(paths, podUid, csiTypeName)}/${specName}`
  return { staging: `${stagingData}/globalmount`, stagingData, target: `${targetData}/mount`, targetData }
}

/** Directory of the pod's block volumes. */
export const blockPodDirectory = (paths: NodePaths, podUid: string): string =>
  `${volumeDevicesDirectory(paths, podUid)}/kubernetes.io~${csiTypeName}`

// vol_data.json: what a kubelet must know of a staged or published volume to release it after a restart. The file is
// written before the driver is called and removed after the volume was released.
import type { Disk } from '../../../machine/disk/disk.ts'
import { volumeDataFile } from './csi-paths.ts'
import { attachmentName, type CsiVolume } from './csi-volume.ts'

export interface VolumeData {
  readonly driverName: string
  readonly volumeHandle: string
  readonly specVolID?: string
  readonly nodeName?: string
  readonly attachmentID?: string
  readonly volumeLifecycleMode?: CsiVolume['lifecycle']
}

const dataBytesMax = 64 * 1024

export const stagedData = ({ driver, handle, specName, isBlock }: CsiVolume): VolumeData => ({
  ...(isBlock ? { specVolID: specName } : {}),
  driverName: driver,
  volumeHandle: handle,
})

export const publishedData = (volume: CsiVolume, nodeName: string, sha256: (text: string) => string): VolumeData => ({
  attachmentID: attachmentName(volume, nodeName, sha256),
  driverName: volume.driver,
  nodeName,
  specVolID: volume.specName,
  volumeHandle: volume.handle,
  volumeLifecycleMode: volume.lifecycle,
})

export async function writeVolumeData(disk: Disk, directory: string, data: VolumeData): Promise<void> {
  await disk.makeDirectory(directory, 0o750)
  const content = new TextEncoder().encode(JSON.stringify(data))
  await disk.write(`${directory}/${volumeDataFile}`, { content, mode: 0o644 })
}

/** Undefined when there is no such file, or when it does not describe a volume. */
export async function readVolumeData(disk: Disk, directory: string): Promise<VolumeData | undefined> {
  const bytes = await disk.readTail(`${directory}/${volumeDataFile}`, dataBytesMax)
  if (bytes === undefined) return undefined
  try {
    const data = JSON.parse(new TextDecoder().decode(bytes)) as Partial<VolumeData> | null
    if (typeof data?.driverName !== 'string' || typeof data.volumeHandle !== 'string') return undefined
    return { ...data, driverName: data.driverName, volumeHandle: data.volumeHandle }
  } catch {
    return undefined
  }
}

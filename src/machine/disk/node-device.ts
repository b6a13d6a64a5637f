// Block devices of the host: their first file system.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** `blkid` found nothing that it knows on the device. */
const nothingFound = 2
const formatMsMax = 600_000
/** The type becomes a part of a program's name, so it must not lead to another directory. */
const typePattern = /^[a-z0-9][a-z0-9_.-]*$/
/** Their program asks whether to overwrite, unless it is forced. */
const extended = new Set(['ext2', 'ext3', 'ext4'])

/** Creates a file system if the device has neither one nor partitions. */
export async function formatIfEmpty(device: string, type: string, signal: AbortSignal): Promise<void> {
  if (!typePattern.test(type)) throw new Error(`${JSON.stringify(type)} is not a type of file system`)
  if (!(await isEmpty(device, signal))) return
  // No blocks for root only, as a volume is not a system disk.
  const flags = extended.has(type) ? ['-F', '-m0'] : []
  try {
    await run(`mkfs.${type}`, [...flags, device], { signal, timeout: formatMsMax })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`mkfs.${type} is not installed on this node`, { cause: error })
  }
}

async function isEmpty(device: string, signal: AbortSignal): Promise<boolean> {
  try {
    await run('blkid', ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device], { signal })
    return false
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === nothingFound) return true
    throw error
  }
}

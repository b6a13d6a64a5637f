// Block devices of the host: their file systems are created and grown.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** `blkid` found nothing that it knows on the device. */
const nothingFound = 2
const formatMsMax = 600_000
const growMsMax = 600_000
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

/** The command that grows a mounted file system to the size of its device. Undefined for other types. */
function growCommand(type: string, device: string, path: string): readonly [string, ...string[]] | undefined {
  if (extended.has(type)) return ['resize2fs', device]
  if (type === 'xfs') return ['xfs_growfs', '-d', path]
  return type === 'btrfs' ? ['btrfs', 'filesystem', 'resize', 'max', path] : undefined
}

export async function growFileSystem(device: string, path: string, signal: AbortSignal): Promise<void> {
  const { stdout } = await run('blkid', ['-p', '-s', 'TYPE', '-o', 'value', device], { signal })
  const type = stdout.trim()
  const command = growCommand(type, device, path)
  if (command === undefined)
    throw new Error(`resize of format ${type} is not supported for device ${device} mounted at ${path}`)
  const [program, ...args] = command
  try {
    await run(program, args, { signal, timeout: growMsMax })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`${program} is not installed on this node`, { cause: error })
  }
}

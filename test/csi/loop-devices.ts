// Loop devices of this machine: whether there are any, and what they can do here.
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './commands.ts'

const trialBytes = 8 << 20

/** Some containers have no loop devices, or no permission to use them. */
export async function hasLoopDevices(folder: string): Promise<boolean> {
  const image = join(folder, 'trial.img')
  await writeFile(image, '')
  await truncate(image, trialBytes)
  try {
    await run('losetup', '--detach', await run('losetup', '--find', '--show', image))
    return true
  } catch {
    return false
  } finally {
    await rm(image)
  }
}

/** Whether a mounted ext4 can grow, for which the kernel requires CAP_SYS_RESOURCE. */
export async function growsMountedFilesystems(folder: string): Promise<boolean> {
  const image = join(folder, 'trial.img')
  const mount = join(folder, 'trial')
  await writeFile(image, '')
  await truncate(image, trialBytes)
  await mkdir(mount)
  await run('mkfs.ext4', '-q', image)
  await run('mount', '-o', 'loop', image, mount)
  try {
    const [device = ''] = await loopDevicesOf(image)
    await truncate(image, 2 * trialBytes)
    await run('losetup', '--set-capacity', device)
    await run('resize2fs', device)
    return true
  } catch {
    return false
  } finally {
    await run('umount', mount)
    await rm(image)
    await rm(mount, { recursive: true })
  }
}

/** The loop devices of an image file. */
export async function loopDevicesOf(image: string): Promise<readonly string[]> {
  if (!image.endsWith('.img')) return []
  return linesOf(await run('losetup', '--associated', image, '--noheadings', '--output', 'NAME'))
}

/** The image files in a folder that have loop devices, including deleted files. */
export async function attachedImages(folder: string): Promise<readonly string[]> {
  const files = linesOf(await run('losetup', '--list', '--noheadings', '--output', 'BACK-FILE'))
  return files.filter((file) => file.startsWith(`${folder}/`))
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

// Removal of directories of this machine, for `hostPath` volumes with the reclaim policy Delete.
import { basename, dirname, resolve } from 'node:path'
import type { Files } from '../../platform/files.ts'

/** The controllers allow paths below this directory, as upstream's. */
const volumesRoot = '/tmp'

/**
 * Removes directories below /tmp, but none that contains one of `kept` or is in it. A volume may name any path below /tmp,
 * and a symbolic link there may lead anywhere, so paths are compared without symbolic links.
 */
export const directoryRemover =
  (files: Pick<Files, 'realPath' | 'remove'>, kept: readonly string[]) =>
  async (path: string): Promise<void> => {
    const real = async (each: string) => (await files.realPath(each)) ?? each
    const named = resolve(path)
    const parent = await files.realPath(dirname(named))
    if (parent === undefined) return
    // If the last part is a symbolic link, the link is removed and not what it leads to.
    const directory = resolve(parent, basename(named))
    const root = await real(volumesRoot)
    if (directory === root || !isIn(directory, root))
      throw new Error(`${path} is not removed, because it leads to ${directory}`)
    for (const each of kept) {
      const used = await real(each)
      if (isIn(used, directory) || isIn(directory, used))
        throw new Error(`${path} is not removed, because Coxswain uses ${each}`)
    }
    await files.remove(directory)
  }

const isIn = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory}/`)

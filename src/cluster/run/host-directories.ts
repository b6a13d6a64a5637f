// Removal of directories of this machine, for `hostPath` volumes with the reclaim policy Delete.
import type { Files } from '../../platform/files.ts'

/** Removes directories, but none that contains one of `kept` or is in it: a volume may name any path below /tmp. */
export const directoryRemover =
  (files: Pick<Files, 'remove'>, kept: readonly string[]) =>
  async (path: string): Promise<void> => {
    const directory = path.replace(/\/+$/, '') // linear: one run of slashes at the end
    const user = kept.find((each) => isIn(each, directory) || isIn(directory, each))
    if (user !== undefined) throw new Error(`${path} is not removed, because Coxswain uses ${user}`)
    await files.remove(directory)
  }

const isIn = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory}/`)

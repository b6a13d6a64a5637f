// walkTree: visits all entries below a directory that others may change meanwhile. Every name is opened relative to the
// descriptor of its directory without following links, so a directory that is replaced by a link does not lead the walk
// out of the tree.
import { constants, type Stats } from 'node:fs'
import { open, opendir, type FileHandle } from 'node:fs/promises'
import { TreeTooDeep } from './disk.ts'

export interface TreeEntry {
  readonly status: Stats
  /** A path that refers to the opened entry itself, even if it was renamed; the path of the link for symbolic links. */
  readonly path: string
}

/** Each level holds two open descriptors. */
export const treeDepthMax = 400

/** O_PATH, which Node.js does not define. */
const onlyPath = 0o10000000

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** Visits entries sequentially, directories before their content, starting with `path`. Throws TreeTooDeep. */
export async function walkTree(
  path: string,
  visit: (entry: TreeEntry) => Promise<void> | void,
  signal: AbortSignal,
): Promise<void> {
  const walk = async (entryPath: string, depth: number): Promise<void> => {
    signal.throwIfAborted()
    let handle: FileHandle
    try {
      handle = await open(entryPath, constants.O_RDONLY | constants.O_NOFOLLOW | onlyPath)
    } catch (error) {
      if (depth > 0 && isGone(error)) return
      throw error
    }
    try {
      const status = await handle.stat()
      const handlePath = `/proc/self/fd/${handle.fd}`
      await visit({ status, path: status.isSymbolicLink() ? entryPath : handlePath })
      if (!status.isDirectory()) return
      if (depth === treeDepthMax) throw new TreeTooDeep(`directories are nested more than ${treeDepthMax} levels deep`)
      for await (const { name } of await opendir(handlePath)) await walk(`${handlePath}/${name}`, depth + 1)
    } finally {
      await handle.close()
    }
  }
  await walk(path, 0)
}

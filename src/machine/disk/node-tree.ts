// walkTree: visits every entry below a folder that others may change meanwhile. Each name is opened below the descriptor of
// its folder and no link is followed, so a folder that is swapped for a link never leads the walk out of the tree.
import { constants, type Stats } from 'node:fs'
import { open, opendir, type FileHandle } from 'node:fs/promises'
import { TreeTooDeep } from './disk.ts'

export interface TreeEntry {
  readonly status: Stats
  /** The entry itself, also when its name has been given to another one; a link where the entry is a link. */
  readonly path: string
}

/** Every level holds two descriptors while what is below it is visited. */
export const treeDepthMax = 400

/** Linux: a descriptor that only names a place. Node.js does not list it. */
const onlyPath = 0o10000000

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

/** One after the other, a folder before what it holds; `path` itself is visited first. Throws TreeTooDeep. */
export async function walkTree(
  path: string,
  visit: (entry: TreeEntry) => Promise<void> | void,
  signal: AbortSignal,
): Promise<void> {
  const walk = async (place: string, depth: number): Promise<void> => {
    signal.throwIfAborted()
    let held: FileHandle
    try {
      held = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | onlyPath)
    } catch (error) {
      if (depth > 0 && isGone(error)) return
      throw error
    }
    try {
      const status = await held.stat()
      const here = `/proc/self/fd/${held.fd}`
      await visit({ status, path: status.isSymbolicLink() ? place : here })
      if (!status.isDirectory()) return
      if (depth === treeDepthMax) throw new TreeTooDeep(`folders are nested more than ${treeDepthMax} levels deep`)
      for await (const { name } of await opendir(here)) await walk(`${here}/${name}`, depth + 1)
    } finally {
      await held.close()
    }
  }
  await walk(path, 0)
}

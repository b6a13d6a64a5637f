import { chmod, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Files } from '../files.ts'

const ownerOnly = 0o600
let temporaryCount = 0

const orWhenMissing =
  <T>(fallback: T) =>
  (error: unknown): T => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return fallback
    throw error
  }

const directoryMode = 0o700

/**
 * Creates one directory at a time: mkdir with `recursive` does not return where directories cannot be created, as in
 * /proc.
 */
async function makeFolder(path: string): Promise<void> {
  const make = () => mkdir(path, { mode: directoryMode })
  try {
    await make()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    const parent = dirname(path)
    if (code !== 'ENOENT' || parent === path) throw error
    await makeFolder(parent)
    await make()
  }
}

export const nodeFiles: Files = {
  read: (path) => readFile(path).catch(orWhenMissing(undefined)),
  async write(path, content, mode = ownerOnly) {
    const temporary = `${path}.${process.pid}.${temporaryCount++}.tmp`
    try {
      const file = await open(temporary, 'wx', mode)
      try {
        await file.writeFile(content)
        await file.sync()
      } finally {
        await file.close()
      }
      await chmod(temporary, mode) // the umask may have cleared bits
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {}) // the error that led here says more
      throw new Error(`cannot write ${path}`, { cause: error }) // that of a full disk names no file
    }
    const directory = await open(dirname(path))
    try {
      await directory.sync() // the new name is durable too
    } finally {
      await directory.close()
    }
  },
  list: async (path) => (await readdir(path).catch(orWhenMissing([]))).toSorted(),
  makeDirectory: makeFolder,
  async openAppend(path) {
    const file = await open(path, 'a', ownerOnly)
    const state = { bytes: (await file.stat()).size }
    return {
      get bytes() {
        return state.bytes
      },
      async append(content) {
        await file.appendFile(content)
        state.bytes += content.length
      },
      close: () => file.close(),
    }
  },
  rename,
  realPath: (path) => realpath(path).catch(orWhenMissing(undefined)),
  remove: (path) => rm(path, { recursive: true, force: true }),
}

import { chmod, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
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
      await chmod(temporary, mode) // the umask may have taken bits away
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
    const folder = await open(dirname(path))
    try {
      await folder.sync() // the new name is durable too
    } finally {
      await folder.close()
    }
  },
  list: async (path) => (await readdir(path).catch(orWhenMissing([]))).toSorted(),
  async makeFolder(path) {
    await mkdir(path, { recursive: true, mode: 0o700 })
  },
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
  remove: (path) => rm(path, { recursive: true, force: true }),
}

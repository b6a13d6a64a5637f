// NodeSystemLogs: logs of this host. Pods that can write there may plant links, so nothing outside of the directory is
// shown.
import { constants } from 'node:fs'
import { open, readdir, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { SystemLog, SystemLogs } from './system-logs.ts'

const nowhere = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ENAMETOOLONG'])

export class NodeSystemLogs implements SystemLogs {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async find(path: string): Promise<SystemLog | undefined> {
    const held = await this.#open(path)
    if (held === undefined) return undefined
    try {
      const { file } = held
      const status = await file.stat()
      if (status.isDirectory()) {
        const entries = await readdir(`/proc/self/fd/${file.fd}`, { withFileTypes: true })
        const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
        return { kind: 'directory', names: names.toSorted() }
      }
      if (!status.isFile()) return undefined
      return { kind: 'file', modifiedMs: status.mtimeMs, content: () => this.#content(path) }
    } finally {
      await held.file.close()
    }
  }

  async *#content(path: string): AsyncGenerator<Uint8Array> {
    const held = await this.#open(path)
    if (held !== undefined) yield* held.file.createReadStream() as AsyncIterable<Uint8Array>
  }

  /** The opened descriptor is checked, so the file cannot be replaced in between. */
  async #open(path: string): Promise<{ readonly file: FileHandle } | undefined> {
    let file: FileHandle
    try {
      // O_NONBLOCK: opening a FIFO without a writer must not block.
      file = await open(join(this.#directory, path), constants.O_RDONLY | constants.O_NONBLOCK)
    } catch (error) {
      if (nowhere.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
      throw error
    }
    const [root, place] = await Promise.all([realpath(this.#directory), readlink(`/proc/self/fd/${file.fd}`)])
    if (place === root || place.startsWith(`${root}/`)) return { file }
    await file.close()
    return undefined
  }
}

// NodeLogFiles: log files of the host.
import { constants, createWriteStream, watch, type FSWatcher } from 'node:fs'
import { lstat, open, readdir, readlink, realpath, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { realClock } from '../../base/time/clock.ts'
import type { LogFile, LogFiles, LogDirectory } from './log-files.ts'

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'
const pollMs = 1_000
const partSuffix = '.part'

export class NodeLogFiles implements LogFiles, LogDirectory {
  readonly #directory: string

  /** Files outside of the directory are not read, even through a link. */
  constructor(directory: string) {
    this.#directory = directory
  }

  async open(path: string): Promise<LogFile | undefined> {
    const file = await openInDirectory(path, this.#directory)
    return file === undefined ? undefined : new NodeLogFile(path, file)
  }

  async sizeOf(path: string): Promise<number> {
    try {
      return (await lstat(path)).size
    } catch (error) {
      if (isMissing(error)) return 0
      throw error
    }
  }

  async list(prefix: string): Promise<readonly string[]> {
    const directory = dirname(prefix)
    const names = await readdir(directory).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    return names
      .map((name) => join(directory, name))
      .filter((path) => path.startsWith(prefix))
      .toSorted()
  }

  move(from: string, to: string): Promise<void> {
    return rename(from, to)
  }

  async compress(path: string): Promise<void> {
    const part = `${path}${partSuffix}`
    // Left by an interrupted compression. It is removed first, so that a planted link is not written through.
    await rm(part, { force: true })
    const file = await openInDirectory(path, this.#directory)
    if (file === undefined) return rm(path)
    try {
      await pipeline(file.createReadStream(), createGzip(), createWriteStream(part, { mode: 0o600, flags: 'wx' }))
      await rename(part, `${path}.gz`)
      await rm(path)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  remove(path: string): Promise<void> {
    return rm(path, { force: true })
  }
}

const notALog = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'])

/**
 * The opened descriptor is checked rather than the path, because containers may replace a file with a link at any time.
 */
async function openInDirectory(path: string, directory: string): Promise<FileHandle | undefined> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (notALog.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
  const [root, place, status] = await Promise.all([
    realpath(directory),
    readlink(`/proc/self/fd/${file.fd}`),
    file.stat(),
  ])
  if (status.isFile() && place.startsWith(`${root}/`)) return file
  await file.close()
  return undefined
}

class NodeLogFile implements LogFile {
  readonly #path: string
  readonly #file: FileHandle
  #watcher: FSWatcher | undefined
  #hasChanged = true
  #notify = () => {}

  constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  async range(): Promise<{ start: number; end: number }> {
    return { start: 0, end: (await this.#file.stat()).size }
  }

  async read(at: number, bytesMax: number): Promise<Uint8Array> {
    const { buffer, bytesRead } = await this.#file.read(new Uint8Array(bytesMax), 0, bytesMax, at)
    return buffer.subarray(0, bytesRead)
  }

  async isReplaced(): Promise<boolean> {
    try {
      const [now, here] = await Promise.all([lstat(this.#path), this.#file.stat()])
      return now.ino !== here.ino
    } catch (error) {
      if (isMissing(error)) return false // it was renamed, and the next file does not exist yet
      throw error
    }
  }

  // The directory is watched, because the file may be renamed. Changes before the first call count.
  async waitForChange(signal: AbortSignal): Promise<void> {
    this.#watcher ??= watch(dirname(this.#path), () => {
      this.#hasChanged = true
      this.#notify()
    }).on('error', () => this.#watcher?.close()) // the periodic check is sufficient
    if (!this.#hasChanged) {
      const changed = Promise.withResolvers<void>()
      const notify = () => changed.resolve()
      this.#notify = notify
      const timer = realClock.after(pollMs, notify)
      signal.addEventListener('abort', notify, { once: true })
      await changed.promise
      signal.removeEventListener('abort', notify)
      timer.cancel()
    }
    signal.throwIfAborted()
    this.#hasChanged = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher?.close()
    await this.#file.close()
  }
}

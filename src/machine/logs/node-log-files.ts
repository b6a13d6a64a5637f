// NodeLogFiles: the host's own log files.
import { createReadStream, createWriteStream, watch, type FSWatcher } from 'node:fs'
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { realClock } from '../../base/clock.ts'
import type { LogFile, LogFiles, LogFolder } from './log-files.ts'

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'
const lookAgainMs = 1_000
const partSuffix = '.part'

export class NodeLogFiles implements LogFiles, LogFolder {
  async open(path: string): Promise<LogFile | undefined> {
    try {
      return new NodeLogFile(path, await open(path))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async sizeOf(path: string): Promise<number> {
    try {
      return (await stat(path)).size
    } catch (error) {
      if (isMissing(error)) return 0
      throw error
    }
  }

  async list(prefix: string): Promise<readonly string[]> {
    const folder = dirname(prefix)
    const names = await readdir(folder).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    return names
      .map((name) => join(folder, name))
      .filter((path) => path.startsWith(prefix))
      .toSorted()
  }

  move(from: string, to: string): Promise<void> {
    return rename(from, to)
  }

  async compress(path: string): Promise<void> {
    const part = `${path}${partSuffix}`
    try {
      await pipeline(createReadStream(path), createGzip(), createWriteStream(part, { mode: 0o600 }))
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

class NodeLogFile implements LogFile {
  readonly #path: string
  readonly #file: FileHandle
  #watcher: FSWatcher | undefined
  #hasChanged = true
  #wake = () => {}

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
      const [now, here] = await Promise.all([stat(this.#path), this.#file.stat()])
      return now.ino !== here.ino
    } catch (error) {
      if (isMissing(error)) return false // it was moved away, and the next one is not there yet
      throw error
    }
  }

  // The folder is watched, for the file may be moved away. What happened before the first call counts as a change.
  async changed(signal: AbortSignal): Promise<void> {
    this.#watcher ??= watch(dirname(this.#path), () => {
      this.#hasChanged = true
      this.#wake()
    }).on('error', () => this.#watcher?.close()) // looking again every second is enough
    if (!this.#hasChanged) {
      const woken = Promise.withResolvers<void>()
      const wake = () => woken.resolve()
      this.#wake = wake
      const timer = realClock.after(lookAgainMs, wake)
      signal.addEventListener('abort', wake, { once: true })
      await woken.promise
      signal.removeEventListener('abort', wake)
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

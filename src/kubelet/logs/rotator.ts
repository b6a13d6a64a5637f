// LogRotator: keeps the logs of containers bounded: a file that has grown too large is moved aside, older ones are
// compressed, the oldest are removed.
import type { Clock } from '../../base/clock.ts'
import { errorText, type Log } from '../../base/log.ts'
import type { LogFolder } from '../../machine/logs/log-files.ts'
import type { ContainerRuntime } from '../../machine/runtime/runtime.ts'

export interface LogRotatorParts {
  readonly runtime: Pick<ContainerRuntime, 'podUids' | 'inspect' | 'reopenLog'>
  readonly folder: LogFolder
  readonly clock: Clock
  readonly log: Log
}

export interface LogRotatorOptions {
  readonly fileBytesMax: number
  /** Of each container, the one that is written into included. */
  readonly filesMax: number
  readonly lookEveryMs: number
}

/** As upstream: 10 MiB, five files, every ten seconds. */
export const logRotatorDefaults: LogRotatorOptions = {
  fileBytesMax: 10 * 1024 * 1024,
  filesMax: 5,
  lookEveryMs: 10_000,
}

const compressedSuffix = '.gz'

export class LogRotator {
  readonly #parts: LogRotatorParts
  readonly #options: LogRotatorOptions

  constructor(parts: LogRotatorParts, options: LogRotatorOptions = logRotatorDefaults) {
    this.#parts = parts
    this.#options = options
  }

  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.rotateAll(signal)
      await this.#parts.clock.sleep(this.#options.lookEveryMs, signal)
    }
  }

  /** Looks at every running container once. One that fails holds up no other. */
  async rotateAll(signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#parts
    for (const uid of await runtime.podUids(signal).catch(() => []))
      try {
        for (const { id, state, logPath } of (await runtime.inspect(uid, signal))?.containers ?? [])
          if (state === 'running' && logPath !== '') await this.#rotate(id, logPath, signal)
      } catch (error) {
        signal.throwIfAborted()
        log.warn('a log could not be rotated', { pod: uid, error: errorText(error) })
      }
  }

  async #rotate(containerId: string, path: string, signal: AbortSignal): Promise<void> {
    const { folder, runtime, clock } = this.#parts
    const { fileBytesMax, filesMax } = this.#options
    if ((await folder.sizeOf(path)) <= fileBytesMax) return
    const before = (await folder.list(`${path}.`)).filter((old) => isRotated(path, old))
    // The new one and the one that is written into count too.
    const surplus = Math.max(0, before.length - (filesMax - 2))
    for (const old of before.slice(0, surplus)) await folder.remove(old)
    for (const old of before.slice(surplus)) if (!old.endsWith(compressedSuffix)) await folder.compress(old)
    const aside = `${path}.${timestamp(clock.nowMs())}`
    await folder.move(path, aside)
    try {
      await runtime.reopenLog(containerId, signal)
    } catch (error) {
      await folder.move(aside, path) // what it goes on printing stays with its name
      throw error
    }
  }
}

const isRotated = (path: string, old: string): boolean => /^\.\d{8}-\d{6}(\.gz)?$/.test(old.slice(path.length))

/** `20260102-030405` */
const timestamp = (ms: number): string =>
  new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')

// LogRotator: bounds the logs of containers. A file that exceeds the size limit is renamed, older files are compressed,
// and the oldest are removed.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { LogDirectory } from '../../machine/logs/log-files.ts'
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'

export interface LogRotatorDeps {
  readonly runtime: Pick<ContainerRuntime, 'podUids' | 'inspect' | 'reopenLog'>
  readonly directory: LogDirectory
  readonly clock: Clock
  readonly log: Log
}

export interface LogRotatorOptions {
  readonly fileBytesMax: number
  /** Per container, including the current file. */
  readonly filesMax: number
  readonly intervalMs: number
}

/** As upstream: 10 MiB, five files, every ten seconds. */
export const logRotatorDefaults: LogRotatorOptions = {
  fileBytesMax: 10 * 1024 * 1024,
  filesMax: 5,
  intervalMs: 10_000,
}

const compressedSuffix = '.gz'

export class LogRotator {
  readonly #deps: LogRotatorDeps
  readonly #options: LogRotatorOptions

  constructor(deps: LogRotatorDeps, options: LogRotatorOptions = logRotatorDefaults) {
    this.#deps = deps
    this.#options = options
  }

  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.rotateAll(signal)
      await this.#deps.clock.sleep(this.#options.intervalMs, signal)
    }
  }

  /** Checks every running container once. A failure does not affect other pods. */
  async rotateAll(signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#deps
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
    const { directory, runtime, clock } = this.#deps
    const { fileBytesMax, filesMax } = this.#options
    if ((await directory.sizeOf(path)) <= fileBytesMax) return
    const before = (await directory.list(`${path}.`)).filter((old) => isRotated(path, old))
    // The current file and the one rotated now count, too.
    const surplus = Math.max(0, before.length - (filesMax - 2))
    for (const old of before.slice(0, surplus)) await directory.remove(old)
    for (const old of before.slice(surplus)) if (!old.endsWith(compressedSuffix)) await directory.compress(old)
    const aside = `${path}.${timestamp(clock.nowMs())}`
    await directory.move(path, aside)
    try {
      await runtime.reopenLog(containerId, signal)
    } catch (error) {
      await directory.move(aside, path) // the container continues to write to the original path
      throw error
    }
  }
}

const isRotated = (path: string, old: string): boolean => /^\.\d{8}-\d{6}(\.gz)?$/.test(old.slice(path.length))

/** `20260102-030405` */
const timestamp = (ms: number): string =>
  new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')

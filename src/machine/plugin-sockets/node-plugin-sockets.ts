// Plugin sockets in a directory of the host. Subdirectories are searched too, as upstream does.
import { watch } from 'node:fs'
import { lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/time/clock.ts'
import { pluginSocketsMax, relistMs, type PluginSocket, type PluginSockets } from './plugin-sockets.ts'

/** Changes are collected for this time, because a plugin that starts causes several events. */
const settleMs = 100

export class NodePluginSockets implements PluginSockets {
  readonly #directory: string
  readonly #clock: Clock

  constructor(directory: string, clock: Clock) {
    this.#directory = directory
    this.#clock = clock
  }

  async list(): Promise<readonly PluginSocket[]> {
    await mkdir(this.#directory, { recursive: true, mode: 0o750 })
    const entries = await readdir(this.#directory, { recursive: true, withFileTypes: true })
    const paths = entries
      .filter((entry) => entry.isSocket() && !entry.name.startsWith('.'))
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .slice(0, pluginSocketsMax)
    const sockets: PluginSocket[] = []
    for (const path of paths) {
      const status = await lstat(path).catch(() => undefined)
      if (status !== undefined) sockets.push({ path, identity: `${status.ino} ${status.ctimeMs}` })
    }
    return sockets
  }

  async waitForChange(signal: AbortSignal): Promise<void> {
    const changed = Promise.withResolvers<void>()
    const resolve = () => changed.resolve()
    const watcher = watch(this.#directory, { recursive: true }, resolve)
    watcher.on('error', resolve)
    const timer = this.#clock.after(relistMs, resolve)
    signal.addEventListener('abort', resolve, { once: true })
    try {
      await changed.promise
    } finally {
      signal.removeEventListener('abort', resolve)
      timer.cancel()
      watcher.close()
    }
    await this.#clock.sleep(settleMs, signal)
  }
}

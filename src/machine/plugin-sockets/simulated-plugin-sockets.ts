// Plugin sockets of a simulated node, in memory.
import { pluginSocketsMax, type PluginSocket, type PluginSockets } from './plugin-sockets.ts'

export class SimulatedPluginSockets implements PluginSockets {
  readonly #identities = new Map<string, string>()
  readonly #waiters = new Set<() => void>()
  #created = 0

  /** Creates the socket, or replaces it by a new one. */
  add(path: string): void {
    this.#identities.set(path, String(++this.#created))
    this.#changed()
  }

  remove(path: string): void {
    this.#identities.delete(path)
    this.#changed()
  }

  list(): Promise<readonly PluginSocket[]> {
    const sockets = [...this.#identities].map(([path, identity]) => ({ path, identity }))
    return Promise.resolve(sockets.toSorted((a, b) => (a.path < b.path ? -1 : 1)).slice(0, pluginSocketsMax))
  }

  async waitForChange(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const changed = Promise.withResolvers<void>()
    const resolve = () => changed.resolve()
    this.#waiters.add(resolve)
    signal.addEventListener('abort', resolve, { once: true })
    await changed.promise
    this.#waiters.delete(resolve)
    signal.removeEventListener('abort', resolve)
    signal.throwIfAborted()
  }

  #changed(): void {
    for (const resolve of this.#waiters) resolve()
  }
}

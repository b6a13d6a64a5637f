// ManualShutdown: shutdowns that this process triggers: of simulated machines, and of real ones where SIGTERM is the
// only sign of a shutdown.
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { HostShutdown, ShutdownListener } from './host-shutdown.ts'

export class ManualShutdown implements HostShutdown {
  readonly #listeners = new Set<ShutdownListener>()

  async listen(_delayMs: number, listener: ShutdownListener, onReady: () => void, signal: AbortSignal): Promise<void> {
    this.#listeners.add(listener)
    onReady()
    try {
      await unlessAborted(Promise.withResolvers<never>().promise, signal)
    } finally {
      this.#listeners.delete(listener)
    }
  }

  /** Whether a shutdown would be delayed. */
  get isDelayed(): boolean {
    return this.#listeners.size > 0
  }

  /** Starts a shutdown; resolves when all listeners have completed. */
  async announce(): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener.onShutdown()))
  }

  async cancel(): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener.onCancelled()))
  }
}

// AnnouncedShutdown: shutdowns as this process announces them: of simulated machines, and of real ones where SIGTERM is the
// only sign of their end.
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

  /** Whether a shutdown would wait for anybody. */
  get isDelayed(): boolean {
    return this.#listeners.size > 0
  }

  /** The machine goes down; resolves when all who listen have let it. */
  async announce(): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener.onShutdown()))
  }

  async cancel(): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener.onCancelled()))
  }
}

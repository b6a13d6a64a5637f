// HostShutdown: reports that the machine is about to shut down, and delays it while pods terminate. Drivers:
// systemd-logind, and one that is triggered by this process. Every driver passes shutdown-contract.suite.ts.

export interface ShutdownListener {
  /** The machine is about to shut down; it waits until this resolves, up to the agreed delay. */
  onShutdown(): Promise<void>
  /** The shutdown was cancelled. */
  onCancelled(): Promise<void>
}

export interface HostShutdown {
  /**
   * Listens until the signal is aborted; after `onReady` shutdowns are delayed. Rejects with CannotDelayShutdown when
   * that is not possible.
   */
  listen(delayMs: number, listener: ShutdownListener, onReady: () => void, signal: AbortSignal): Promise<void>
}

/** This machine does not report shutdowns or does not allow delaying them. */
export class CannotDelayShutdown extends Error {
  override name = 'CannotDelayShutdown'
}

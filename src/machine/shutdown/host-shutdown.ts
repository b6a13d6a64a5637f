// HostShutdown: hears that the machine is about to go down, and holds that up while pods end. Drivers: systemd's logind,
// and one whose shutdowns are announced by this process. Every driver passes contract.suite.ts.

export interface ShutdownListener {
  /** The machine is about to go down; it waits until this resolves, but not longer than was agreed. */
  onShutdown(): Promise<void>
  /** It will not go down after all. */
  onCancelled(): Promise<void>
}

export interface HostShutdown {
  /** Listens until the signal ends it; from `onReady` on the machine waits. Rejects with CannotHoldUp where it never would. */
  listen(delayMs: number, listener: ShutdownListener, onReady: () => void, signal: AbortSignal): Promise<void>
}

/** Nobody on this machine tells of shutdowns, or lets them be held up. */
export class CannotDelayShutdown extends Error {
  override name = 'CannotDelayShutdown'
}

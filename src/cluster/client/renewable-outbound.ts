// RenewableOutbound: connections to one server that are replaced when the client certificate is renewed.
import type { Clock, Timer } from '../../base/time/clock.ts'
import type { Outbound, OutboundResponse, OutboundRequest } from '../../platform/http/outbound.ts'

/** How long requests may continue on the old connections. Watches are then closed and resume. */
const drainMs = 10_000

export class RenewableOutbound implements Outbound {
  readonly #clock: Clock
  #current: Outbound
  readonly #old = new Map<Outbound, Timer>()

  constructor(first: Outbound, clock: Clock) {
    this.#current = first
    this.#clock = clock
  }

  renew(next: Outbound): void {
    const old = this.#current
    this.#current = next
    const timer = this.#clock.after(drainMs, () => {
      this.#old.delete(old)
      void old.close()
    })
    this.#old.set(old, timer)
  }

  send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    return this.#current.send(request, signal)
  }

  async close(): Promise<void> {
    for (const timer of this.#old.values()) timer.cancel()
    await Promise.all([this.#current, ...this.#old.keys()].map((outbound) => outbound.close()))
  }
}

// SessionAffinity: which endpoint the last connection of a client to a Service port went to, per node.
import type { Clock } from '../../base/time/clock.ts'

/** Clients that are remembered; the one whose last connection is oldest is forgotten first. */
const clientsMax = 10_000

interface Session {
  readonly endpoint: string
  readonly usedMs: number
}

export class SessionAffinity {
  readonly #clock: Clock
  /** In the order of their last connections. */
  readonly #sessions = new Map<string, Session>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The endpoint of the client's last connection, if that was within the timeout. */
  endpointOf(client: string, timeoutSeconds: number): string | undefined {
    const session = this.#sessions.get(client)
    if (session === undefined || this.#clock.nowMs() - session.usedMs >= timeoutSeconds * 1_000) return undefined
    return session.endpoint
  }

  remember(client: string, endpoint: string): void {
    this.#sessions.delete(client)
    this.#sessions.set(client, { endpoint, usedMs: this.#clock.nowMs() })
    if (this.#sessions.size <= clientsMax) return
    for (const oldest of this.#sessions.keys()) return void this.#sessions.delete(oldest)
  }
}

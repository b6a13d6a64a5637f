// ServedConnection: a connection as a listener sees it, independent of the version of HTTP.
import type { ConnectionUse } from '../limits/idle-connections.ts'

export interface ServedConnection extends ConnectionUse {
  /** Closes the connection after the current responses. */
  drain(): void
  /** Called each second: enforces timeouts and measures the bytes that are held. */
  tick(): void
  /** The client's certificate has expired. */
  revoke(): void
}

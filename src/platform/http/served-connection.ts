// ServedConnection: what a listener asks of a connection, whichever version of HTTP it speaks.
import type { ConnectionUse } from '../limits/idle-connections.ts'

export interface ServedConnection extends ConnectionUse {
  /** Ends behind the responses that are under way. */
  drain(): void
  /** Called each second: what takes too long ends, and what is held is measured. */
  tick(): void
  /** The client's certificate has expired. */
  revoke(): void
}

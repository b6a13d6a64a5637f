// Limits of a listener: connections, TLS handshakes, and memory that requests and responses may hold.

export interface ListenLimits {
  /** Open connections, TLS handshakes included. */
  readonly connectionsMax: number
  /** Open connections of one client (see clientKey). */
  readonly connectionsPerClientMax: number
  /** Connections that have not completed their TLS handshake. */
  readonly handshakesMax: number
  /** From accept to the end of the TLS handshake. */
  readonly handshakeMsMax: number
  /** Request bodies being received and response bytes not yet sent, of all connections. */
  readonly heldBytesMax: number
  readonly heldBytesPerClientMax: number
  readonly heldBytesPerConnectionMax: number
}

/** One client may hold half of the memory, one connection an eighth. */
export const heldBytesLimits = (heldBytesMax: number) => ({
  heldBytesMax,
  heldBytesPerClientMax: Math.floor(heldBytesMax / 2),
  heldBytesPerConnectionMax: Math.floor(heldBytesMax / 8),
})

export const listenLimitsDefault: ListenLimits = {
  connectionsMax: 10_000,
  connectionsPerClientMax: 2_500,
  handshakesMax: 1_000,
  handshakeMsMax: 30_000,
  ...heldBytesLimits(128 << 20),
}

/** Why a listener rejected or closed a connection, or ended a request, or why a connection served none. */
export const shedReasons = [
  'connections', // the overall limit
  'connections-per-client',
  'descriptors', // the process or the machine has no file descriptor left
  'handshake-failed', // the connection was closed, by either side, before its TLS handshake was complete
  'handshake-timeout',
  'handshakes',
  'idle', // closed to make room for other connections
  'memory',
  'stalled', // the client did not send its body or take its response in time
] as const
export type ShedReason = (typeof shedReasons)[number]

/** Called with how many connections or requests were shed, and the bytes that they held. */
export type OnShed = (reason: ShedReason, count: number, bytes: number) => void

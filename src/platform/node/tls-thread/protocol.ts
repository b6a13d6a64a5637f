// The protocol between the TLS thread and its acceptor: messages for the acceptor, frames for connections.
import type { ListenLimits, ShedReason } from '../../limits/listen-limits.ts'
import type { ListenTls } from '../../http/listener.ts'
import type { ClientCertificate } from '../../http/listener.ts'
import type { LinkMemory } from './link.ts'

/** The first message to the thread. */
export interface ThreadStart {
  readonly memory: LinkMemory
  readonly host: string
  readonly port: number
  readonly tls: ListenTls
  readonly limits: ListenLimits
}

/** wake: there are frames, or room for them. shut: stop accepting connections. */
export type ToThread = ThreadStart | 'wake' | 'shut' | { readonly renew: ListenTls }

export type FromThread =
  | 'wake'
  | 'renewed'
  | { readonly host: string; readonly port: number }
  /** How many connections were shed since the last such message. */
  | { readonly shed: readonly (readonly [reason: ShedReason, count: number])[] }
  | { readonly failed: { readonly code: string; readonly message: string } }

/**
 * Frames of the thread. opened: with an OpenedPeer as JSON; bytes: received from the client; acknowledged: how many
 * bytes the client has received; ended: the client has ended its side; finished: everything has been sent; closed: the
 * last frame.
 */
export const fromClient = { opened: 0, bytes: 1, acknowledged: 2, ended: 3, finished: 4, closed: 5 } as const
/**
 * Frames of the acceptor. end: after the bytes before it; destroy: at once; pause and resume: reading of the socket; taken:
 * how many bytes of the client the event loop has taken.
 */
export const toClient = { bytes: 0, end: 1, destroy: 2, pause: 3, resume: 4, taken: 5 } as const

export interface OpenedPeer {
  readonly remoteAddress: string
  readonly certificate?: ClientCertificate | undefined
  readonly isHttp2: boolean
}

/** A tag is the id of a connection and the kind of the frame. */
const kindBits = 3
export const connectionIdsMax = 1 << 28
export const tagOf = (kind: number, number: number): number => (number << kindBits) | kind
export const kindOf = (tag: number): number => tag & ((1 << kindBits) - 1)
export const connectionIdOf = (tag: number): number => tag >>> kindBits

/** The content of a frame that reports a number of bytes. */
export function uint32(count: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32LE(count)
  return bytes
}
export const countOf = (bytes: Buffer): number => bytes.readUInt32LE()

/** Beyond this many unacknowledged bytes the client is behind. */
export const windowBytes = 256 << 10
/** Fewer bytes are acknowledged only once a second. */
export const acknowledgeBytesMin = 64 << 10

/**
 * A client is not read while the event loop has not taken this many of its bytes: they would fill buffers that all clients
 * share, and many are never used, such as the body of a request that is rejected.
 */
export const untakenBytesMax = 256 << 10
/** Fewer are not reported as taken. */
export const takenBytesMin = 64 << 10

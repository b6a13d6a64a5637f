// What the TLS thread and its door tell each other: messages about the door, frames about connections.
import type { ListenLimits, ShedReason } from '../../limits/listen-limits.ts'
import type { ListenTls } from '../../http/listener.ts'
import type { ConnectionCertificate } from '../socket/client-certificate.ts'
import type { LinkMemory } from './link.ts'

/** What the thread starts with. */
export interface ThreadStart {
  readonly memory: LinkMemory
  readonly host: string
  readonly port: number
  readonly tls: ListenTls
  readonly limits: ListenLimits
}

/** wake: there are frames, or room for them. shut: no new connections. */
export type ToThread = 'wake' | 'shut' | { readonly renew: ListenTls }

export type FromThread =
  | 'wake'
  | 'renewed'
  | { readonly host: string; readonly port: number }
  /** So many connections were shed since the last such message. */
  | { readonly shed: readonly (readonly [reason: ShedReason, count: number])[] }
  | { readonly failed: { readonly code: string; readonly message: string } }

/**
 * Frames of the thread: opened, with an OpenedPeer as JSON; bytes; so many bytes taken; ended by the client; all sent, the
 * end too; closed, the last one.
 */
export const fromClient = { opened: 0, bytes: 1, acknowledged: 2, ended: 3, finished: 4, closed: 5 } as const
/** Frames of the door: bytes; no more of them; close at once; read no more, and again. */
export const toClient = { bytes: 0, end: 1, destroy: 2, pause: 3, resume: 4 } as const

export interface OpenedPeer {
  readonly remoteAddress: string
  readonly certificate?: ConnectionCertificate | undefined
  readonly isHttp2: boolean
}

/** The number of a connection leaves room for the kind. */
const kindBits = 3
export const connectionIdsMax = 1 << 28
export const tagOf = (kind: number, number: number): number => (number << kindBits) | kind
export const kindOf = (tag: number): number => tag & ((1 << kindBits) - 1)
export const connectionIdOf = (tag: number): number => tag >>> kindBits

/** So much may be under way to a client. */
export const windowBytes = 256 << 10
/** What a client has taken is told in portions. */
export const acknowledgeBytesMin = 64 << 10

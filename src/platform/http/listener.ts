// Listener: an HTTPS server as a contract, HTTP/1.1 and HTTP/2 on one port; plain HTTP/1.1 where there is no secret to
// keep. It knows bytes and headers, no API.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { ByteStream } from './byte-stream.ts'
import type { ListenLimits, OnShed } from '../limits/listen-limits.ts'

export interface WireRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The values of a header that was sent several times, in their order, each as sent. */
  readonly headerValues: (name: string) => readonly string[]
  readonly remoteAddress: string
  /** The client certificate, when one was presented. */
  readonly certificate: ClientCertificate | undefined
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal
  /** Aborts the signal for a reason of the server's own. */
  cancel(reason: Error): void
  /** The client asks to leave HTTP/1.1 for another protocol. */
  readonly upgrade: boolean
  /**
   * The whole body, at once when it has come; fails with BodyTooLarge beyond the limit, and with Overloaded where memory
   * is short. Until it is called, only what fits into the buffers of the connection is held.
   */
  body(bytesMax: number): MaybePromise<Uint8Array>
}

export interface ClientCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** SHA-256 of the certificate, in hexadecimal digits. */
  readonly fingerprint: string
  /** Which of the configured authorities vouches for it; undefined: none, or it is not valid at this time. */
  readonly authority: ClientAuthority | undefined
}

export const isVerified = (certificate: ClientCertificate | undefined): boolean => certificate?.authority !== undefined

/** users: its subjects are users; proxies: its subjects may name the users that they speak for. */
export type ClientAuthority = 'users' | 'proxies'

export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** A stream is written as it comes, each piece flushed; it ends when the client goes away. */
  readonly body: Uint8Array | string | AsyncIterable<Uint8Array | string> | WirePieces
  /** Takes the connection over once status and headers are written, in answer to a request that asked to upgrade. */
  readonly onUpgrade?: (socket: ByteStream) => Promise<void>
}

/** A stream whose pieces are taken when the client can take them, many at a time. */
export interface WirePieces {
  /** Calls back when there may be something to take. */
  listen(wake: () => void): void
  /** The pieces that are there; undefined at the end. */
  take(): readonly Uint8Array[] | undefined
  /** The client is gone. */
  close(): void
  /** They end, and are worth to be compressed. */
  readonly isLong?: boolean
}

export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge'
}

/** The request is not answered because too much memory is in use; it may be sent again. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

export interface ListenOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Plain HTTP when left out. */
  readonly tls?: ListenTls
  /** TLS is spoken by a thread of its own: more to start with, much less for the event loop to do under load. */
  readonly hasTlsThread?: boolean
  /** Answers a request; a failure becomes a bare 500. */
  readonly handle: (request: WireRequest) => MaybePromise<WireResponse>
  /** The defaults where left out. */
  readonly limits?: Partial<ListenLimits>
  /** Hears of connections and requests that were refused or ended to keep the limits. */
  readonly onShed?: OnShed
}

export interface ListenTls {
  readonly certificate: string
  readonly key: string
  /** The authorities of client certificates, as PEM. */
  readonly clientAuthorities: Readonly<Partial<Record<ClientAuthority, string>>>
}

export interface Listener {
  readonly host: string
  readonly port: number
  /** Resolves when new connections get this certificate and these authorities. */
  renew(tls: ListenTls): Promise<void>
  /** Stops accepting, lets answers under way end for at most `graceMs`, then cuts the rest. */
  close(graceMs: number): Promise<void>
}

export interface ListenerProvider {
  listen(options: ListenOptions): Promise<Listener>
}

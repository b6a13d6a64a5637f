// Listener: the contract of an HTTPS server with HTTP/1.1 and HTTP/2 on one port, or of a plain HTTP/1.1 server. It is
// independent of the Kubernetes API.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { ByteStream } from './byte-stream.ts'
import type { ListenLimits, OnShed } from '../limits/listen-limits.ts'

export interface WireRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The values of a header that was sent several times, in order, as sent. */
  readonly headerValues: (name: string) => readonly string[]
  readonly remoteAddress: string
  /** The client certificate, if one was presented. */
  readonly certificate: ClientCertificate | undefined
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal
  /** Aborts the signal on behalf of the server. */
  cancel(reason: Error): void
  /** The client requests an upgrade from HTTP/1.1 to another protocol. */
  readonly upgrade: boolean
  /**
   * The whole body, synchronously if it has arrived. Fails with BodyTooLarge beyond the limit, and with Overloaded when
   * memory is short. Until this is called, only what fits into the buffers of the connection is held. The bytes belong to
   * the caller.
   */
  body(bytesMax: number): MaybePromise<Uint8Array>
}

/** A request whose body may be forwarded as it arrives. */
export interface StreamedRequest extends WireRequest {
  /** The length of the body in bytes; 0 without a body, undefined if it is unknown. */
  readonly bodyBytes: number | undefined
  /**
   * The body as it arrives, instead of `body`. May be iterated once. Fails with BodyTooLarge beyond the limit. The client is
   * read only as fast as the pieces are taken; the handler must bound the time that it waits for them.
   */
  bodyPieces(bytesMax: number): AsyncIterable<Uint8Array>
}

export interface ClientCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** SHA-256 of the certificate, in hexadecimal digits. */
  readonly fingerprint: string
  /** For what the authority that has signed it is trusted; empty if it is not, or if the certificate is not valid now. */
  readonly trustedFor: readonly ClientAuthority[]
  readonly validToMs: number
}

export const isVerified = (certificate: ClientCertificate | undefined): boolean =>
  certificate !== undefined && certificate.trustedFor.length > 0

/** users: its subjects are users; proxies: its subjects may assert other users (request header authentication). */
export type ClientAuthority = 'users' | 'proxies'

export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** A stream is sent as it is produced, each piece flushed; iteration stops when the client disconnects. */
  readonly body: Uint8Array | string | AsyncIterable<Uint8Array | string> | WirePieces
  /** The length of a stream in bytes, if it is known; also that of the body that a HEAD request leaves out. */
  readonly length?: number
  /** Called at the end of a stream. HTTP/1.1 sends trailers only in chunked bodies. */
  readonly trailers?: () => WireResponse['headers'] | undefined
  /**
   * An HTTP/2 connection remains open after the response although its client is not known to be authenticated: it has no
   * certificate and sent no Authorization header.
   */
  readonly keepsConnection?: boolean
  /** Called with the connection once status and headers are written, if the request is an upgrade. */
  readonly onUpgrade?: (socket: ByteStream) => Promise<void>
}

/** A stream from which the connection takes pieces when the client has room for them, many at a time. */
export interface WirePieces {
  /** Sets the callback for when there may be something to take. */
  listen(wake: () => void): void
  /** The pieces that are available; undefined at the end of the stream. */
  take(): readonly Uint8Array[] | undefined
  /** The client has disconnected. */
  close(): void
  /** The stream is finite and may be compressed. A watch is neither. */
  readonly isLong?: boolean
}

export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge'
}

/** The request was rejected because too much memory is in use; the client may retry. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

export interface ListenOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Plain HTTP if absent. */
  readonly tls?: ListenTls
  /** Without TLS, accepts HTTP/2 with prior knowledge beside HTTP/1.1. */
  readonly acceptsH2c?: boolean
  /** Handles a request; an exception becomes a 500 without a body. */
  readonly handle: (request: StreamedRequest) => MaybePromise<WireResponse>
  /** Compresses long responses for clients that accept it; true when left out. */
  readonly compresses?: boolean
  /** Missing limits have their defaults. */
  readonly limits?: Partial<ListenLimits>
  /** Called for connections and requests that were rejected or ended to enforce the limits. */
  readonly onShed?: OnShed
}

/** A certificate, perhaps with those of its authorities, and its key, as PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

export interface ListenTls extends KeyPair {
  /** The certificate authorities for client certificates, as PEM. */
  readonly clientAuthorities: Readonly<Partial<Record<ClientAuthority, string>>>
  /**
   * The certificate for the name that a client sends (SNI), in lower case; without one it gets `certificate`. Called for each
   * handshake. A result is prepared for use once for as long as the same object is returned. Not supported by a TlsThread.
   */
  readonly certificateOf?: (serverName: string) => KeyPair | undefined
}

export interface Listener {
  readonly host: string
  readonly port: number
  /** Resolves when new connections use this certificate and these authorities. */
  renew(tls: ListenTls): Promise<void>
  /** Stops accepting connections, waits up to `graceMs` for current responses, then closes the rest. */
  close(graceMs: number): Promise<void>
}

export interface ListenerProvider {
  /** TLS runs in the event loop. */
  listen(options: ListenOptions): Promise<Listener>
  /** Starts a thread for the TLS of one listener, so that it starts while the caller prepares what it serves. */
  startTlsThread(): TlsThread
}

/** A thread that relieves the event loop of TLS. The listener stops it; it is disposed of if there is no listener. */
export interface TlsThread extends AsyncDisposable {
  /** Called once. */
  listen(options: ListenOptions & { readonly tls: ListenTls }): Promise<Listener>
}

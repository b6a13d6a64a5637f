// Http2Connection: a client's connection to one server, and the exchanges on it: headers, bytes and flow control. It
// uses events instead of promises, so that a gRPC call takes few turns of the event loop.
import type { ServerIdentity } from './server-identity.ts'

export interface Http2Options {
  /** `https://host:port`, `http://host:port`, or `unix:/path` for a Unix domain socket. */
  readonly endpoint: string
  /** The CA of the server's certificate, and the client certificate. PEM. */
  readonly tls?: { readonly authority?: string; readonly certificate?: string; readonly key?: string }
  /** Instead of the CA, and of the host in the endpoint. */
  readonly identity?: ServerIdentity
}

export type Http2Headers = Readonly<Record<string, string>>

/**
 * Events of one exchange, in this order. `closed` is called once, last, and always unless the exchange was cancelled.
 */
export interface Http2Events {
  /** Values of a repeated header are joined, except cookies that the server sets. */
  headers(headers: Http2Headers, setCookies: readonly string[]): void
  data(bytes: Uint8Array): void
  trailers(trailers: Http2Headers): void
  closed(failure: Http2Failure | undefined): void
}

export interface Http2Failure {
  readonly message: string
  /** The error code of the reset, if the server or the connection sent one. */
  readonly resetCode: number | undefined
  /** The server has not processed the exchange: it reported so, or never received it. */
  readonly unprocessed: boolean
}

export interface Http2Exchange {
  /** Returns false when the server is slow; wait for `whenDrained` before the next write. */
  write(bytes: Uint8Array): boolean
  /** Resolves when the written bytes have been sent, or the exchange has ended. */
  whenDrained(): Promise<void>
  /** Ends the request. */
  end(bytes?: Uint8Array): void
  /** `pause` stops `data` events until `resume`; flow control bounds what the server sends in the meantime. */
  pause(): void
  resume(): void
  /** Resets the exchange. No event follows. */
  cancel(): void
}

export interface Http2Connection {
  /** Whether new exchanges may start: false after a GOAWAY of either side. */
  readonly isOpen: boolean
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>
  /** On a connection that is not open, the exchange fails at once as unprocessed. */
  request(headers: Http2Headers, events: Http2Events): Http2Exchange
  /** Resolves when the server has replied; rejects when the connection is closed. */
  ping(): Promise<void>
  /** Closes the connection after the current exchanges. */
  close(): void
  /** Closes the connection at once; current exchanges fail. */
  destroy(): void
}

export interface Http2Provider {
  /** Rejects when the server cannot be reached or its certificate is not trusted. */
  connect(options: Http2Options, signal: AbortSignal): Promise<Http2Connection>
}

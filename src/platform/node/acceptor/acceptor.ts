// Acceptor: accepts connections of clients and handles TLS, in the event loop or in a thread.
import type { Duplex } from 'node:stream'
import type { Http1Connection, Http1Options } from '../../http1/http1-connection.ts'
import type { SendProgress } from '../../limits/held-bytes.ts'
import type { ListenLimits, OnShed } from '../../limits/listen-limits.ts'
import type { ListenOptions, ListenTls } from '../../http/listener.ts'
import type { ClientCertificate } from '../../http/listener.ts'

/** A connection after the TLS handshake. Either `serveHttp1` or `stream` is called, once. */
export interface AcceptedConnection extends SendProgress {
  readonly remoteAddress: string
  readonly certificate: ClientCertificate | undefined
  readonly isHttp2: boolean
  /** The key by which the client's connections are counted (see clientKey). */
  readonly client: string
  serveHttp1(options: ServeOptions): Http1Connection
  stream(): Duplex
  onClosed(callback: () => void): void
  destroy(): void
}

/** Options of an HTTP/1.1 connection, without those that depend on the driver. */
export type ServeOptions = Omit<Http1Options, 'textOf'>

export interface Acceptor {
  readonly host: string
  readonly port: number
  /** Resolves when new connections use it. */
  renew(tls: ListenTls): Promise<void>
  /** Stops accepting connections. */
  stopAccepting(): void
  /** Closes the remaining connections. */
  close(): Promise<void>
}

export type AcceptorOptions = Pick<ListenOptions, 'host' | 'port' | 'tls' | 'acceptsH2c'> & {
  readonly limits: ListenLimits
  readonly onShed: OnShed
}
export type OpenAcceptor<Options = AcceptorOptions> = (
  options: Options,
  onConnection: (client: AcceptedConnection) => void,
) => Promise<Acceptor>

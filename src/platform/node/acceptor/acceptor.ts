// Door: where clients come in, whoever speaks TLS with them.
import type { Duplex } from 'node:stream'
import type { Http1Connection, Http1Options } from '../../http1/http1-connection.ts'
import type { ListenLimits, OnShed } from '../../limits/listen-limits.ts'
import type { ListenOptions, ListenTls } from '../../http/listener.ts'
import type { ConnectionCertificate } from '../socket/client-certificate.ts'

/** A client that has come in. It is served as one of the two, once. */
export interface AcceptedConnection {
  readonly remoteAddress: string
  readonly certificate: ConnectionCertificate | undefined
  readonly isHttp2: boolean
  /** Under which its connections are counted. */
  readonly client: string
  /** Written, and not known to be taken. */
  readonly unsentBytes: number
  serveHttp1(options: ServeOptions): Http1Connection
  stream(): Duplex
  onClosed(callback: () => void): void
  destroy(): void
}

/** What an HTTP/1.1 connection needs beside its socket. */
export type ServeOptions = Omit<Http1Options, 'textOf'>

export interface Acceptor {
  readonly host: string
  readonly port: number
  /** Resolves when it holds for all who come in. */
  renew(tls: ListenTls): Promise<void>
  /** Nobody comes in any more. */
  stopAccepting(): void
  /** Whoever is still there is cut off. */
  close(): Promise<void>
}

export type AcceptorOptions = Pick<ListenOptions, 'host' | 'port' | 'tls'> & {
  readonly limits: ListenLimits
  readonly onShed: OnShed
}
export type OpenAcceptor<Options = AcceptorOptions> = (
  options: Options,
  onConnection: (client: AcceptedConnection) => void,
) => Promise<Acceptor>

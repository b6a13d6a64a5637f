// Door: where clients come in, whoever speaks TLS with them.
import type { Duplex } from 'node:stream'
import type { Http1Connection, Http1Options } from '../http1/connection.ts'
import type { Peer } from '../http1/exchange.ts'
import type { ListenOptions, ListenTls } from '../listener.ts'

/** A client that has come in. It is served as one of the two, once. */
export interface Client extends Peer {
  readonly isHttp2: boolean
  serveHttp1(options: ServeOptions): Http1Connection
  stream(): Duplex
  onClosed(callback: () => void): void
}

/** What an HTTP/1.1 connection needs beside its socket and its client. */
export type ServeOptions = Omit<Http1Options, 'textOf' | keyof Peer>

export interface Door {
  readonly host: string
  readonly port: number
  /** Resolves when it holds for all who come in. */
  renew(tls: ListenTls): Promise<void>
  /** Nobody comes in any more. */
  shut(): void
  /** Whoever is still there is cut off. */
  close(): Promise<void>
}

export type DoorOptions = Pick<ListenOptions, 'host' | 'port' | 'tls'>
export type OpenDoor<Options = DoorOptions> = (options: Options, onClient: (client: Client) => void) => Promise<Door>

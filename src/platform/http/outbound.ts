// Outbound: HTTPS requests to one origin over a pool of kept connections, or one request on a connection of its own.
import type { ByteStream } from './byte-stream.ts'

export interface OutboundOptions {
  /** `https://host:port` */
  readonly origin: string
  readonly tls: OutboundTls
  /**
   * Which addresses may be connected to. A name is resolved once, all of its addresses are checked, and the connection goes
   * to a checked one. Understood by `exchange`.
   */
  readonly allowsAddress?: (address: string) => boolean
  /** Speaks HTTP/2 where the server does. What is given up is not told to it then: not for watches. */
  readonly http2?: boolean
}

/** Who must have signed the server's certificate, and who we are. PEM. */
export interface OutboundTls {
  readonly authority?: string
  readonly certificate?: string
  readonly key?: string
  /** Whom the certificate must name, where it is not the host. */
  readonly serverName?: string
  /** Speaks to whoever answers: who is asked cannot prove who it is. */
  readonly insecureSkipVerify?: boolean
}

export interface OutboundRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

export interface OutboundResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

export interface Outbound {
  send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse>
  close(): Promise<void>
}

export interface OutboundProvider {
  connect(options: OutboundOptions): Outbound
  /**
   * One request on a connection of its own, over HTTPS or plain HTTP, which may ask to leave HTTP. Rejects with
   * Unreachable when there is no answer. The signal ends the answer too.
   */
  exchange(options: OutboundOptions, request: OutboundRequest, signal: AbortSignal): Promise<OutboundExchange>
}

export type OutboundExchange =
  | ({ readonly kind: 'answer' } & OutboundResponse)
  /** The server has agreed: what follows is another protocol. */
  | { readonly kind: 'upgraded'; readonly headers: OutboundResponse['headers']; readonly stream: ByteStream }

/** The host is, or resolves to, an address that must not be connected to. */
export class AddressNotAllowed extends Error {
  override name = 'AddressNotAllowed'
}

/** Nobody answers there; the message is `dial tcp 192.0.2.1:10250: connect: connection refused` or the like. */
export class Unreachable extends Error {
  override name = 'Unreachable'
}

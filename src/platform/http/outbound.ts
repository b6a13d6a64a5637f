// Outbound: HTTP requests to one origin over a pool of connections, or a single request on its own connection.
import type { ByteStream } from './byte-stream.ts'
import type { ServerIdentity } from './server-identity.ts'

export interface OutboundOptions {
  /** `https://host:port` */
  readonly origin: string
  readonly tls: OutboundTls
  /**
   * Which addresses may be connected to. A name is resolved once, all of its addresses are checked, and the connection
   * is made to one of them. Only for `exchange`.
   */
  readonly allowsAddress?: (address: string) => boolean
  /** Uses HTTP/2 if the server supports it. Aborted requests are not reset then, so it is unsuitable for watches. */
  readonly http2?: boolean
}

/** The CA of the server's certificate, and the client certificate. PEM. */
export interface OutboundTls {
  readonly authority?: string
  readonly certificate?: string
  readonly key?: string
  /** The name that the certificate must have, if it is not the host. */
  readonly serverName?: string
  /** Instead of the CA and the name. */
  readonly identity?: ServerIdentity
  /** Does not verify the server's certificate. */
  readonly insecureSkipVerify?: boolean
}

export interface OutboundRequest {
  readonly method: string
  readonly target: string
  /** A list is sent as one header for each of its values. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array | string
}

/** A request whose body may be produced while it is sent, in chunks. */
export interface StreamedOutboundRequest extends Omit<OutboundRequest, 'body'> {
  readonly body?: OutboundRequest['body'] | AsyncIterable<Uint8Array>
}

export interface OutboundResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
  /** The bytes of a short body that has arrived; `body` has the same. */
  readonly whole?: Uint8Array
}

export interface Outbound {
  send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse>
  close(): Promise<void>
}

export interface OutboundProvider {
  connect(options: OutboundOptions): Outbound
  /**
   * A single request on its own connection, over HTTPS or plain HTTP, which may request an upgrade. Rejects with Unreachable
   * when there is no response. The signal also aborts the response.
   */
  exchange(options: OutboundOptions, request: OutboundRequest, signal: AbortSignal): Promise<OutboundExchange>
}

/**
 * A single request over HTTP/1.1 on a connection that is open, such as one of a simulated network. Its headers contain the
 * host. The stream is destroyed at the end of the body, when its iteration is left, or by the signal.
 */
export type SendOn = (
  stream: ByteStream,
  request: StreamedOutboundRequest,
  signal: AbortSignal,
) => Promise<OutboundResponse>

export type OutboundExchange =
  | ({ readonly kind: 'answer' } & OutboundResponse)
  /** The server has switched protocols. */
  | { readonly kind: 'upgraded'; readonly headers: OutboundResponse['headers']; readonly stream: ByteStream }

/** The host is, or resolves to, an address that is not allowed. */
export class AddressNotAllowed extends Error {
  override name = 'AddressNotAllowed'
}

/** The server cannot be reached; the message is like `dial tcp 192.0.2.1:10250: connect: connection refused`. */
export class Unreachable extends Error {
  override name = 'Unreachable'
}

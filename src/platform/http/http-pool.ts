// HttpPool: HTTP/1.1 requests to one server over connections that are kept, for proxies: bodies are streamed in both
// directions, and headers keep all of their values.
import type { ServerIdentity } from './server-identity.ts'

export interface HttpPoolOptions {
  /** An IP address and a port. */
  readonly server: { readonly address: string; readonly port: number }
  /** The server is called over TLS. */
  readonly tls?: ServerIdentity
  readonly connectionsMax: number
  readonly connectMsMax: number
  /** Between two pieces of a response's body. */
  readonly idleMsMax: number
}

export interface PooledRequest {
  readonly method: string
  readonly target: string
  /** With `content-length` if the length of the body is known. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: AsyncIterable<Uint8Array> | undefined
}

export interface PooledResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Whole if it is short and its length was sent; otherwise as it arrives. A stream that is left ends the request. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
  /** Known at the end of the body. */
  trailers(): Readonly<Record<string, string | readonly string[]>> | undefined
}

export interface HttpPool {
  /** Requests that are open or wait for a connection. */
  readonly pending: number
  /** Resolves with the head. Rejects with NotSent, or with another error if the server may have received the request. */
  send(request: PooledRequest, signal: AbortSignal): Promise<PooledResponse>
  /** Closes connections after their current requests. */
  close(): Promise<void>
  /** Closes connections at once; current requests fail. */
  destroy(): Promise<void>
}

export interface HttpPoolProvider {
  open(options: HttpPoolOptions): HttpPool
}

/** The request has not reached the server, so it may be sent to another one. */
export class NotSent extends Error {
  override name = 'NotSent'
}

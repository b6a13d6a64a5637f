// Http2: a client's connection to one server, and the exchanges on it. It knows bytes, headers and flow control, no
// protocol on top. Events instead of promises: a call of gRPC is made of very few turns.

export interface Http2Options {
  /** `https://host:port`, `http://host:port`, or `unix:/path` of a socket. */
  readonly endpoint: string
  /** Who must have signed the server's certificate, and who we are. PEM. */
  readonly tls?: { readonly authority?: string; readonly certificate?: string; readonly key?: string }
}

export type Http2Headers = Readonly<Record<string, string>>

/** What happens on one exchange, in this order; `closed` comes once, is the last, and always comes unless cancelled. */
export interface Http2Events {
  headers(headers: Http2Headers): void
  data(bytes: Uint8Array): void
  trailers(trailers: Http2Headers): void
  closed(failure: Http2Failure | undefined): void
}

export interface Http2Failure {
  readonly message: string
  /** The error code of the reset, where the server or the connection gave one. */
  readonly resetCode: number | undefined
  /** The server cannot have acted on the exchange: it said so, or never saw it. */
  readonly unprocessed: boolean
}

export interface Http2Exchange {
  /** Sends; false when the other side is slow: `whenDrained` tells when to go on. */
  write(bytes: Uint8Array): boolean
  /** Resolves when what was written has left, or the exchange is over. */
  whenDrained(): Promise<void>
  /** Nothing more will be sent. */
  end(bytes?: Uint8Array): void
  /** Stops and restarts `data`; what the server sends meanwhile is bounded by flow control. */
  pause(): void
  resume(): void
  /** Tells the server that nobody waits any more. No event follows. */
  cancel(): void
}

export interface Http2Connection {
  /** Whether new exchanges can begin: false once either side has said goodbye. */
  readonly isOpen: boolean
  /** Resolves when nothing goes on any more. */
  readonly closed: Promise<void>
  /** On a connection that is not open, the exchange is closed at once with an unprocessed failure. */
  request(headers: Http2Headers, events: Http2Events): Http2Exchange
  /** Resolves when the server answered; rejects when the connection is gone. */
  ping(): Promise<void>
  /** Lets exchanges under way finish. */
  close(): void
  /** Ends everything at once; exchanges under way are closed with a failure. */
  destroy(): void
}

export interface Http2Provider {
  /** Rejects when there is no such server or it is not the one expected. */
  connect(options: Http2Options, signal: AbortSignal): Promise<Http2Connection>
}

// Outbound: HTTPS requests to one origin over a pool of kept connections.

export interface OutboundOptions {
  /** `https://host:port` */
  readonly origin: string
  readonly tls: {
    readonly authority?: string
    readonly certificate?: string
    readonly key?: string
    /** Whom the certificate must name, where it is not the host. */
    readonly serverName?: string
  }
}

export interface OutboundRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

export interface OutboundAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

export interface Outbound {
  send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer>
  close(): Promise<void>
}

export interface OutboundProvider {
  connect(options: OutboundOptions): Outbound
}

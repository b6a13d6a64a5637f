// Pools of HTTP/1.1 connections to one server each. A connection is a client of undici. The one that was used last is used
// first, so that surplus connections become idle and are closed. undici's own pool takes a fifth more processor time for a
// request, and its queue has no bound.
import type { IncomingHttpHeaders } from 'node:http'
import type { Client, Dispatcher } from 'undici'
import { joinHostPort } from '../../../base/net/host-port.ts'
import {
  NotSent,
  type HttpPool,
  type HttpPoolOptions,
  type HttpPoolProvider,
  type PooledRequest,
  type PooledResponse,
} from '../../http/http-pool.ts'
import { identityOptions } from './identity-options.ts'
import { undici } from './undici.ts'
import { responseHeadBytesMax, UndiciExchange, type ExchangeEvents, type ExchangeProgress } from './undici-exchange.ts'

/** Requests that wait for a connection to one server. */
export const waitingRequestsMax = 10_000

const idempotent = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT', 'TRACE'])

export const nodeHttpPools: HttpPoolProvider = { open: (options) => new UndiciPool(options) }

/** A client of undici, which has at most one connection and one request at a time. */
interface Connection {
  readonly client: Client
  /** Requests that were sent since it was opened. */
  requests: number
}

interface PoolEvents extends ExchangeEvents {
  /** The connection may be used for another request. */
  readonly free: (connection: Connection) => void
}

class UndiciPool implements HttpPool {
  readonly #options: HttpPoolOptions
  readonly #connections: Connection[] = []
  readonly #idle: Connection[] = []
  #waiting: PoolExchange[] = []
  readonly #events: PoolEvents = {
    failureOf,
    onDone: () => this.#pending--,
    free: (connection) => this.#free(connection),
  }
  #pending = 0
  #isClosed = false

  constructor(options: HttpPoolOptions) {
    this.#options = options
  }

  get pending(): number {
    return this.#pending
  }

  send(request: PooledRequest, signal: AbortSignal): Promise<PooledResponse> {
    const { server, tls } = this.#options
    const exchange = new PoolExchange(request, tls?.serverName ?? server.address, signal, this.#events)
    this.#pending++
    if (this.#isClosed) exchange.cancel(new NotSent('the pool is closed'))
    if (!exchange.isDone) this.#assign(exchange)
    return exchange.response
  }

  async close(): Promise<void> {
    this.#close()
    await Promise.all(this.#connections.map(({ client }) => client.close()))
  }

  async destroy(): Promise<void> {
    this.#close()
    await Promise.all(this.#connections.map(({ client }) => client.destroy()))
  }

  /** Other servers may get requests that were not sent. */
  #close(): void {
    this.#isClosed = true
    for (const exchange of this.#waiting.splice(0)) exchange.cancel(new NotSent('the pool is closed'))
  }

  #assign(exchange: PoolExchange): void {
    const { connectionsMax } = this.#options
    const isFull = this.#connections.length >= connectionsMax
    const connection = this.#idle.pop() ?? (isFull ? undefined : this.#connect())
    if (connection !== undefined) exchange.sendOn(connection)
    else if (this.#waiting.length < waitingRequestsMax) this.#waiting.push(exchange)
    else exchange.cancel(new NotSent('too many requests wait for a connection'))
  }

  #connect(): Connection {
    const { server, connectMsMax, tls } = this.#options
    const origin = `${tls === undefined ? 'http' : 'https'}://${joinHostPort(server.address, server.port)}`
    const client = new (undici().Client)(origin, {
      ...(tls === undefined
        ? { connectTimeout: connectMsMax }
        : { connect: { ...identityOptions(tls), timeout: connectMsMax } }),
      allowH2: false,
      headersTimeout: 0, // the caller's signal bounds the wait
      bodyTimeout: this.#options.idleMsMax,
      maxHeaderSize: responseHeadBytesMax,
    })
    const connection = { client, requests: 0 }
    client.on('connect', () => (connection.requests = 0))
    this.#connections.push(connection)
    return connection
  }

  #free(connection: Connection): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      if (!next.isDone) return next.sendOn(connection)
    this.#idle.push(connection)
  }
}

const failureOf = (error: Error, progress: ExchangeProgress): Error =>
  progress === 'waiting' && !(error instanceof NotSent) ? new NotSent(error.message, { cause: error }) : error

class PoolExchange extends UndiciExchange {
  readonly #isRepeatable: boolean
  readonly #free: (connection: Connection) => void
  #connection: Connection | undefined
  #isOnUsedConnection = false

  constructor(request: PooledRequest, serverName: string, signal: AbortSignal, events: PoolEvents) {
    // Without a name, undici would look for one in the Host header.
    super({ ...request, serverName }, signal, events)
    this.#isRepeatable = request.body === undefined && idempotent.has(request.method)
    this.#free = events.free
  }

  sendOn(connection: Connection): void {
    this.#connection = connection
    this.dispatchOn(connection.client)
  }

  override onRequestStart(controller: Dispatcher.DispatchController): void {
    super.onRequestStart(controller)
    if (this.#connection !== undefined) this.#isOnUsedConnection = this.#connection.requests++ > 0
  }

  override onResponseEnd(controller: unknown, trailers: IncomingHttpHeaders): void {
    super.onResponseEnd(controller, trailers)
    this.#release()
  }

  override onResponseError(controller: unknown, error: Error): void {
    const connection = this.#connection
    if (connection !== undefined && this.#mayRepeat(connection)) {
      this.reset()
      return queueMicrotask(() => this.#repeat(connection))
    }
    super.onResponseError(controller, error)
    this.#release()
  }

  /**
   * A server may close an idle connection while a request is on its way to it. The request is sent again on a new connection,
   * if that has no other effect than sending it once.
   */
  #mayRepeat({ client }: Connection): boolean {
    const isUnanswered = this.#isOnUsedConnection && this.progress === 'sent'
    return isUnanswered && this.#isRepeatable && !this.isAborted && !client.closed
  }

  #repeat({ client }: Connection): void {
    if (this.isDone) this.#release()
    else this.dispatchOn(client)
  }

  #release(): void {
    const connection = this.#connection
    this.#connection = undefined
    if (connection !== undefined) this.#free(connection)
  }
}

// Pools of HTTP/1.1 connections to one server each. The connection that was used last is used first, so that surplus
// connections become idle and are closed.
import { every, realClock, type Clock, type Timer } from '../../../base/time/clock.ts'
import {
  NotSent,
  type HttpPool,
  type HttpPoolOptions,
  type HttpPoolProvider,
  type PooledRequest,
  type PooledResponse,
} from '../../http/http-pool.ts'
import { PoolConnection } from './pool-connection.ts'
import { PoolExchange } from './pool-exchange.ts'

/** Requests that wait for a connection to one server. */
export const waitingRequestsMax = 10_000

const tickMs = 1_000
const idempotent = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT', 'TRACE'])

export const createHttpPools = (clock: Clock): HttpPoolProvider => ({
  open: (options) => new Http1Pool(options, clock),
})

export const nodeHttpPools = createHttpPools(realClock)

class Http1Pool implements HttpPool {
  readonly #options: HttpPoolOptions
  readonly #clock: Clock
  readonly #open = new Set<PoolConnection>()
  readonly #idle: PoolConnection[] = []
  #connecting = 0
  #waiting: PoolExchange[] = []
  #pending = 0
  #isClosed = false
  #onDrained: (() => void) | undefined
  #timer: Timer | undefined

  constructor(options: HttpPoolOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  get pending(): number {
    return this.#pending
  }

  send(request: PooledRequest, signal: AbortSignal): Promise<PooledResponse> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    if (this.#isClosed) return Promise.reject(new NotSent('the pool is closed'))
    try {
      const exchange = new PoolExchange(request, signal, this.#done)
      this.#pending++
      this.#dispatch(exchange)
      return exchange.response
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const connection of [...this.#idle]) connection.destroy()
    // Other servers may get requests that were not sent.
    for (const exchange of this.#waiting.splice(0)) exchange.fail(new NotSent('the pool is closed'))
    if (this.#pending > 0) await new Promise<void>((resolve) => (this.#onDrained = resolve))
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    for (const exchange of this.#waiting.splice(0)) exchange.fail(new NotSent('the pool is closed'))
    for (const connection of [...this.#open]) connection.destroy()
  }

  readonly #done = (): void => {
    if (--this.#pending === 0) this.#onDrained?.()
  }

  #dispatch(exchange: PoolExchange): void {
    const connection = exchange.isRepeated ? undefined : this.#takeIdle()
    if (connection !== undefined) return connection.start(exchange)
    if (this.#waiting.length >= waitingRequestsMax)
      return exchange.fail(new NotSent('too many requests wait for a connection'))
    this.#waiting.push(exchange)
    this.#connectIfNeeded()
  }

  #takeIdle(): PoolConnection | undefined {
    const nowMs = this.#clock.monotonicMs()
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.isFresh(nowMs)) return connection
      connection.destroy()
    }
    return undefined
  }

  #connectIfNeeded(): void {
    while (this.#connecting < this.#waiting.length && this.#open.size < this.#options.connectionsMax) this.#connect()
  }

  #connect(): void {
    this.#connecting++
    let isNew = true
    const connection = new PoolConnection(
      { ...this.#options, clock: this.#clock },
      {
        free: (own) => {
          if (isNew) this.#connecting--
          isNew = false
          this.#assign(own)
        },
        closed: (own, error) => {
          if (isNew) this.#connecting--
          this.#closed(own, error)
        },
        failed: (exchange, error, isUnanswered) => this.#failed(exchange, error, isUnanswered),
      },
    )
    this.#open.add(connection)
    this.#timer ??= every(this.#clock, tickMs, () => this.#tick())
  }

  #assign(connection: PoolConnection): void {
    if (this.#isClosed) return connection.destroy()
    for (let exchange = this.#waiting.shift(); exchange !== undefined; exchange = this.#waiting.shift())
      if (!exchange.isDone) return connection.start(exchange)
    this.#idle.push(connection)
  }

  #closed(connection: PoolConnection, error: NotSent | undefined): void {
    this.#open.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    if (error !== undefined) this.#waiting.shift()?.fail(error)
    this.#connectIfNeeded()
    if (this.#open.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /**
   * A server may close an idle connection while a request is on its way to it. The request is sent again, once and on
   * another connection, if that has no other effect than sending it once.
   */
  #failed(exchange: PoolExchange, error: Error, isUnanswered: boolean): void {
    const { method, body } = exchange.request
    const mayRepeat = isUnanswered && !exchange.isRepeated && body === undefined && idempotent.has(method)
    if (exchange.isDone || !mayRepeat || this.#isClosed) return exchange.fail(error)
    exchange.isRepeated = true
    exchange.connection = undefined
    this.#dispatch(exchange)
  }

  #tick(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const connection of [...this.#open]) connection.tick(nowMs)
  }
}

// PoolConnection: one connection of an HttpPool. It has at most one request at a time.
import { connect, type Socket } from 'node:net'
import type { Clock, Timer } from '../../../base/time/clock.ts'
import { NotSent, type HttpPoolOptions } from '../../http/http-pool.ts'
import { ResponseParser, type ResponseHead } from '../../http1/response-parser.ts'
import { latin1Of } from '../acceptor/http1-server.ts'
import type { ExchangeConnection, PoolExchange } from './pool-exchange.ts'

/** How long an idle connection is used again if the server does not say how long it keeps one. */
const keptMsDefault = 4_000
const keptMsMax = 600_000
/** A connection is not used in this time before the server closes it, because the request could cross the close. */
const keptMsMargin = 2_000

const readBufferBytes = 64 << 10
/** A socket reads into it and its bytes are processed in the same call, so all connections use the same. */
const readBuffer = Buffer.allocUnsafe(readBufferBytes)

export interface PoolConnectionEvents {
  /** A request may be started: the connection is new, or its response has ended. */
  free(connection: PoolConnection): void
  /** Called once. `error`: why there is no connection, if there never was one. */
  closed(connection: PoolConnection, error: NotSent | undefined): void
  /** The request failed. `isUnanswered`: on a used connection, and no byte of a response has arrived. */
  failed(exchange: PoolExchange, error: Error, isUnanswered: boolean): void
}

export type PoolConnectionOptions = Pick<HttpPoolOptions, 'server' | 'connectMsMax' | 'idleMsMax'> & {
  readonly clock: Clock
}

export class PoolConnection implements ExchangeConnection {
  readonly #options: PoolConnectionOptions
  readonly #events: PoolConnectionEvents
  readonly #socket: Socket
  readonly #parser: ResponseParser
  readonly #connectTimer: Timer
  #state: 'connecting' | 'open' | 'closed' = 'connecting'
  #exchange: PoolExchange | undefined
  #head: ResponseHead | undefined
  #hasEnded = false
  #isBodySent = true
  #isUsed = false
  #hasReceived = false
  #isPaused = false
  #onDrained: (() => void) | undefined
  /** When the last byte arrived, or the last response ended. */
  #lastMs = 0
  #keptMs = keptMsDefault

  constructor(options: PoolConnectionOptions, events: PoolConnectionEvents) {
    this.#options = options
    this.#events = events
    const { server, clock, connectMsMax } = options
    this.#parser = new ResponseParser(
      {
        head: (head) => {
          this.#head = head
          this.#exchange?.head(head)
        },
        data: (piece) => {
          if (this.#exchange?.data(piece) === false) this.#pause()
        },
        end: (trailers) => {
          this.#hasEnded = true
          this.#exchange?.end(trailers)
        },
      },
      latin1Of,
    )
    this.#socket = connect({
      ...{ host: server.address, port: server.port, noDelay: true },
      onread: { buffer: readBuffer, callback: (count) => this.#receive(count) },
    })
    this.#connectTimer = clock.after(connectMsMax, () =>
      this.#close(new Error(`the server did not accept the connection within ${connectMsMax} ms`)),
    )
    this.#socket.on('connect', () => {
      this.#connectTimer.cancel()
      this.#state = 'open'
      this.#rest()
    })
    this.#socket.on('drain', () => this.#onDrained?.())
    this.#socket.on('error', (error) => this.#close(error))
    this.#socket.on('end', () => this.#end())
    this.#socket.on('close', () => this.#close(new Error('the server closed the connection')))
  }

  /** The server is expected to accept another request. */
  isFresh(nowMs: number): boolean {
    return this.#state === 'open' && nowMs - this.#lastMs < this.#keptMs
  }

  start(exchange: PoolExchange): void {
    this.#exchange = exchange
    exchange.connection = this
    this.#hasReceived = false
    this.#hasEnded = false
    const { method, body } = exchange.request
    this.#parser.begin(method)
    this.#socket.write(exchange.text, 'latin1')
    this.#isBodySent = body === undefined
    if (body !== undefined) void this.#sendBody(exchange, body)
  }

  /** Called each second. */
  tick(nowMs: number): void {
    const { idleMsMax } = this.#options
    if (this.#exchange === undefined) {
      if (this.#state === 'open' && !this.isFresh(nowMs)) this.destroy()
    } else if (this.#exchange.isStreamed && !this.#isPaused && nowMs - this.#lastMs >= idleMsMax)
      this.#close(new Error(`the server sent nothing for ${idleMsMax} ms`))
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#lastMs = this.#options.clock.monotonicMs()
    this.#socket.resume()
  }

  abort(error: Error): void {
    this.#close(error)
  }

  destroy(): void {
    this.#close(new Error('the pool closed the connection'))
  }

  #pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  #receive(count: number): boolean {
    this.#lastMs = this.#options.clock.monotonicMs()
    this.#hasReceived = true
    let malformed: Error | undefined
    try {
      this.#parser.take(readBuffer.subarray(0, count))
    } catch (error) {
      malformed = error as Error
    }
    // Bytes after the end of a response do not make the response invalid, but the connection.
    if (this.#hasEnded && this.#exchange !== undefined) this.#release(malformed === undefined)
    else if (malformed !== undefined) this.#close(new Error(`malformed HTTP response: ${malformed.message}`))
    return !this.#isPaused
  }

  #release(isValid: boolean): void {
    const head = this.#head
    this.#exchange = undefined
    this.#head = undefined
    this.#isUsed = true
    // A response that ends before the request does: the server does not read the rest of the body.
    if (!isValid || !this.#isBodySent || head?.keepsAlive !== true) return this.destroy()
    this.#keptMs =
      head.keepAliveSeconds === undefined
        ? keptMsDefault
        : Math.min(head.keepAliveSeconds * 1_000 - keptMsMargin, keptMsMax)
    if (this.#keptMs <= 0) return this.destroy()
    this.resume()
    this.#events.free(this)
  }

  #rest(): void {
    this.#lastMs = this.#options.clock.monotonicMs()
    this.#events.free(this)
  }

  /** The server will send nothing more. */
  #end(): void {
    if (this.#parser.close()) this.#release(false)
    else this.#close(new Error('the server closed the connection'))
  }

  #close(error: Error): void {
    if (this.#state === 'closed') return
    const wasConnecting = this.#state === 'connecting'
    this.#state = 'closed'
    this.#connectTimer.cancel()
    this.#socket.destroy()
    this.#onDrained?.()
    const exchange = this.#exchange
    this.#exchange = undefined
    this.#events.closed(this, wasConnecting ? new NotSent(error.message, { cause: error }) : undefined)
    if (exchange !== undefined) this.#events.failed(exchange, error, this.#isUsed && !this.#hasReceived)
  }

  async #sendBody(exchange: PoolExchange, body: AsyncIterable<Uint8Array>): Promise<void> {
    const length = exchange.request.headers['content-length']
    let left = length === undefined ? Infinity : Number(length)
    try {
      for await (const piece of body) {
        if (this.#exchange !== exchange) return
        left -= piece.length
        if (left < 0) throw new Error('the body of the request is longer than its Content-Length')
        if (piece.length > 0 && !this.#writePiece(piece, length === undefined))
          await new Promise<void>((resolve) => (this.#onDrained = resolve))
      }
      if (this.#exchange !== exchange) return
      if (left > 0 && left < Infinity) throw new Error('the body of the request is shorter than its Content-Length')
      if (length === undefined) this.#socket.write('0\r\n\r\n', 'latin1')
      this.#isBodySent = true
    } catch (error) {
      // The client has disconnected, or its body is too large.
      if (this.#exchange === exchange) this.#close(error as Error)
    }
  }

  #writePiece(piece: Uint8Array, isChunked: boolean): boolean {
    if (!isChunked) return this.#socket.write(piece)
    this.#socket.cork()
    this.#socket.write(`${piece.length.toString(16)}\r\n`, 'latin1')
    this.#socket.write(piece)
    const hasRoom = this.#socket.write('\r\n', 'latin1')
    this.#socket.uncork()
    return hasRoom
  }
}

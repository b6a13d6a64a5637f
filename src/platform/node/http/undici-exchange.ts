// UndiciExchange: one request and its response on a client or a pool of undici. A short response is collected, a long one
// is passed on as it arrives.
import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import { onAbort, offAbort } from '../../../base/async/on-abort.ts'
import { setOwn } from '../../../base/collections/lookup.ts'
import type { PooledRequest, PooledResponse } from '../../http/http-pool.ts'
import { PieceQueue } from '../../http/piece-queue.ts'

/** Responses up to this length are collected and sent on in one write. */
const collectedBytesMax = 64 << 10
/** Bytes of a response that wait for the client before the server is not read any more. */
const waitingBytesMax = 256 << 10

/** The longest head of a response. */
export const responseHeadBytesMax = 64 << 10

/** A request whose body may be known. */
export interface ExchangeRequest extends Omit<PooledRequest, 'body'> {
  readonly body?: PooledRequest['body'] | Uint8Array | string
  /** The protocol that is requested instead of HTTP. */
  readonly upgrade?: string
  /** The name that the certificate of the server must have, if it is not the host. */
  readonly serverName?: string | undefined
}

/**
 * The request waits for a connection; it is being sent, or has been; the first byte of a response has arrived; its head
 * has.
 */
export type ExchangeProgress = 'waiting' | 'sent' | 'responding' | 'head'

export interface ExchangeEvents {
  readonly onDone?: () => void
  /** The server has switched protocols; there is no response. */
  readonly onUpgrade?: (headers: PooledResponse['headers'], socket: Duplex) => void
  /** The error that the caller gets instead of undici's. */
  readonly failureOf?: (error: Error, progress: ExchangeProgress) => Error
}

/** Path and query of a request line. In a path, some servers take a backslash for a slash. */
const targetPattern = /^\/[!->@-[\]-~\u0080-\u00ff]*(?:\?[!-~\u0080-\u00ff]*)?$/

/** Uses the callbacks of undici, which take less time than its streams. */
export class UndiciExchange implements Dispatcher.DispatchHandler {
  readonly #head = Promise.withResolvers<PooledResponse>()
  readonly #request: ExchangeRequest
  readonly #signal: AbortSignal
  readonly #events: ExchangeEvents
  #controller: Dispatcher.DispatchController | undefined
  #progress: ExchangeProgress = 'waiting'
  #status = 0
  #headers: PooledResponse['headers'] = {}
  #trailers: PooledResponse['headers'] | undefined
  /** The body, if it is collected. */
  #collected: Uint8Array[] | undefined
  /** The body, if it is passed on as it arrives. */
  #streamed: PieceQueue | undefined
  #isDone = false

  constructor(request: ExchangeRequest, signal: AbortSignal, events: ExchangeEvents = {}) {
    this.#request = request
    this.#signal = signal
    this.#events = events
    if (signal.aborted) this.#finish(signal.reason as Error)
    else onAbort(signal, this.#abort)
  }

  dispatchOn(dispatcher: Dispatcher): this {
    if (this.#isDone) return this
    const { method, target, headers, body, upgrade, serverName } = this.#request
    try {
      if (!targetPattern.test(target)) throw new TypeError(`${JSON.stringify(target)} is not the target of a request`)
      dispatcher.dispatch(
        {
          method,
          path: target,
          headers: headers as IncomingHttpHeaders,
          // undici sends any async iterable; its type names only some.
          body: (body as unknown as Uint8Array | undefined) ?? null,
          upgrade: upgrade ?? null,
          servername: serverName,
        } as Dispatcher.DispatchOptions,
        this,
      )
    } catch (error) {
      this.onResponseError(undefined, error as Error)
    }
    return this
  }

  get response(): Promise<PooledResponse> {
    return this.#head.promise
  }

  get isDone(): boolean {
    return this.#isDone
  }

  get isAborted(): boolean {
    return this.#signal.aborted
  }

  get progress(): ExchangeProgress {
    return this.#progress
  }

  /** Fails the exchange; nothing is sent if it still waits. */
  cancel(error: Error): void {
    if (this.#controller === undefined) this.#finish(error)
    else this.#controller.abort(error)
  }

  /** Prepares for another `dispatchOn`. */
  protected reset(): void {
    this.#controller = undefined
    this.#progress = 'waiting'
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Unlike `abort`, an error keeps the connection, on which nothing has been sent.
    if (this.#isDone) throw new Error('the request was cancelled')
    this.#controller = controller
    this.#progress = 'sent'
  }

  onResponseStarted(): void {
    this.#progress = 'responding'
  }

  onRequestUpgrade(_controller: unknown, _status: number, headers: IncomingHttpHeaders, socket: Duplex): void {
    this.#events.onUpgrade?.(headers as PooledResponse['headers'], socket)
    this.#finish()
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return
    const hasBody = this.#request.method !== 'HEAD' && status !== 204 && status !== 304
    this.#headers = headers as PooledResponse['headers']
    const { 'transfer-encoding': encoding, 'content-length': length } = this.#headers
    // undici would pass on the encoded bytes.
    if (hasBody && encoding !== undefined && String(encoding).toLowerCase() !== 'chunked')
      throw new Error('the transfer-encoding of the response is not supported')
    this.#progress = 'head'
    this.#status = status
    if (!hasBody || Number(length ?? Infinity) <= collectedBytesMax) this.#collected = []
    else {
      this.#streamed = new PieceQueue({ onRoom: () => this.#resume(), onLeft: () => this.#leave() })
      this.#head.resolve(this.#respond(this.#streamed))
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#collected !== undefined) return void this.#collected.push(piece)
    this.#streamed?.push(piece)
    if (this.#streamed !== undefined && this.#streamed.waitingBytes > waitingBytesMax) controller.pause()
  }

  onResponseEnd(_controller: unknown, trailers: IncomingHttpHeaders): void {
    if (Object.keys(trailers).length > 0) this.#trailers = trailers as PooledResponse['headers']
    if (this.#collected !== undefined) {
      const [first = nothing] = this.#collected
      this.#head.resolve(this.#respond(this.#collected.length < 2 ? first : Buffer.concat(this.#collected)))
    }
    this.#finish()
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#finish(error)
  }

  readonly #abort = (): void => this.cancel(this.#signal.reason as Error)

  #respond(body: PooledResponse['body']): PooledResponse {
    return { status: this.#status, headers: this.#headers, body, trailers: () => this.#trailers }
  }

  #resume(): void {
    if (this.#controller?.paused === true) this.#controller.resume()
  }

  #leave(): void {
    this.#controller?.abort(new DOMException('the response is not read', 'AbortError'))
  }

  #finish(error?: Error): void {
    if (this.#isDone) return
    this.#isDone = true
    offAbort(this.#signal, this.#abort)
    if (error === undefined) this.#streamed?.end()
    else {
      const failure = this.#failureOf(error)
      this.#head.reject(failure)
      this.#streamed?.fail(failure)
    }
    this.#events.onDone?.()
  }

  #failureOf(error: Error): Error {
    if (this.#signal.aborted) return this.#signal.reason as Error
    return this.#events.failureOf?.(error, this.#progress) ?? error
  }
}

const nothing = new Uint8Array(0)

/** The values of a header that was sent several times, in one. */
export function joinedHeaders(headers: PooledResponse['headers']): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name in headers) setOwn(found, name, String(headers[name])) // safe name: a key of the record
  return found
}

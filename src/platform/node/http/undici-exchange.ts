// One request and its response on a pool of undici.
import { setOwn } from '../../../base/collections/lookup.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher, Pool } from 'undici'
import { onAbort, offAbort } from '../../../base/async/on-abort.ts'
import { NotSent, type PooledRequest, type PooledResponse } from '../../http/http-pool.ts'
import { PieceQueue } from '../../http/piece-queue.ts'

/** Responses up to this length are collected and sent on in one write. */
const collectedBytesMax = 64 << 10
/** Bytes of a response that wait for the client before the server is not read any more. */
const waitingBytesMax = 256 << 10

const unsentCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CLOSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_DESTROYED',
])

/** A request whose body may be known. */
interface ExchangeRequest extends Omit<PooledRequest, 'body'> {
  readonly body: PooledRequest['body'] | Uint8Array | string
}

/** Uses the callbacks of undici, which take less time than its streams. */
export class UndiciExchange implements Dispatcher.DispatchHandler {
  readonly #head = Promise.withResolvers<PooledResponse>()
  readonly #signal: AbortSignal
  readonly #onDone: () => void
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: PooledResponse['headers'] = {}
  #trailers: PooledResponse['headers'] | undefined
  /** The body, if it is collected. */
  #collected: Uint8Array[] | undefined
  /** The body, if it is passed on as it arrives. */
  readonly #streamed = new PieceQueue({ onRoom: () => this.#resume(), onLeft: () => this.#leave() })
  #isDone = false

  constructor(pool: Pool, request: ExchangeRequest, signal: AbortSignal, onDone: () => void) {
    this.#signal = signal
    this.#onDone = onDone
    const { method, target, headers, body } = request
    try {
      signal.throwIfAborted()
      onAbort(signal, this.#abort)
      pool.dispatch(
        {
          method,
          path: target,
          headers: headers as IncomingHttpHeaders,
          // undici sends any async iterable; its type names only some.
          body: (body as unknown as Uint8Array | undefined) ?? null,
        },
        this,
      )
    } catch (error) {
      this.#finish(error as Error)
    }
  }

  get response(): Promise<PooledResponse> {
    return this.#head.promise
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#signal.aborted) controller.abort(reasonOf(this.#signal))
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return
    this.#status = status
    this.#headers = plain(headers)
    const length = Number(headers['content-length'] ?? Infinity)
    if (length <= collectedBytesMax) this.#collected = []
    else this.#head.resolve(this.#respond(this.#streamed))
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#collected !== undefined) return void this.#collected.push(piece)
    this.#streamed.push(piece)
    if (this.#streamed.waitingBytes > waitingBytesMax) controller.pause()
  }

  onResponseEnd(_controller: unknown, trailers: IncomingHttpHeaders): void {
    this.#trailers = plain(trailers)
    if (this.#collected !== undefined) {
      const [first = nothing] = this.#collected
      this.#head.resolve(this.#respond(this.#collected.length < 2 ? first : Buffer.concat(this.#collected)))
    }
    this.#finish()
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#finish(error)
  }

  readonly #abort = (): void => {
    if (this.#controller === undefined) this.#finish(reasonOf(this.#signal))
    else this.#controller.abort(reasonOf(this.#signal))
  }

  #respond(body: PooledResponse['body']): PooledResponse {
    return { status: this.#status, headers: this.#headers, body, trailers: () => this.#trailers }
  }

  #resume(): void {
    if (this.#controller?.paused === true) this.#controller.resume()
  }

  #leave(): void {
    this.#controller?.abort(new DOMException('the response is not read', 'AbortError'))
  }

  #finish(failure?: Error): void {
    if (this.#isDone) return
    this.#isDone = true
    offAbort(this.#signal, this.#abort)
    if (failure === undefined) this.#streamed.end()
    else {
      this.#head.reject(this.#signal.aborted ? reasonOf(this.#signal) : failureOf(failure))
      this.#streamed.fail(failure)
    }
    this.#onDone()
  }
}

const nothing = new Uint8Array(0)
const reasonOf = (signal: AbortSignal): Error => signal.reason as Error

const failureOf = (error: NodeJS.ErrnoException): Error =>
  unsentCodes.has(error.code ?? '') ? new NotSent(error.message, { cause: error }) : error

function plain(headers: IncomingHttpHeaders): PooledResponse['headers'] {
  const found: Record<string, string | readonly string[]> = {}
  for (const name in headers) {
    const value = headers[name] // safe name: a key of the record
    if (value !== undefined) setOwn(found, name, value)
  }
  return found
}

// PoolExchange: one request of an HttpPool and its response. A short response is collected, a long one is passed on as it
// arrives.
import { offAbort, onAbort } from '../../../base/async/on-abort.ts'
import { lookup, setOwn } from '../../../base/collections/lookup.ts'
import type { PooledRequest, PooledResponse } from '../../http/http-pool.ts'
import { PieceQueue } from '../../http/piece-queue.ts'
import { requestText } from '../../http1/request-text.ts'
import type { ResponseHead } from '../../http1/response-parser.ts'

/** Responses up to this length are collected and sent on in one write. */
const collectedBytesMax = 64 << 10
/** Bytes of a response that wait for the client before the server is not read any more. */
const waitingBytesMax = 256 << 10

/** The connection of an exchange. */
export interface ExchangeConnection {
  resume(): void
  /** Closes the connection; the exchange fails with the error. */
  abort(error: Error): void
}

export class PoolExchange {
  readonly request: PooledRequest
  /** The head of the request. */
  readonly text: string
  readonly response: Promise<PooledResponse>
  /** It was sent on a connection that the server closed meanwhile, and is sent again on another. */
  isRepeated = false
  connection: ExchangeConnection | undefined
  readonly #signal: AbortSignal
  readonly #onDone: () => void
  #resolve: (response: PooledResponse) => void = () => {}
  #reject: (error: Error) => void = () => {}
  #head: ResponseHead | undefined
  #collected: Uint8Array | undefined
  #collectedBytes = 0
  #streamed: PieceQueue | undefined
  #trailers: readonly string[] = []
  #isDone = false

  /** Throws if the request is not valid. The signal must not be aborted yet. */
  constructor(request: PooledRequest, signal: AbortSignal, onDone: () => void) {
    this.request = request
    this.text = requestText(request)
    this.#signal = signal
    this.#onDone = onDone
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    onAbort(signal, this.#abort)
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** The response is passed on as it arrives. */
  get isStreamed(): boolean {
    return this.#streamed !== undefined
  }

  head(head: ResponseHead): void {
    this.#head = head
    if (typeof head.body === 'number' && head.body <= collectedBytesMax) {
      this.#collected = Buffer.allocUnsafe(head.body)
      return
    }
    this.#streamed = new PieceQueue({
      onRoom: () => this.connection?.resume(),
      onLeft: () => this.connection?.abort(new DOMException('the response is not read', 'AbortError')),
    })
    this.#resolve(this.#respond(head, this.#streamed))
  }

  /** Copies the bytes. Returns false if the client is behind. */
  data(piece: Uint8Array): boolean {
    if (this.#collected !== undefined) {
      this.#collected.set(piece, this.#collectedBytes)
      this.#collectedBytes += piece.length
      return true
    }
    this.#streamed?.push(Buffer.from(piece))
    return (this.#streamed?.waitingBytes ?? 0) <= waitingBytesMax
  }

  end(trailers: readonly string[]): void {
    if (this.#isDone) return
    this.#trailers = trailers
    if (this.#collected !== undefined && this.#head !== undefined)
      this.#resolve(this.#respond(this.#head, this.#collected))
    this.#streamed?.end()
    this.#finish()
  }

  fail(error: Error): void {
    if (this.#isDone) return
    this.#reject(error)
    this.#streamed?.fail(error)
    this.#finish()
  }

  readonly #abort = (): void => {
    const reason = this.#signal.reason as Error
    const { connection } = this
    this.fail(reason)
    connection?.abort(reason)
  }

  #finish(): void {
    this.#isDone = true
    this.connection = undefined
    offAbort(this.#signal, this.#abort)
    this.#onDone()
  }

  #respond({ status, lines }: ResponseHead, body: PooledResponse['body']): PooledResponse {
    return {
      status,
      headers: headersOf(lines),
      body,
      trailers: () => (this.#trailers.length === 0 ? undefined : headersOf(this.#trailers)),
    }
  }
}

/** Values by name; those of a name that was sent several times in order. */
function headersOf(lines: readonly string[]): PooledResponse['headers'] {
  const headers: Record<string, string | readonly string[]> = {}
  for (let index = 0; index < lines.length; index += 2) {
    const [name, value] = [lines[index] ?? '', lines[index + 1] ?? '']
    const before = lookup(headers, name)
    setOwn(headers, name, before === undefined ? value : [before, value].flat())
  }
  return headers
}

// H2cPool: requests to one endpoint over HTTP/2 without TLS, on one connection, as gRPC clients use it.
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import type { Http2Connection, Http2Exchange, Http2Failure, Http2Provider } from '../../platform/http/http2-client.ts'
import { NotSent, type HttpPool, type PooledRequest, type PooledResponse } from '../../platform/http/http-pool.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'

/** Bytes of a response that wait for the client before the endpoint is not read any more. */
const waitingBytesMax = 256 << 10

export class H2cPool implements HttpPool {
  readonly #endpoint: string
  readonly #provider: Http2Provider
  readonly #stop = new AbortController()
  #connection: Promise<Http2Connection> | undefined
  #pending = 0
  #isClosing = false

  constructor({ address, port }: Peer, provider: Http2Provider) {
    this.#endpoint = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
    this.#provider = provider
  }

  get pending(): number {
    return this.#pending
  }

  async send(request: PooledRequest, signal: AbortSignal): Promise<PooledResponse> {
    this.#pending++
    try {
      const connection = await this.#connected()
      signal.throwIfAborted()
      return await new H2cExchange(connection, request, signal, () => this.#done()).response
    } catch (error) {
      if (error instanceof NotConnected) this.#done()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#pending === 0) await this.destroy()
  }

  async destroy(): Promise<void> {
    this.#isClosing = true
    this.#stop.abort()
    const connection = await this.#connection?.catch(() => undefined)
    connection?.destroy()
  }

  async #connected(): Promise<Http2Connection> {
    try {
      if (this.#connection !== undefined && (await this.#connection).isOpen) return await this.#connection
      this.#connection = this.#provider.connect({ endpoint: this.#endpoint }, this.#stop.signal)
      return await this.#connection
    } catch (error) {
      this.#connection = undefined
      throw new NotConnected((error as Error).message, { cause: error })
    }
  }

  #done(): void {
    this.#pending--
    if (this.#isClosing && this.#pending === 0) void this.destroy()
  }
}

class NotConnected extends NotSent {}

class H2cExchange {
  readonly #head = Promise.withResolvers<PooledResponse>()
  readonly #exchange: Http2Exchange
  readonly #signal: AbortSignal
  readonly #onDone: () => void
  #trailers: PooledResponse['headers'] | undefined
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #isPaused = false
  #state: 'open' | 'ended' | Error = 'open'
  #wake: (() => void) | undefined

  constructor(connection: Http2Connection, request: PooledRequest, signal: AbortSignal, onDone: () => void) {
    this.#signal = signal
    this.#onDone = onDone
    onAbort(signal, this.#abort)
    this.#exchange = connection.request(pseudoHeaders(request), {
      headers: ({ ':status': status = '', ...headers }) =>
        this.#head.resolve({
          status: Number(status),
          headers,
          body: this.#pieces(),
          trailers: () => this.#trailers,
        }),
      data: (bytes) => this.#receive(bytes),
      trailers: (trailers) => (this.#trailers = trailers),
      closed: (failure) => this.#finish(failure === undefined ? 'ended' : failureOf(failure)),
    })
    if (request.body === undefined) this.#exchange.end()
    else void this.#sendBody(request.body)
  }

  get response(): Promise<PooledResponse> {
    return this.#head.promise
  }

  readonly #abort = (): void => {
    this.#exchange.cancel()
    this.#finish(this.#signal.reason as Error)
  }

  #receive(bytes: Uint8Array): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes > waitingBytesMax) {
      this.#isPaused = true
      this.#exchange.pause()
    }
    this.#wake?.()
  }

  async #sendBody(body: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const piece of body) {
        if (this.#state !== 'open') return
        if (!this.#exchange.write(piece)) await this.#exchange.whenDrained()
      }
      this.#exchange.end()
    } catch (error) {
      // The client has disconnected, or its body is too large.
      if (this.#state !== 'open') return
      this.#exchange.cancel()
      this.#finish(error as Error)
    }
  }

  #finish(how: 'ended' | Error): void {
    if (this.#state !== 'open') return
    offAbort(this.#signal, this.#abort)
    this.#state = how
    this.#head.reject(how === 'ended' ? new Error('the endpoint sent no response') : how)
    this.#onDone()
    this.#wake?.()
  }

  async *#pieces(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const pieces = this.#waiting
        this.#waiting = []
        this.#waitingBytes = 0
        if (this.#isPaused) this.#exchange.resume()
        this.#isPaused = false
        yield* pieces
        if (this.#waiting.length > 0) continue
        if (this.#state instanceof Error) throw this.#state
        if (this.#state === 'ended') return
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      if (this.#state === 'open') {
        this.#exchange.cancel()
        this.#finish('ended')
      }
    }
  }
}

function pseudoHeaders({ method, target, headers }: PooledRequest): Record<string, string> {
  const { host, ...others } = headers
  return {
    ':method': method,
    ':path': target,
    ':scheme': 'http',
    ':authority': String(host ?? ''),
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, [value].flat().join(', ')])),
  }
}

const failureOf = ({ message, unprocessed }: Http2Failure): Error =>
  unprocessed ? new NotSent(message) : new Error(message)

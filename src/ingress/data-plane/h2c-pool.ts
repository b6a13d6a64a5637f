// H2cPool: requests to one endpoint over HTTP/2, by default without TLS, on one connection, as gRPC clients use it.
import { offAbort, onAbort } from '../../base/async/on-abort.ts'
import { joinHostPort } from '../../base/net/host-port.ts'
import type { ServerIdentity } from '../../platform/http/server-identity.ts'
import type {
  Http2Connection,
  Http2Exchange,
  Http2Failure,
  Http2Options,
  Http2Provider,
} from '../../platform/http/http2-client.ts'
import { NotSent, type HttpPool, type PooledRequest, type PooledResponse } from '../../platform/http/http-pool.ts'
import { PieceQueue } from '../../platform/http/piece-queue.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'

/** Bytes of a response that wait for the client before the endpoint is not read any more. */
const waitingBytesMax = 256 << 10

export class H2cPool implements HttpPool {
  readonly #endpoint: string
  readonly #provider: Http2Provider
  readonly #identity: ServerIdentity | undefined
  readonly #stop = new AbortController()
  #connection: Promise<Http2Connection> | undefined
  #pending = 0
  #isClosing = false

  constructor({ address, port }: Peer, provider: Http2Provider, identity?: ServerIdentity) {
    this.#endpoint = `${identity === undefined ? 'http' : 'https'}://${joinHostPort(address, port)}`
    this.#identity = identity
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
      return await new H2cExchange(connection, this.#scheme, request, signal, () => this.#done()).response
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

  get #scheme(): 'http' | 'https' {
    return this.#identity === undefined ? 'http' : 'https'
  }

  get #options(): Http2Options {
    const identity = this.#identity
    return { endpoint: this.#endpoint, ...(identity === undefined ? {} : { identity }) }
  }

  async #connected(): Promise<Http2Connection> {
    try {
      if (this.#connection !== undefined && (await this.#connection).isOpen) return await this.#connection
      this.#connection = this.#provider.connect(this.#options, this.#stop.signal)
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
  readonly #body = new PieceQueue({ onRoom: () => this.#resume(), onLeft: () => this.#leave() })
  #trailers: PooledResponse['headers'] | undefined
  #isPaused = false
  #isDone = false

  constructor(
    connection: Http2Connection,
    scheme: 'http' | 'https',
    request: PooledRequest,
    signal: AbortSignal,
    onDone: () => void,
  ) {
    this.#signal = signal
    this.#onDone = onDone
    onAbort(signal, this.#abort)
    this.#exchange = connection.request(pseudoHeaders(request, scheme), {
      headers: ({ ':status': status = '', ...headers }, setCookies) =>
        this.#head.resolve({
          status: Number(status),
          headers: setCookies.length === 0 ? headers : { ...headers, 'set-cookie': setCookies },
          body: this.#body,
          trailers: () => this.#trailers,
        }),
      data: (bytes) => this.#receive(bytes),
      trailers: (trailers) => (this.#trailers = trailers),
      closed: (failure) => this.#finish(failure && failureOf(failure)),
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
    this.#body.push(bytes)
    if (this.#body.waitingBytes <= waitingBytesMax) return
    this.#isPaused = true
    this.#exchange.pause()
  }

  #resume(): void {
    if (this.#isPaused) this.#exchange.resume()
    this.#isPaused = false
  }

  /** The client does not read the response to its end. */
  #leave(): void {
    this.#exchange.cancel()
    this.#finish()
  }

  async #sendBody(body: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const piece of body) {
        if (this.#isDone) return
        if (!this.#exchange.write(piece)) await this.#exchange.whenDrained()
      }
      this.#exchange.end()
    } catch (error) {
      // The client has disconnected, or its body is too large.
      if (this.#isDone) return
      this.#exchange.cancel()
      this.#finish(error as Error)
    }
  }

  #finish(failure?: Error): void {
    if (this.#isDone) return
    this.#isDone = true
    offAbort(this.#signal, this.#abort)
    this.#head.reject(failure ?? new Error('the endpoint sent no response'))
    this.#onDone()
    if (failure === undefined) this.#body.end()
    else this.#body.fail(failure)
  }
}

function pseudoHeaders({ method, target, headers }: PooledRequest, scheme: 'http' | 'https'): Record<string, string> {
  const { host, ...others } = headers
  return {
    ':method': method,
    ':path': target,
    ':scheme': scheme,
    ':authority': String(host ?? ''),
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, [value].flat().join(', ')])),
  }
}

const failureOf = ({ message, unprocessed }: Http2Failure): Error =>
  unprocessed ? new NotSent(message) : new Error(message)

// GrpcChannel: calls to one gRPC server, over TLS or a unix socket, all on one HTTP/2 connection.
//
//   const channel = new GrpcChannel({ http2, clock, endpoint: 'unix:/run/containerd/containerd.sock' })
//   const version = grpcMethod('runtime.v1.RuntimeService', 'Version', versionRequest, versionResponse)
//   await channel.unary(version, {}, noMetadata, signal)
//
// The connection is opened by the first call and replaced after it was lost or the server sent GOAWAY; calls in flight
// finish on the old one. Only a unary call that GOAWAY left unprocessed is repeated. For other failed calls,
// `unprocessed` of the GrpcError says whether the server cannot have acted on them. The caller's signal is the
// deadline: aborting it cancels the call, which rejects with the signal's reason.
import { present } from '../../base/assert.ts'
import type { Clock, Timer } from '../../base/time/clock.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Http2Connection, Http2Options, Http2Provider } from '../../platform/http/http2-client.ts'
import { decodeProto } from '../protobuf/decode-proto.ts'
import { encodeProto } from '../protobuf/encode-proto.ts'
import type { Message, Proto, ProtoInput } from '../protobuf/proto-message.ts'
import { Call, type Metadata } from './grpc-call.ts'
import { keepAlive } from './keep-alive.ts'
import { GrpcError } from './grpc-status.ts'

export { noMetadata, type Metadata } from './grpc-call.ts'

export interface GrpcMethod<Q extends Message = Message, A extends Message = Message> {
  readonly path: string
  readonly request: Q
  readonly response: A
}

export const grpcMethod = <Q extends Message, A extends Message>(
  service: string,
  name: string,
  request: Q,
  response: A,
): GrpcMethod<Q, A> => ({ path: `/${service}/${name}`, request, response })

export interface GrpcChannelOptions extends Http2Options {
  readonly http2: Http2Provider
  readonly clock: Clock
  /** A larger message from the server ends its call with RESOURCE_EXHAUSTED. */
  readonly messageBytesMax?: number
  readonly connectMsMax?: number
}

export interface GrpcDuplex<Q extends Message, A extends Message> {
  /** Resolves when the next message may be sent. The result of the call is reported by `messages`. */
  send(message: ProtoInput<Q>): Promise<void>
  endSending(): void
  /**
   * Iterate once. Ends with the call; throws its GrpcError, or the reason of the signal. Leaving the loop cancels the
   * call.
   */
  readonly messages: AsyncIterable<Proto<A>>
}

const messageBytesMaxDefault = 16 * 1024 * 1024
const connectMsMaxDefault = 5_000
/** The number of buffered messages from which on the server is paused. */
const messagesWaitingMax = 64

export class GrpcChannel {
  readonly endpoint: string
  readonly #options: GrpcChannelOptions
  readonly #closed = new AbortController()
  /** The connection for new calls, and all that have calls in flight. */
  #connection: Http2Connection | undefined
  readonly #connections = new Set<Http2Connection>()
  #connecting: Promise<Http2Connection> | undefined

  constructor(options: GrpcChannelOptions) {
    this.endpoint = options.endpoint
    this.#options = options
  }

  /** One request message, one response message. */
  async unary<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    metadata: Metadata,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    const connection = this.#openConnection ?? (await this.#connect(method, signal))
    try {
      return await this.#callUnary(connection, method, request, metadata, signal)
    } catch (error) {
      // GOAWAY arrived during the call: it is repeated on a new connection.
      if (!(error instanceof GrpcError) || !error.unprocessed || connection.isOpen) throw error
      return this.#callUnary(await this.#connect(method, signal), method, request, metadata, signal)
    }
  }

  /** One request message, many response messages. The call starts when it is iterated. */
  async *serverStream<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    metadata: Metadata,
    signal: AbortSignal,
  ): AsyncGenerator<Proto<A>, undefined> {
    const { send, endSending, messages } = await this.duplex(method, metadata, signal)
    await send(request)
    endSending()
    yield* messages
  }

  /** Many messages in both directions. The call has started when this resolves. */
  async duplex<Q extends Message, A extends Message>(
    method: GrpcMethod<Q, A>,
    metadata: Metadata,
    signal: AbortSignal,
  ): Promise<GrpcDuplex<Q, A>> {
    const connection = this.#openConnection ?? (await this.#connect(method, signal))
    signal.throwIfAborted()
    const waiting: Proto<A>[] = []
    let ended: { readonly error: unknown } | undefined
    let wake = Promise.withResolvers<void>()
    const end = (error: unknown) => {
      signal.removeEventListener('abort', abort)
      ended ??= { error }
      wake.resolve()
    }
    const call = this.#call(connection, method, metadata, {
      onMessage: (bytes) => {
        waiting.push(decodeProto(method.response, bytes))
        if (waiting.length === messagesWaitingMax) call.pause()
        wake.resolve()
      },
      onEnd: end,
    })
    const abort = () => {
      call.cancel()
      end(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    async function* read(): AsyncGenerator<Proto<A>, undefined> {
      try {
        for (;;) {
          while (waiting.length > 0) yield present(waiting.shift(), 'a message waits')
          if (ended !== undefined) break
          call.resume()
          wake = Promise.withResolvers()
          await wake.promise
        }
        if (ended.error !== undefined) throw ended.error as Error
      } finally {
        call.cancel()
        end(undefined)
      }
    }
    return {
      async send(message) {
        if (!call.send(encodeProto(method.request, message))) await call.whenDrained()
      },
      endSending: () => call.endSending(),
      messages: read(),
    }
  }

  /** Closes the connection and ends all its calls. */
  close(): void {
    this.#closed.abort(new Error(`the channel to ${this.endpoint} is closed`))
    for (const connection of this.#connections) connection.destroy()
  }

  #callUnary<Q extends Message, A extends Message>(
    connection: Http2Connection,
    method: GrpcMethod<Q, A>,
    request: ProtoInput<Q>,
    metadata: Metadata,
    signal: AbortSignal,
  ): Promise<Proto<A>> {
    signal.throwIfAborted()
    const message = encodeProto(method.request, request)
    const { promise, resolve, reject } = Promise.withResolvers<Proto<A>>()
    let response: Proto<A> | undefined
    const call = this.#call(connection, method, metadata, {
      onMessage: (bytes) => (response = decodeProto(method.response, bytes)),
      onEnd: (error) => {
        signal.removeEventListener('abort', abort)
        if (error !== undefined) reject(error)
        else if (response === undefined) reject(this.#error(method, 'INTERNAL', 'the response has no message'))
        else resolve(response)
      },
    })
    const abort = () => {
      call.cancel()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort, { once: true })
    call.sendLast(message)
    return promise
  }

  get #openConnection(): Http2Connection | undefined {
    return this.#connection?.isOpen === true ? this.#connection : undefined
  }

  #call(
    connection: Http2Connection,
    { path }: GrpcMethod,
    metadata: Metadata,
    handlers: { onMessage(bytes: Uint8Array): void; onEnd(error: GrpcError | undefined): void },
  ): Call {
    const { messageBytesMax = messageBytesMaxDefault } = this.#options
    return new Call(connection, { path, endpoint: this.endpoint, metadata, messageBytesMax, ...handlers })
  }

  #error({ path }: GrpcMethod, code: GrpcError['code'], details: string, cause?: unknown): GrpcError {
    return new GrpcError(`${path} at ${this.endpoint}`, code, details, cause !== undefined, cause)
  }

  /** Joins the current attempt or starts one. The signal only ends the wait of this caller. */
  async #connect(method: GrpcMethod, signal: AbortSignal): Promise<Http2Connection> {
    signal.throwIfAborted()
    this.#connecting ??= this.#makeConnection().finally(() => (this.#connecting = undefined))
    try {
      return await unlessAborted(this.#connecting, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw this.#error(method, 'UNAVAILABLE', `cannot connect: ${(error as Error).message}`, error)
    }
  }

  async #makeConnection(): Promise<Http2Connection> {
    const { http2, clock, connectMsMax = connectMsMaxDefault } = this.#options
    this.#closed.signal.throwIfAborted()
    const attempt = new AbortController()
    const timer: Timer = clock.after(connectMsMax, () =>
      attempt.abort(new Error(`no connection within ${connectMsMax} ms`)),
    )
    const close = () => attempt.abort(this.#closed.signal.reason)
    this.#closed.signal.addEventListener('abort', close, { once: true })
    try {
      const connection = await http2.connect(this.#options, attempt.signal)
      if (this.#closed.signal.aborted) connection.destroy()
      keepAlive(connection, clock)
      this.#connections.add(connection)
      void connection.closed.then(() => this.#connections.delete(connection))
      this.#connection = connection
      return connection
    } finally {
      timer.cancel()
      this.#closed.signal.removeEventListener('abort', close)
    }
  }
}

// Call: one gRPC call on an HTTP/2 exchange: frames in both directions, and one status at the end. The channel encodes
// and decodes the messages.
import type {
  Http2Connection,
  Http2Events,
  Http2Exchange,
  Http2Failure,
  Http2Headers,
} from '../../platform/http/http2-client.ts'
import { frame, FrameError, FrameReader } from './grpc-frame.ts'
import { codeOfFailure, codeOfHttpStatus, GrpcError, grpcStatusIn } from './grpc-status.ts'

/** Text by lower-case name; names that end in `-bin` have base64 values. */
export type Metadata = Readonly<Record<string, string>>
export const noMetadata: Metadata = {}

export interface CallOptions {
  /** `/package.Service/Method` */
  readonly path: string
  /** The server, for error messages. */
  readonly endpoint: string
  readonly metadata: Metadata
  readonly messageBytesMax: number
  readonly onMessage: (bytes: Uint8Array) => void
  /** Called once, at the end of the call; without an error the status was OK. */
  readonly onEnd: (error: GrpcError | undefined) => void
}

export class Call implements Http2Events {
  readonly #options: CallOptions
  readonly #reader: FrameReader
  readonly #exchange: Http2Exchange
  #status: ReturnType<typeof grpcStatusIn>
  #httpStatus: string | undefined
  #ended = false

  constructor(connection: Http2Connection, options: CallOptions) {
    this.#options = options
    this.#reader = new FrameReader(options.messageBytesMax)
    this.#exchange = connection.request(
      {
        ...options.metadata,
        ':method': 'POST',
        ':path': options.path,
        'content-type': 'application/grpc',
        te: 'trailers',
      },
      this,
    )
  }

  /** Sends a message; false when the sender should wait for whenDrained(). */
  send(message: Uint8Array): boolean {
    return this.#ended || this.#exchange.write(frame(message))
  }

  sendLast(message: Uint8Array): void {
    if (!this.#ended) this.#exchange.end(frame(message))
  }

  endSending(): void {
    if (!this.#ended) this.#exchange.end()
  }

  whenDrained(): Promise<void> {
    return this.#exchange.whenDrained()
  }

  pause(): void {
    this.#exchange.pause()
  }

  resume(): void {
    this.#exchange.resume()
  }

  /** Cancels the call without calling onEnd. */
  cancel(): void {
    if (this.#ended) return
    this.#ended = true
    this.#exchange.cancel()
  }

  headers(headers: Http2Headers): void {
    this.#httpStatus = headers[':status']
    this.#status = grpcStatusIn(headers)
  }

  data(bytes: Uint8Array): void {
    if (this.#ended || this.#httpStatus !== '200') return
    try {
      for (const message of this.#reader.push(bytes)) this.#options.onMessage(message)
    } catch (error) {
      this.#exchange.cancel()
      // Any other error is from decoding the message.
      this.#end(this.#error(error instanceof FrameError ? error.code : 'INTERNAL', (error as Error).message))
    }
  }

  trailers(trailers: Http2Headers): void {
    this.#status = grpcStatusIn(trailers)
  }

  closed(failure: Http2Failure | undefined): void {
    this.#end(this.#outcome(failure))
  }

  #outcome(failure: Http2Failure | undefined): GrpcError | undefined {
    // A status is final, whatever happens to the stream afterwards.
    if (this.#status !== undefined) {
      const { code, details } = this.#status
      if (code !== 'OK') return this.#error(code, details)
      return this.#reader.isMidMessage ? this.#error('INTERNAL', 'the response ends within a message') : undefined
    }
    if (failure !== undefined) return this.#error(codeOfFailure(failure), failure.message, failure.unprocessed)
    if (this.#httpStatus === '200') return this.#error('INTERNAL', 'the response ends without a status')
    return this.#error(codeOfHttpStatus(this.#httpStatus), `the server responded with HTTP ${this.#httpStatus}`)
  }

  #error(code: GrpcError['code'], details: string, unprocessed = false): GrpcError {
    return new GrpcError(`${this.#options.path} at ${this.#options.endpoint}`, code, details, unprocessed)
  }

  #end(error: GrpcError | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#options.onEnd(error)
  }
}

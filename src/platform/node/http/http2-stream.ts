// ServedStream: a request and its response on a stream of HTTP/2, with limits on time and memory.
import { clientGone } from '../../http/client-gone.ts'
import { ByteBuffer } from '../../../base/collections/byte-buffer.ts'
import { lookup, setOwn } from '../../../base/collections/lookup.ts'
import { once } from 'node:events'
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { TimeSlicedWork } from '../../../base/work/time-sliced-work.ts'
import { discardBody } from '../../http/discard-body.ts'
import { HeldBytes, waitingRequestBytes, type SendProgress } from '../../limits/held-bytes.ts'
import { headerValuesOf, type Peer } from '../../http1/http1-request.ts'
import type { OnShed } from '../../limits/listen-limits.ts'
import { BodyTooLarge, Overloaded } from '../../http/listener.ts'
import type { ListenOptions, StreamedRequest, WireResponse, WirePieces, WireRequest } from '../../http/listener.ts'
import type { BudgetedConnection, MemoryBudget } from '../../limits/memory-budget.ts'
import { sendPieces, type PieceSender } from '../../http/send-pieces.ts'
import { bodySecondsMax, lingerSecondsMax, stalledSecondsMax } from '../../http/wire-timeouts.ts'

// Literals instead of node:http2's constants, which would load the module at the start.
const [HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, HTTP2_HEADER_STATUS] = [':method', ':path', ':status'] as const
/** Headers that HTTP/2 does not allow (RFC 9113, 8.2.2). */
const forbidden = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** A long body is written to the stream in portions of this size. */
const portionBytesMax = 256 << 10

export interface Http2ServerOptions extends Peer {
  /** The key by which the client's connections are counted (see clientKey). */
  readonly client: string
  /** The listener verifies client certificates, so a client without one is unauthenticated. */
  readonly verifiesClients: boolean
  readonly handle: ListenOptions['handle']
  /** Seconds since the listener started. */
  readonly second: () => number
  readonly turns: TimeSlicedWork
  readonly budget: MemoryBudget
  readonly onShed: OnShed
}

/** The connection of a stream. */
interface StreamConnection extends BudgetedConnection {
  responding(isAuthenticated: boolean, keepsConnection: boolean): void
}

export class ServedStream implements StreamedRequest, SendProgress {
  readonly method: string
  readonly target: string
  readonly headers: WireRequest['headers']
  readonly headerValues: WireRequest['headerValues']
  readonly remoteAddress: string
  readonly certificate: WireRequest['certificate']
  readonly upgrade = false
  readonly #stream: ServerHttp2Stream
  readonly #connection: StreamConnection
  readonly #options: Http2ServerOptions
  readonly #gone = new AbortController()
  readonly #held: HeldBytes
  #body: PromiseWithResolvers<Uint8Array> | undefined
  #received: ByteBuffer | undefined
  #bodyBytes = 0
  #isBodyComplete: boolean
  #isRejected = false
  #hasResponded = false
  /** The bytes of a whole body that have not been written to the stream. */
  #unwrittenBytes = 0
  #writtenBytes = 0
  /** The whole response has been written. */
  #isComplete = false
  #pieceSender: PieceSender | undefined
  #isWatch = false
  /** When the client has taken too long to send or receive. */
  #dueSecond = Infinity

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    raw: readonly string[],
    connection: StreamConnection,
    options: Http2ServerOptions,
  ) {
    this.#stream = stream
    this.#connection = connection
    this.#options = options
    this.#held = new HeldBytes(options.budget, connection, () => this.#shed())
    this.#isBodyComplete = stream.endAfterHeaders
    this.method = String(lookup(headers, HTTP2_HEADER_METHOD))
    this.target = String(lookup(headers, HTTP2_HEADER_PATH))
    this.headers = headers as Record<string, string | undefined>
    this.headerValues = (name) => headerValuesOf(raw, name)
    this.remoteAddress = options.remoteAddress
    this.certificate = options.certificate
  }

  get unsentBytes(): number {
    return this.#stream.writableLength + this.#unwrittenBytes
  }

  get sentBytes(): number {
    return this.#writtenBytes - this.#stream.writableLength
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  cancel(reason: Error): void {
    this.#gone.abort(reason)
  }

  body(bytesMax: number): Promise<Uint8Array> {
    const body = Promise.withResolvers<Uint8Array>()
    const stream = this.#stream
    this.#received = new ByteBuffer(Math.min(bytesMax, this.bodyBytes ?? bytesMax))
    const tooLarge = () => this.#rejectBody(new BodyTooLarge(`the body is larger than ${bytesMax} bytes`))
    this.#body = body
    this.#dueSecond = this.#second() + bodySecondsMax
    stream.on('data', (piece: Buffer) => {
      if (this.#isRejected) return
      this.#bodyBytes += piece.length
      if (this.#bodyBytes > bytesMax) return tooLarge()
      this.#received?.append(piece)
      this.#held.body(this.#bodyBytes, false)
    })
    stream.on('end', () => {
      // A stream that is reset also emits `end`.
      if (stream.aborted || stream.closed || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return
      this.#isBodyComplete = true
      this.#dueSecond = Infinity
      if (!this.#hasResponded) this.#held.body(this.#bodyBytes, true)
      if (this.#received !== undefined) body.resolve(this.#received.take())
    })
    stream.on('error', body.reject)
    stream.on('close', () => body.reject(clientGone))
    if (Number(this.headers['content-length'] ?? 0) > bytesMax) tooLarge()
    return body.promise
  }

  get bodyBytes(): number | undefined {
    if (this.#stream.endAfterHeaders) return 0
    const { 'content-length': length } = this.headers
    return length === undefined ? undefined : Number(length)
  }

  /** Flow control bounds what the client sends before the pieces are taken. */
  async *bodyPieces(bytesMax: number): AsyncGenerator<Uint8Array, void> {
    let bytes = 0
    for await (const piece of this.#stream as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > bytesMax) throw new BodyTooLarge(`the body is larger than ${bytesMax} bytes`)
      yield piece
    }
    // A stream that is reset also ends.
    if (this.#stream.aborted || this.#stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw clientGone
    this.#isBodyComplete = true
  }

  /** Called once, before anything can happen to the stream. */
  open(): void {
    this.#stream.on('error', () => {}) // `close` follows
    this.#stream.once('close', () => {
      this.#held.release()
      if (!this.#isComplete) this.cancel(clientGone)
    })
  }

  async respond(): Promise<void> {
    const stream = this.#stream
    try {
      const response = await this.#options.handle(this)
      this.#hasResponded = true
      this.#held.release()
      if (this.#isClosed) return discardBody(response)
      const isAuthenticated = this.headers['authorization'] !== undefined && response.status !== 401
      this.#connection.responding(isAuthenticated, response.keepsConnection === true)
      await this.#send(response)
      if (!this.#isBodyComplete) this.#stopBody(response.trailers !== undefined)
    } catch {
      this.#hasResponded = true
      if (!stream.headersSent && !this.#isClosed) stream.respond({ [HTTP2_HEADER_STATUS]: 500 }, { endStream: true })
      else stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    }
  }

  /**
   * A client that is still sending its body is requested to stop (RFC 9113, 8.1). In a stream that is closed while its
   * trailers are not sent yet, Node.js loops for ever, so after trailers the client has some time to close it.
   */
  #stopBody(hasTrailers: boolean): void {
    if (hasTrailers) this.#dueSecond = this.#second() + lingerSecondsMax
    else this.#stream.close(constants.NGHTTP2_NO_ERROR)
  }

  /** Called each second. */
  tick(): void {
    const received = this.#stream.readableLength + (this.#hasResponded ? 0 : this.#bodyBytes)
    const isAwaited = this.unsentBytes > 0 || (this.#body !== undefined && !this.#isBodyComplete)
    this.#held.measure(this, received + (isAwaited ? waitingRequestBytes : 0), this.#isBodyComplete)
    if (this.#second() < this.#dueSecond) return
    this.#dueSecond = Infinity
    this.#options.onShed('stalled', 1, this.#held.bytes)
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  endWatch(): void {
    if (this.#isWatch) this.#pieceSender?.closed()
  }

  /** By the client or by the server, which has shed it. It cannot be responded to. */
  get #isClosed(): boolean {
    return this.#stream.closed || this.#stream.destroyed
  }

  #second(): number {
    return this.#options.second()
  }

  /** Memory is short: a body that is being received is rejected, a response is aborted. */
  #shed(): void {
    const isReceiving = this.#body !== undefined && !this.#isBodyComplete && !this.#hasResponded
    if (!isReceiving) return this.#stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    this.#rejectBody(new Overloaded('too many bytes of requests are held in memory'))
  }

  /** The rest of the body is not read, so the client gets no more window. */
  #rejectBody(error: Error): void {
    this.#isRejected = true
    this.#stream.pause()
    this.#received = undefined
    this.#bodyBytes = 0
    this.#dueSecond = Infinity
    this.#body?.reject(error)
  }

  async #send({ status, headers, body, length: known, trailers }: WireResponse): Promise<void> {
    const stream = this.#stream
    const isWhole = typeof body === 'string' || body instanceof Uint8Array
    const isEmpty = isWhole && body.length === 0 && trailers === undefined
    const isBodiless = this.method === 'HEAD' || status === 204 || status === 304 || isEmpty
    const ownLength = known ?? (isWhole ? Buffer.byteLength(body) : undefined)
    const length = status !== 204 && status !== 304 ? ownLength : undefined
    const sendsTrailers = trailers !== undefined && !isBodiless
    stream.respond(headersOf(status, headers, length), { endStream: isBodiless, waitForTrailers: sendsTrailers })
    if (sendsTrailers) stream.once('wantTrailers', () => stream.sendTrailers(trailersOf(trailers() ?? {})))
    if (isBodiless) {
      this.#isComplete = isWhole
      return discardBody({ body })
    }
    stream.on('drain', () => this.#caughtUp())
    if (isWhole) await this.#sendWhole(typeof body === 'string' ? Buffer.from(body) : body)
    else {
      await ('take' in body ? this.#sendPieces(body) : this.#sendStream(body))
      this.#isComplete = true
      stream.end()
    }
    this.#behind()
  }

  /** Writes the body in portions, so that the unsent bytes show the client's progress. */
  async #sendWhole(body: Uint8Array): Promise<void> {
    const { signal } = this
    let at = 0
    for (; body.length - at > portionBytesMax; at += portionBytesMax) {
      this.#unwrittenBytes = body.length - at - portionBytesMax
      if (!this.#write(body.subarray(at, at + portionBytesMax))) await once(this.#stream, 'drain', { signal })
    }
    this.#unwrittenBytes = 0
    this.#isComplete = true
    this.#writtenBytes += body.length - at
    this.#stream.end(body.subarray(at))
  }

  /** Of a long response, a piece is taken only when the one before it has been sent: the client may never have room for it. */
  #sendPieces(pieces: WirePieces): Promise<void> {
    const stream = this.#stream
    this.#isWatch = pieces.isLong !== true
    return new Promise((resolve) => {
      const onSent = () => {
        this.#caughtUp()
        flow.drained()
      }
      const write = (batch: readonly Uint8Array[]): boolean => {
        const [only] = batch
        const piece = batch.length === 1 && only !== undefined ? only : Buffer.concat(batch)
        if (this.#isWatch) return this.#write(piece)
        this.#write(piece, onSent)
        this.#behind()
        return false
      }
      const flow = sendPieces(pieces, write, this.#options.turns, resolve)
      this.#pieceSender = flow
      stream.on('drain', () => flow.drained())
      stream.once('close', () => flow.closed())
    })
  }

  async #sendStream(body: AsyncIterable<Uint8Array | string>): Promise<void> {
    const { signal } = this
    for await (const piece of body) {
      if (signal.aborted) return
      if (!this.#write(piece)) await once(this.#stream, 'drain', { signal })
    }
  }

  #write(piece: Uint8Array | string, onSent?: () => void): boolean {
    this.#writtenBytes += Buffer.byteLength(piece)
    const isTaken = this.#stream.write(piece, onSent)
    if (!isTaken) this.#behind()
    return isTaken
  }

  #caughtUp(): void {
    this.#dueSecond = Infinity
    this.#held.release()
  }

  /** Starts the timeout for unsent bytes and counts them. */
  #behind(): void {
    if (this.unsentBytes === 0 || this.#stream.destroyed) return
    this.#dueSecond = this.#second() + stalledSecondsMax
    this.#held.unsent(this.unsentBytes)
  }
}

function trailersOf(trailers: WireResponse['headers']): Record<string, string | string[]> {
  const written: Record<string, string | string[]> = {}
  for (const name in trailers) {
    const value = trailers[name]
    if (value !== undefined && !forbidden.has(name))
      setOwn(written, name, typeof value === 'string' ? value : [...value])
  }
  return written
}

function headersOf(status: number, headers: WireResponse['headers'], length?: number) {
  const written: Record<string, string | number | string[]> = { [HTTP2_HEADER_STATUS]: status }
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !forbidden.has(name))
      setOwn(written, name, typeof value === 'string' ? value : [...value])
  }
  if (length !== undefined) written['content-length'] = length
  return written
}

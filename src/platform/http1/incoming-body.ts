// IncomingBody: the body of one request, collected for its handler, or discarded when the handler does not read it.
import { ByteBuffer } from '../../base/collections/byte-buffer.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { BodyTooLarge } from '../http/listener.ts'
import type { PieceQueue } from '../http/piece-queue.ts'
import { ChunkedDecoder } from './chunked-decoder.ts'
import type { BodyFraming } from './request-head.ts'

export class IncomingBody {
  readonly #chunked: ChunkedDecoder | undefined
  /** The bytes that have not arrived, of a body of known length. */
  #left: number
  #received: ByteBuffer | undefined
  #bytes = 0
  #bytesMax = 0
  #reader: PromiseWithResolvers<Uint8Array> | undefined
  #isDiscarded = false
  #stream: PieceQueue | undefined

  constructor(framing: BodyFraming) {
    this.#chunked = framing === 'chunked' ? new ChunkedDecoder() : undefined
    this.#left = framing === 'chunked' ? 0 : framing
  }

  /** The whole body has arrived. */
  get isComplete(): boolean {
    return this.#chunked?.isDone ?? this.#left === 0
  }

  /** Whether received bytes may be passed to `take`. */
  get isTaking(): boolean {
    return !this.isComplete && (this.#reader !== undefined || this.#stream !== undefined || this.#isDiscarded)
  }

  /** Bytes that are held until the body is complete. */
  get bytes(): number {
    return this.#isDiscarded ? 0 : (this.#stream?.waitingBytes ?? this.#bytes)
  }

  /** How many bytes have not arrived; Infinity when the length is unknown. */
  get left(): number {
    return this.#chunked === undefined || this.#chunked.isDone ? this.#left : Infinity
  }

  /** The whole body: synchronously when it is in `received`; otherwise further bytes must be passed to `take`. */
  read(bytesMax: number, received: Uint8Array): MaybePromise<Uint8Array> {
    if (this.#chunked === undefined && this.#left <= Math.min(bytesMax, received.length)) {
      const whole = received.subarray(0, this.#left)
      this.#left = 0
      return whole
    }
    this.#reader = Promise.withResolvers()
    this.#received = new ByteBuffer(this.#chunked === undefined ? this.#left : bytesMax)
    this.#bytesMax = bytesMax
    if (this.#left > bytesMax) this.#rejectTooLarge()
    return this.#reader.promise
  }

  /** Passes the body on as it arrives; bytes must be passed to `take`. */
  stream(bytesMax: number, pieces: PieceQueue): void {
    this.#stream = pieces
    this.#bytesMax = bytesMax
    if (this.#left > bytesMax) this.#rejectTooLarge()
  }

  /** The body will not be read: its bytes are discarded. */
  discard(): void {
    this.#isDiscarded = true
    this.#received = undefined
  }

  /**
   * Takes the bytes that belong to it; returns how many. Throws a RejectedRequest when they are none of a body. They are copied unless
   * the body is passed on as it arrives.
   */
  take(bytes: Uint8Array): number {
    let taken: number
    if (this.#chunked === undefined) {
      taken = Math.min(this.#left, bytes.length)
      this.#left -= taken
      this.#collect(bytes.subarray(0, taken))
    } else taken = this.#chunked.take(bytes, 0, (piece) => this.#collect(piece))
    if (this.isComplete) this.#finish()
    return taken
  }

  /** No more bytes will arrive. */
  fail(error: Error): void {
    this.#reader?.reject(error)
    this.#stream?.fail(error)
    this.discard()
  }

  #collect(piece: Uint8Array): void {
    if (this.#isDiscarded) return
    this.#bytes += piece.length
    if (this.#bytes > this.#bytesMax) this.#rejectTooLarge()
    else if (this.#stream !== undefined) this.#stream.push(piece)
    else this.#received?.append(piece)
  }

  #rejectTooLarge(): void {
    this.fail(new BodyTooLarge(`the body is larger than ${this.#bytesMax} bytes`))
  }

  #finish(): void {
    this.#stream?.end()
    if (this.#received !== undefined) this.#reader?.resolve(this.#received.take())
    // The handler decides how long the bytes are held.
    this.#reader = undefined
    this.#received = undefined
  }
}

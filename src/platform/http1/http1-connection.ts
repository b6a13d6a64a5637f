// Http1Connection: the server side of one HTTP/1.1 connection: bytes become requests, responses become bytes. It is
// independent of sockets: a driver passes on what it receives and sends what the connection writes.
//
// One request is handled at a time. Pipelined requests are buffered up to a limit; beyond it the socket is not read.
import { clientGone } from '../http/client-gone.ts'
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import type { TimeSlicedWork } from '../../base/work/time-sliced-work.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { discardBody } from '../http/discard-body.ts'
import { HeldBytes, waitingRequestBytes } from '../limits/held-bytes.ts'
import type { OnShed } from '../limits/listen-limits.ts'
import { isVerified, Overloaded } from '../http/listener.ts'
import type { ClientCertificate, StreamedRequest, WireResponse, WirePieces } from '../http/listener.ts'
import type { MemoryBudget } from '../limits/memory-budget.ts'
import { PieceQueue } from '../http/piece-queue.ts'
import { sendPieces, type PieceSender } from '../http/send-pieces.ts'
import type { ServedConnection } from '../http/served-connection.ts'
import {
  bodySecondsMax,
  headSecondsMax,
  idleSecondsMax,
  lingerSecondsMax,
  stalledSecondsMax,
} from '../http/wire-timeouts.ts'
import { responseHead, rejectionText, trailerLines, upgradeHead } from './response-head.ts'
import { hasNoBody, responseFraming } from './response-framing.ts'
import { Http1Request } from './http1-request.ts'
import type { Http1Socket } from './http1-socket.ts'
import { leadingEmptyLines, findHeadEnd } from './head-end.ts'
import { IncomingBody } from './incoming-body.ts'
import { RejectedRequest } from './rejected-request.ts'
import { parseRequestHead, type RequestHead } from './request-head.ts'

export const headBytesMax = 64 << 10
/** Pipelined bytes that are buffered while a request is handled. */
const bufferedBytesMax = 64 << 10
/** Bytes of a forwarded body that wait for the handler before the socket is paused. */
const streamedBytesMax = 64 << 10
/** As upstream: up to this much of an unread body is discarded to keep the connection; otherwise it is closed. */
const discardedBytesMax = 256 << 10

export interface Http1Options {
  readonly handle: (request: StreamedRequest) => MaybePromise<WireResponse>
  readonly remoteAddress: string
  readonly certificate: ClientCertificate | undefined
  /** The key by which the client's connections are counted (see clientKey). */
  readonly client: string
  readonly budget: MemoryBudget
  readonly onShed: OnShed
  /** Decodes bytes as latin1. */
  readonly textOf: (bytes: Uint8Array, from: number, to: number) => string
  readonly date: () => string
  /** Seconds since the listener started. */
  readonly second: () => number
  readonly turns: TimeSlicedWork
}

export class Http1Connection implements ServedConnection {
  readonly client: string
  readonly #socket: Http1Socket
  readonly #options: Http1Options
  #buffered: Uint8Array = nothing
  /** How many of the buffered bytes have been searched for the end of a head. */
  #searched = 0
  #request: Http1Request | undefined
  /** The body being received. An unread body may outlive its request. */
  #body: IncomingBody | undefined
  /** The body being forwarded. */
  #streamed: PieceQueue | undefined
  #pieceSender: PieceSender | undefined
  /** The current response is a watch or another stream that has no known end. */
  #isEndless = false
  #hasResponded = false
  #isAuthenticated: boolean
  #idleSinceSecond: number
  readonly #held: HeldBytes
  #drained: (() => void) | undefined
  #isPaused = false
  #isBehind = false
  #isDraining = false
  /** The client sends nothing more. */
  #hasEnded = false
  #isProceeding = false
  /** open: requests are served; ending: the last response is being sent; left: upgraded; gone: closed. */
  #state: 'open' | 'ending' | 'left' | 'gone' = 'open'
  #dueSecond: number
  /** When the connection is closed, even if a request is in progress. */
  #revokedSecond = Infinity

  constructor(socket: Http1Socket, options: Http1Options) {
    this.#socket = socket
    this.#options = options
    this.client = options.client
    this.#isAuthenticated = isVerified(options.certificate)
    this.#held = new HeldBytes(options.budget, this, () => this.#shed())
    this.#idleSinceSecond = options.second()
    this.#dueSecond = options.second() + headSecondsMax
  }

  /** A request is being handled. */
  get isBusy(): boolean {
    return this.#request !== undefined && this.#state === 'open'
  }

  get isAuthenticated(): boolean {
    return this.#isAuthenticated
  }

  get idleSeconds(): number {
    return this.#isReady ? this.#options.second() - this.#idleSinceSecond : 0
  }

  /** Returns true if the piece is no longer needed, because it was copied or discarded. */
  receive(piece: Uint8Array): boolean {
    if (this.#state !== 'open') return true
    try {
      const isStreamed = this.#streamed !== undefined
      const rest = this.#body?.isTaking === true ? piece.subarray(this.#takeBody(this.#body, piece)) : piece
      if (rest.length === 0) return !isStreamed
      this.#buffered = this.#buffered.length === 0 ? rest : concatBytes([this.#buffered, rest])
      this.#proceed()
      this.#updateReading()
    } catch (error) {
      this.#reject(error)
    }
    return false
  }

  /** The client has caught up with what was written. */
  drained(): void {
    this.#isBehind = false
    this.#held.release()
    if (this.#state === 'ending') this.#dueSecond = this.#options.second() + lingerSecondsMax
    if (this.#state !== 'open') return
    this.#dueSecond = this.#request === undefined ? this.#idleSecond() : Infinity
    this.#pieceSender?.drained()
    this.#drained?.()
    if (this.#request === undefined) this.#continue()
  }

  /**
   * The client has ended its side of the connection. What it has sent is answered, and then the connection is closed. It may
   * have gone altogether: so nothing without an end is sent, and a request that is incomplete has failed.
   */
  ended(): void {
    if (this.#state !== 'open') return
    this.#hasEnded = true
    if (this.#isEndless) this.#socket.destroy()
    else if (this.#body?.isTaking === true) this.#endIncomplete()
    else this.#continue()
  }

  /** The rest of the body will not arrive. Its request has failed, unless it has its response. */
  #endIncomplete(): void {
    if (this.#request === undefined) this.#end()
    else this.#socket.destroy()
  }

  /** The socket has been closed. */
  closed(): void {
    if (this.#state === 'gone') return
    this.#state = 'gone'
    this.#held.release()
    this.#body?.fail(clientGone)
    this.#request?.cancel(clientGone)
    this.#pieceSender?.closed()
    this.#drained?.()
  }

  /** Closes the connection after the current response, or at once when there is none. */
  drain(): void {
    this.#isDraining = true
    if (this.#isReady) this.#end()
  }

  /** Called each second: enforces timeouts and measures the bytes that are held. */
  tick(): void {
    const isProcessing = this.#request !== undefined && this.#body?.isTaking !== true
    const isAwaited = this.#request !== undefined && this.#body?.isTaking === true
    const received = this.#buffered.length + (this.#body?.bytes ?? 0) + (isAwaited ? waitingRequestBytes : 0)
    if (this.#state === 'open' || this.#state === 'ending') this.#held.measure(this.#socket, received, isProcessing)
    const second = this.#options.second()
    if (second < this.#dueSecond && second < this.#revokedSecond) return
    if (this.#state === 'open' && this.#request === undefined && this.#buffered.length > 0)
      return this.#reject(new RejectedRequest(408, 'the head of the request did not come in time'))
    if (this.#state === 'open' && this.#request === undefined && !this.#isBehind) return this.#end()
    if (this.#state === 'open' && second >= this.#dueSecond) this.#options.onShed('stalled', 1, this.#held.bytes)
    this.#socket.destroy()
  }

  /** The client's certificate has expired: a watch ends now, another response may take a few seconds more. */
  revoke(): void {
    if (this.#revokedSecond < Infinity) return
    this.#revokedSecond = this.#options.second() + lingerSecondsMax
    this.#isAuthenticated = false
    this.drain()
    if (this.#isEndless) this.#pieceSender?.closed()
  }

  /** Memory is short: a body that is being received is rejected; otherwise the connection is closed. */
  #shed(): void {
    const body = this.#body
    if (this.#state === 'open' && this.#request !== undefined && !this.#hasResponded && body?.isTaking === true)
      body.fail(new Overloaded('too many bytes of requests are held in memory'))
    else this.#socket.destroy()
  }

  /** Starts buffered requests one after the other, as long as each is handled synchronously. */
  #proceed(): void {
    if (this.#isProceeding) return
    this.#isProceeding = true
    try {
      while (this.#isReady && this.#begin());
    } finally {
      this.#isProceeding = false
    }
    if (this.#hasEnded && this.#isReady && !this.#isBehind) this.#end()
  }

  get #isReady(): boolean {
    return this.#request === undefined && this.#state === 'open'
  }

  /** Starts the next request if its head is complete. */
  #begin(): boolean {
    if (this.#isBehind || this.#body?.isComplete === false) return false
    const empty = leadingEmptyLines(this.#buffered)
    if (empty > 0) {
      this.#buffered = this.#buffered.subarray(empty)
      this.#searched = 0
    }
    if (this.#buffered.length === 0) return false
    if (this.#searched === 0) this.#dueSecond = this.#options.second() + headSecondsMax
    const end = findHeadEnd(this.#buffered, this.#searched)
    if (Math.max(end, this.#buffered.length * Number(end < 0)) > headBytesMax)
      throw new RejectedRequest(431, 'too long a head')
    this.#searched = end < 0 ? this.#buffered.length : 0
    if (end < 0) return false
    const head = parseRequestHead(this.#options.textOf(this.#buffered, 0, end - 4))
    // An empty subarray would retain the whole buffer.
    this.#buffered = end === this.#buffered.length ? nothing : this.#buffered.subarray(end)
    this.#dueSecond = Infinity
    this.#body = head.body === 0 ? undefined : new IncomingBody(head.body)
    this.#hasResponded = false
    this.#streamed = undefined
    this.#request = new Http1Request(head, this.#options, {
      body: (bytesMax) => this.#readBody(head, bytesMax),
      bodyPieces: (bytesMax) => this.#streamBody(head, bytesMax),
    })
    this.#respond(this.#request)
    return true
  }

  /** Called after a response: continues with what is buffered. */
  #continue(): void {
    if (this.#state !== 'open') return
    try {
      this.#proceed()
      this.#updateReading()
    } catch (error) {
      this.#reject(error)
    }
  }

  #readBody(head: RequestHead, bytesMax: number): MaybePromise<Uint8Array> {
    const body = this.#body
    if (body === undefined) return nothing
    const whole = body.read(bytesMax, this.#buffered)
    // Most requests arrive with their whole body in one chunk.
    if (!(whole instanceof Promise)) {
      this.#buffered = whole.length === this.#buffered.length ? nothing : this.#buffered.subarray(whole.length)
      this.#updateReading()
      return whole
    }
    try {
      if (body.isTaking) this.#buffered = this.#buffered.subarray(this.#takeBody(body, this.#buffered))
    } catch (error) {
      this.#reject(error)
    }
    if (body.isTaking && this.#state === 'open') {
      this.#dueSecond = this.#options.second() + bodySecondsMax
      if (head.expectsContinue) this.#socket.write(['HTTP/1.1 100 Continue\r\n\r\n'])
    }
    this.#updateReading()
    return whole
  }

  #streamBody(head: RequestHead, bytesMax: number): AsyncIterable<Uint8Array> {
    const body = this.#body
    const pieces = new PieceQueue({ onRoom: () => this.#updateReading() })
    if (body === undefined) {
      pieces.end()
      return pieces
    }
    body.stream(bytesMax, pieces)
    this.#streamed = pieces
    try {
      if (body.isTaking) this.#buffered = this.#buffered.subarray(this.#takeBody(body, this.#buffered))
    } catch (error) {
      this.#reject(error)
    }
    if (body.isTaking && this.#state === 'open' && head.expectsContinue)
      this.#socket.write(['HTTP/1.1 100 Continue\r\n\r\n'])
    this.#updateReading()
    return pieces
  }

  #takeBody(body: IncomingBody, piece: Uint8Array): number {
    const taken = body.take(piece)
    if (!this.#hasResponded) this.#held.body(body.bytes, body.isComplete)
    if (body.isComplete) this.#dueSecond = this.#request === undefined ? this.#idleSecond() : Infinity
    else if (this.#hasEnded) this.#endIncomplete()
    this.#updateReading()
    return taken
  }

  #respond(request: Http1Request): void {
    let response: MaybePromise<WireResponse>
    try {
      response = this.#options.handle(request)
    } catch {
      response = failed
    }
    if (response instanceof Promise)
      response.then(
        (known) => this.#send(request, known),
        () => this.#send(request, failed),
      )
    else this.#send(request, response)
  }

  #send(request: Http1Request, response: WireResponse): void {
    if (this.#state !== 'open') return discardBody(response)
    this.#hasResponded = true
    this.#held.release()
    this.#isAuthenticated ||= request.head.headers['authorization'] !== undefined && response.status !== 401
    // Part of the response may have been sent: only closing the connection shows the client that it is incomplete.
    const cut = () => this.#socket.destroy()
    try {
      const sent = this.#sendWhole(request, response)
      if (sent !== undefined) sent.catch(cut)
    } catch {
      cut()
    }
  }

  /** Returns a promise when the body is streamed. */
  #sendWhole({ head }: Http1Request, response: WireResponse): Promise<void> | undefined {
    const { status, headers, body, onUpgrade, trailers } = response
    if (onUpgrade !== undefined && head.upgrade) {
      this.#state = 'left'
      this.#dueSecond = Infinity
      this.#socket.write([upgradeHead(status, headers)])
      const stream = this.#socket.detach(this.#buffered)
      this.#buffered = nothing
      return onUpgrade(stream)
    }
    const whole = wholeOf(body)
    const isBodiless = hasNoBody(head, status)
    const framing = responseFraming(head, response, { wholeBytes: whole?.length, isLast: this.#isLast(head) })
    const text = responseHead(status, headers, framing, this.#options.date())
    const finish = () => this.#finish(framing.connection === 'close')
    if (whole === undefined && !isBodiless)
      return this.#stream(text, body as StreamBody, { isChunked: framing.length === 'chunked', trailers }).then(finish)
    if (whole === undefined) discardBody(response)
    this.#write(isBodiless || whole === undefined ? [text] : [text, whole])
    finish()
    return undefined
  }

  /** Sends a body as it is produced, in chunks unless the end of the connection delimits it. */
  async #stream(head: string, body: StreamBody, { isChunked, trailers }: StreamFraming): Promise<void> {
    const write = (pieces: readonly Uint8Array[]): boolean => {
      if (!isChunked) return this.#write(pieces)
      const size = pieces.reduce((sum, { length }) => sum + length, 0)
      return size === 0 || this.#write([`${size.toString(16)}\r\n`, ...pieces, '\r\n'])
    }
    this.#isEndless = !('take' in body) || body.isLong !== true
    if (this.#isEndless && this.#hasEnded) {
      discardBody({ body })
      throw clientGone
    }
    this.#write([head])
    if ('take' in body) {
      await new Promise<void>((resolve) => (this.#pieceSender = sendPieces(body, write, this.#options.turns, resolve)))
      this.#pieceSender = undefined
    } else {
      for await (const piece of body) {
        if (this.#state !== 'open') return
        if (!write([typeof piece === 'string' ? utf8.encode(piece) : piece]))
          await new Promise<void>((resolve) => (this.#drained = resolve))
      }
    }
    this.#isEndless = false
    if (isChunked && this.#state === 'open') this.#write([`0\r\n${trailerLines(trailers?.() ?? {})}\r\n`])
  }

  #write(parts: readonly (string | Uint8Array)[]): boolean {
    if (this.#state !== 'open') return false
    this.#isBehind = !this.#socket.write(parts)
    if (this.#isBehind) {
      this.#dueSecond = this.#options.second() + stalledSecondsMax
      this.#held.unsent(this.#socket.unsentBytes)
    }
    return !this.#isBehind
  }

  #isLast({ keepsAlive, upgrade }: RequestHead): boolean {
    if (!keepsAlive || upgrade || this.#isDraining) return true
    const body = this.#body
    return body !== undefined && (body.isTaking || body.left > discardedBytesMax)
  }

  #finish(isLast: boolean): void {
    if (this.#state !== 'open') return
    if (isLast || this.#isDraining) return this.#end()
    this.#request = undefined
    this.#idleSinceSecond = this.#options.second()
    if (!this.#isBehind) this.#dueSecond = this.#idleSecond()
    this.#streamed = undefined
    if (this.#body?.isComplete === false) {
      this.#body.discard()
      const rest = this.#buffered
      this.#buffered = nothing
      this.#updateReading()
      return void this.receive(rest)
    }
    this.#body = undefined
    if (this.#buffered.length > 0 || this.#hasEnded) this.#continue()
    else this.#updateReading()
  }

  #idleSecond(): number {
    return this.#options.second() + idleSecondsMax
  }

  #reject(error: unknown): void {
    if (this.#state !== 'open') return
    const { status, message } =
      error instanceof RejectedRequest ? error : new RejectedRequest(500, 'the request could not be read')
    this.#body?.fail(new DOMException(message, 'AbortError'))
    this.#request?.cancel(new DOMException(message, 'AbortError'))
    this.#socket.write([rejectionText(status, message)])
    this.#end()
  }

  /** Closes the writing side after the last response; received bytes are discarded until the client closes too. */
  #end(): void {
    this.#state = 'ending'
    this.#buffered = nothing
    this.#request = undefined
    this.#dueSecond = this.#options.second() + (this.#isBehind ? stalledSecondsMax : lingerSecondsMax)
    this.#socket.end()
    this.#updateReading()
  }

  /**
   * Pauses or resumes the socket. It is called after every change of what the decision depends on: a socket that stays paused
   * after its request has ended loses the next one.
   */
  #updateReading(): void {
    const isPaused = this.#state === 'open' && this.#hasEnough
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#socket.pause()
    else this.#socket.resume()
  }

  /** Whether what has been received must be used before more is read. */
  get #hasEnough(): boolean {
    if (this.#body?.isTaking === true) return this.#streamed !== undefined && isFull(this.#streamed)
    const isWaiting = this.#request !== undefined || this.#isBehind
    return isWaiting && this.#buffered.length > bufferedBytesMax
  }
}

interface StreamFraming {
  readonly isChunked: boolean
  readonly trailers: WireResponse['trailers']
}

type StreamBody = AsyncIterable<Uint8Array | string> | WirePieces

const nothing = new Uint8Array(0)
const utf8 = new TextEncoder()
const failed: WireResponse = { status: 500, headers: {}, body: '' }

const isFull = ({ waitingBytes }: PieceQueue): boolean => waitingBytes > streamedBytesMax

const wholeOf = (body: WireResponse['body']): Uint8Array | undefined =>
  typeof body === 'string' ? utf8.encode(body) : body instanceof Uint8Array ? body : undefined

// Http1Connection: the server's side of one HTTP/1.1 connection, from bytes to requests and from answers to bytes. It
// knows no sockets: a driver hands it what comes, and writes what it is given.
//
// One request is answered at a time; what a client sends ahead waits, up to a bound, and then the socket is not read.
import { joined } from '../../base/joined.ts'
import type { SharedTurns } from '../../base/shared-turns.ts'
import type { Soon } from '../../base/when-known.ts'
import { abandon } from '../abandon.ts'
import type { ByteStream } from '../byte-stream.ts'
import { HeldBytes } from '../held-bytes.ts'
import type { OnShed } from '../listen-limits.ts'
import { isVouchedFor, Overloaded } from '../listener.ts'
import type { ClientCertificate, WireAnswer, WirePieces, WireRequest } from '../listener.ts'
import type { MemoryBudget } from '../memory-budget.ts'
import { sendPieces, type PieceFlow } from '../send-pieces.ts'
import type { ServedConnection } from '../served-connection.ts'
import {
  bodySecondsMax,
  headSecondsMax,
  idleSecondsMax,
  lingerSecondsMax,
  stalledSecondsMax,
} from '../wire-timeouts.ts'
import { answerHead, refusal, upgradeHead, type AnswerFraming } from './answer-head.ts'
import { Exchange } from './exchange.ts'
import { emptyLines, headEnd } from './head-end.ts'
import { IncomingBody } from './incoming-body.ts'
import { Refused } from './refused.ts'
import { parseRequestHead, type RequestHead } from './request-head.ts'

export const headBytesMax = 64 << 10
/** What may wait while a request is answered. */
const aheadBytesMax = 64 << 10
/** As upstream: so much of a body that nobody read is dropped for the sake of the next request; else the connection ends. */
const droppedBytesMax = 256 << 10

export interface Http1Socket {
  /** Texts have a byte for each character. False when the client is behind: `drained` is called once it is not. */
  write(parts: readonly (string | Uint8Array)[]): boolean
  /** Written, and not known to be taken by the client. */
  readonly unsentBytes: number
  pause(): void
  resume(): void
  /** Nothing more is written; what comes is still read. */
  end(): void
  destroy(): void
  /** Leaves the socket to somebody else, who reads these bytes first. */
  handOver(rest: Uint8Array): ByteStream
}

export interface Http1Options {
  readonly handle: (request: WireRequest) => Soon<WireAnswer>
  readonly remoteAddress: string
  readonly certificate: ClientCertificate | undefined
  /** Under which the client's connections are counted. */
  readonly client: string
  readonly budget: MemoryBudget
  readonly onShed: OnShed
  /** Bytes as text, a character each. */
  readonly textOf: (bytes: Uint8Array, from: number, to: number) => string
  readonly date: () => string
  /** The present second of the driver's own count. */
  readonly second: () => number
  readonly turns: SharedTurns
}

export class Http1Connection implements ServedConnection {
  readonly client: string
  readonly #socket: Http1Socket
  readonly #options: Http1Options
  #ahead: Uint8Array = nothing
  /** How much of what waits was searched for the end of a head. */
  #searched = 0
  #exchange: Exchange | undefined
  /** The body under way, which may outlive its exchange when nobody reads it. */
  #body: IncomingBody | undefined
  #flow: PieceFlow | undefined
  /** The response under way is a watch: it may be ended at any time. */
  #isWatch = false
  #hasAnswered = false
  #isAuthenticated: boolean
  #idleSinceSecond: number
  readonly #held: HeldBytes
  #drained: (() => void) | undefined
  #isPaused = false
  #isBehind = false
  #isDraining = false
  #isProceeding = false
  /** open: requests are answered; ending: the last answer is on its way; left: to another protocol; gone. */
  #state: 'open' | 'ending' | 'left' | 'gone' = 'open'
  #dueSecond: number
  /** When the connection ends whatever is under way. */
  #revokedSecond = Infinity

  constructor(socket: Http1Socket, options: Http1Options) {
    this.#socket = socket
    this.#options = options
    this.client = options.client
    this.#isAuthenticated = isVouchedFor(options.certificate)
    this.#held = new HeldBytes(options.budget, this, () => this.#shed())
    this.#idleSinceSecond = options.second()
    this.#dueSecond = options.second() + headSecondsMax
  }

  /** A request is being answered. */
  get isBusy(): boolean {
    return this.#exchange !== undefined && this.#state === 'open'
  }

  get isAuthenticated(): boolean {
    return this.#isAuthenticated
  }

  get idleSeconds(): number {
    return this.#exchange === undefined && this.#state === 'open' ? this.#options.second() - this.#idleSinceSecond : 0
  }

  receive(piece: Uint8Array): void {
    if (this.#state !== 'open') return
    try {
      const rest = this.#body?.isTaking === true ? piece.subarray(this.#takeBody(this.#body, piece)) : piece
      if (rest.length === 0) return
      this.#ahead = this.#ahead.length === 0 ? rest : joined([this.#ahead, rest])
      this.#proceed()
      if (this.#exchange !== undefined && this.#ahead.length > aheadBytesMax) this.#pause()
    } catch (error) {
      this.#refuse(error)
    }
  }

  /** The client takes bytes again. */
  drained(): void {
    this.#isBehind = false
    this.#held.release()
    if (this.#state === 'ending') this.#dueSecond = this.#options.second() + lingerSecondsMax
    if (this.#state !== 'open') return
    this.#dueSecond = this.#exchange === undefined ? this.#idleSecond() : Infinity
    this.#flow?.drained()
    this.#drained?.()
    if (this.#exchange === undefined) this.#onward()
  }

  /** The socket is closed. */
  closed(): void {
    if (this.#state === 'gone') return
    this.#state = 'gone'
    this.#held.release()
    this.#body?.fail(goneError())
    this.#exchange?.cancel(goneError())
    this.#flow?.closed()
    this.#drained?.()
  }

  /** The answer under way is the last; without one the connection ends now. */
  drain(): void {
    this.#isDraining = true
    if (this.#exchange === undefined && this.#state === 'open') this.#end()
  }

  /** Called each second: what takes too long ends. */
  look(): void {
    const isProcessing = this.#exchange !== undefined && this.#body?.isTaking !== true
    const received = this.#ahead.length + (this.#body?.bytes ?? 0)
    if (this.#state === 'open' || this.#state === 'ending')
      this.#held.look(this.#socket.unsentBytes, received, isProcessing)
    const second = this.#options.second()
    if (second < this.#dueSecond && second < this.#revokedSecond) return
    if (this.#state === 'open' && this.#exchange === undefined && this.#ahead.length > 0)
      return this.#refuse(new Refused(408, 'the head of the request did not come in time'))
    if (this.#state === 'open' && this.#exchange === undefined && !this.#isBehind) return this.#end()
    if (this.#state === 'open' && second >= this.#dueSecond) this.#options.onShed('stalled', 1, this.#held.bytes)
    this.#socket.destroy()
  }

  /** The client's certificate has expired: a watch ends now, whatever else is under way a little later. */
  revoke(): void {
    if (this.#revokedSecond < Infinity) return
    this.#revokedSecond = this.#options.second() + lingerSecondsMax
    this.#isAuthenticated = false
    this.drain()
    if (this.#isWatch) this.#flow?.closed()
  }

  /** Memory is short: a body that is being received is refused, anything else ends with the connection. */
  #shed(): void {
    const body = this.#body
    if (this.#state === 'open' && this.#exchange !== undefined && !this.#hasAnswered && body?.isTaking === true)
      body.fail(new Overloaded('too many bytes of requests are held in memory'))
    else this.#socket.destroy()
  }

  /** Begins requests, one after the other, as long as each is answered at once. */
  #proceed(): void {
    if (this.#isProceeding) return
    this.#isProceeding = true
    try {
      while (this.#exchange === undefined && this.#state === 'open' && this.#begin());
    } finally {
      this.#isProceeding = false
    }
  }

  /** Begins the next request when its head is there. */
  #begin(): boolean {
    if (this.#isBehind || this.#body?.isComplete === false) return false
    const empty = emptyLines(this.#ahead)
    if (empty > 0) {
      this.#ahead = this.#ahead.subarray(empty)
      this.#searched = 0
    }
    if (this.#ahead.length === 0) return false
    if (this.#searched === 0) this.#dueSecond = this.#options.second() + headSecondsMax
    const end = headEnd(this.#ahead, this.#searched)
    if (Math.max(end, this.#ahead.length * Number(end < 0)) > headBytesMax) throw new Refused(431, 'too long a head')
    this.#searched = end < 0 ? this.#ahead.length : 0
    if (end < 0) return false
    const head = parseRequestHead(this.#options.textOf(this.#ahead, 0, end - 4))
    // An empty rest would keep what it was cut from.
    this.#ahead = end === this.#ahead.length ? nothing : this.#ahead.subarray(end)
    this.#dueSecond = Infinity
    this.#body = head.body === 0 ? undefined : new IncomingBody(head.body)
    this.#hasAnswered = false
    this.#exchange = new Exchange(head, this.#options, (bytesMax) => this.#readBody(head, bytesMax))
    this.#answer(this.#exchange)
    return true
  }

  /** Behind an answer: goes on with what waits. */
  #onward(): void {
    if (this.#state !== 'open') return
    try {
      this.#proceed()
      if (this.#isPaused && this.#ahead.length <= aheadBytesMax) this.#resume()
    } catch (error) {
      this.#refuse(error)
    }
  }

  #readBody(head: RequestHead, bytesMax: number): Soon<Uint8Array> {
    const body = this.#body
    if (body === undefined) return nothing
    const whole = body.read(bytesMax, this.#ahead)
    // Most requests come in one piece.
    if (!(whole instanceof Promise)) {
      this.#ahead = whole.length === this.#ahead.length ? nothing : this.#ahead.subarray(whole.length)
      return whole
    }
    try {
      if (body.isTaking) this.#ahead = this.#ahead.subarray(this.#takeBody(body, this.#ahead))
    } catch (error) {
      this.#refuse(error)
    }
    if (body.isTaking && this.#state === 'open') {
      this.#dueSecond = this.#options.second() + bodySecondsMax
      if (head.expectsContinue) this.#socket.write(['HTTP/1.1 100 Continue\r\n\r\n'])
      this.#resume()
    }
    return whole
  }

  #takeBody(body: IncomingBody, piece: Uint8Array): number {
    const taken = body.take(piece)
    if (!this.#hasAnswered) this.#held.body(body.bytes, body.isComplete)
    if (body.isComplete) this.#dueSecond = this.#exchange === undefined ? this.#idleSecond() : Infinity
    return taken
  }

  #answer(exchange: Exchange): void {
    let answer: Soon<WireAnswer>
    try {
      answer = this.#options.handle(exchange)
    } catch {
      answer = failed
    }
    if (answer instanceof Promise)
      answer.then(
        (known) => this.#send(exchange, known),
        () => this.#send(exchange, failed),
      )
    else this.#send(exchange, answer)
  }

  #send(exchange: Exchange, answer: WireAnswer): void {
    if (this.#state !== 'open') return abandon(answer)
    this.#hasAnswered = true
    this.#held.release()
    this.#isAuthenticated ||= exchange.head.headers['authorization'] !== undefined && answer.status !== 401
    // It has begun, so that nothing but its sudden end can tell that it is not whole.
    const cut = () => this.#socket.destroy()
    try {
      const sent = this.#sendWhole(exchange, answer)
      if (sent !== undefined) sent.catch(cut)
    } catch {
      cut()
    }
  }

  /** A promise where there is more to come than is there. */
  #sendWhole({ head }: Exchange, answer: WireAnswer): Promise<void> | undefined {
    const { status, headers, body, takeOver } = answer
    if (takeOver !== undefined && head.upgrade) {
      this.#state = 'left'
      this.#dueSecond = Infinity
      this.#socket.write([upgradeHead(status, headers)])
      const stream = this.#socket.handOver(this.#ahead)
      this.#ahead = nothing
      return takeOver(stream)
    }
    const isLast = this.#isLast(head)
    const isBodiless = head.method === 'HEAD' || status === 204 || status === 304
    const whole = wholeOf(body)
    const length = whole?.length ?? (isBodiless ? 'none' : head.isHttp10 ? 'until the end' : 'chunked')
    const framing: AnswerFraming = {
      length: status === 204 || status === 304 ? 'none' : length,
      connection: isLast || length === 'until the end' ? 'close' : head.isHttp10 ? 'keep-alive' : undefined,
      date: this.#options.date(),
    }
    const text = answerHead(status, headers, framing)
    const finish = () => this.#finish(isLast || length === 'until the end')
    if (whole === undefined && !isBodiless)
      return this.#stream(text, body as StreamBody, length === 'chunked').then(finish)
    if (whole === undefined) abandon(answer)
    this.#write(isBodiless || whole === undefined ? [text] : [text, whole])
    finish()
    return undefined
  }

  /** Pieces as they come, each with its size where that is how they are told apart. */
  async #stream(head: string, body: StreamBody, isChunked: boolean): Promise<void> {
    const write = (pieces: readonly Uint8Array[]): boolean => {
      if (!isChunked) return this.#write(pieces)
      const size = pieces.reduce((sum, { length }) => sum + length, 0)
      return size === 0 || this.#write([`${size.toString(16)}\r\n`, ...pieces, '\r\n'])
    }
    this.#write([head])
    if ('take' in body) {
      this.#isWatch = body.isLong !== true
      await new Promise<void>((resolve) => (this.#flow = sendPieces(body, write, this.#options.turns, resolve)))
      this.#flow = undefined
      this.#isWatch = false
    } else {
      for await (const piece of body) {
        if (this.#state !== 'open') return
        if (!write([typeof piece === 'string' ? utf8.encode(piece) : piece]))
          await new Promise<void>((resolve) => (this.#drained = resolve))
      }
    }
    if (isChunked && this.#state === 'open') this.#write(['0\r\n\r\n'])
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
    return body !== undefined && (body.isTaking || body.left > droppedBytesMax)
  }

  #finish(isLast: boolean): void {
    if (this.#state !== 'open') return
    if (isLast || this.#isDraining) return this.#end()
    this.#exchange = undefined
    this.#idleSinceSecond = this.#options.second()
    if (!this.#isBehind) this.#dueSecond = this.#idleSecond()
    if (this.#body?.isComplete === false) {
      this.#body.drop()
      const rest = this.#ahead
      this.#ahead = nothing
      this.#resume()
      return this.receive(rest)
    }
    this.#body = undefined
    if (this.#ahead.length > 0) this.#onward()
  }

  #idleSecond(): number {
    return this.#options.second() + idleSecondsMax
  }

  #refuse(error: unknown): void {
    if (this.#state !== 'open') return
    const { status, message } = error instanceof Refused ? error : new Refused(500, 'the request could not be read')
    this.#body?.fail(new DOMException(message, 'AbortError'))
    this.#exchange?.cancel(new DOMException(message, 'AbortError'))
    this.#socket.write([refusal(status, message)])
    this.#end()
  }

  /** The client has its last answer: what it sends is dropped, until it closes too. */
  #end(): void {
    this.#state = 'ending'
    this.#ahead = nothing
    this.#exchange = undefined
    this.#dueSecond = this.#options.second() + (this.#isBehind ? stalledSecondsMax : lingerSecondsMax)
    this.#socket.end()
    this.#resume()
  }

  #pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }
}

type StreamBody = AsyncIterable<Uint8Array | string> | WirePieces

const nothing = new Uint8Array(0)
const utf8 = new TextEncoder()
const failed: WireAnswer = { status: 500, headers: {}, body: '' }
const goneError = () => new DOMException('the client went away', 'AbortError')

const wholeOf = (body: WireAnswer['body']): Uint8Array | undefined =>
  typeof body === 'string' ? utf8.encode(body) : body instanceof Uint8Array ? body : undefined

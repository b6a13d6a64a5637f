// The server's side of HTTP/2 on a socket of Node.js.
import { once } from 'node:events'
import { constants, performServerHandshake, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { SharedTurns } from '../../base/shared-turns.ts'
import { valuesOf, type Peer } from '../http1/exchange.ts'
import { BodyTooLarge, type ListenOptions, type WireAnswer, type WirePieces, type WireRequest } from '../listener.ts'
import { sendPieces } from '../send-pieces.ts'

/** As upstream. */
const streamsMax = 100
const idleSecondsMax = 90

const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, HTTP2_HEADER_STATUS } = constants
/** Headers of a connection of HTTP/1.1. */
const forbidden = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** What the listener asks of a connection, whatever it speaks. */
export interface ServedConnection {
  readonly isBusy: boolean
  drain(): void
  /** Called each second. */
  look(): void
}

export interface Http2ServerOptions {
  readonly handle: ListenOptions['handle']
  /** The present second of the listener's own count. */
  readonly second: () => number
  readonly turns: SharedTurns
}

export function serveHttp2(
  socket: Duplex,
  peer: Peer,
  { handle, second, turns }: Http2ServerOptions,
): ServedConnection {
  const session = performServerHandshake(socket, { settings: { maxConcurrentStreams: streamsMax } })
  let [streams, idleSince] = [0, second()]
  session.on('error', () => {}) // a broken peer ends its own session, nobody else's
  session.on('stream', (stream, headers, _flags, raw) => {
    streams++
    stream.once('close', () => {
      streams--
      idleSince = second()
    })
    void answer(stream, new StreamRequest(stream, headers, raw, peer), handle, turns)
  })
  return {
    get isBusy() {
      return streams > 0
    },
    drain: () => session.close(),
    look: () => void (streams === 0 && second() - idleSince >= idleSecondsMax && session.close()),
  }
}

class StreamRequest implements WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: WireRequest['headers']
  readonly headerValues: WireRequest['headerValues']
  readonly remoteAddress: string
  readonly certificate: WireRequest['certificate']
  readonly upgrade = false
  readonly #stream: ServerHttp2Stream
  readonly #gone = new AbortController()

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[], peer: Peer) {
    this.#stream = stream
    this.method = String(headers[HTTP2_HEADER_METHOD])
    this.target = String(headers[HTTP2_HEADER_PATH])
    this.headers = headers as Record<string, string | undefined>
    this.headerValues = (name) => valuesOf(raw, name)
    this.remoteAddress = peer.remoteAddress
    this.certificate = peer.certificate
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  cancel(reason: Error): void {
    this.#gone.abort(reason)
  }

  body(bytesMax: number): Promise<Uint8Array> {
    return readBody(this.#stream, bytesMax)
  }
}

async function answer(
  stream: ServerHttp2Stream,
  request: StreamRequest,
  handle: ListenOptions['handle'],
  turns: SharedTurns,
): Promise<void> {
  let isComplete = false
  stream.on('error', () => {}) // `close` follows
  stream.once('close', () => {
    if (!isComplete) request.cancel(new DOMException('the client went away', 'AbortError'))
  })
  try {
    const { status, headers, body } = await handle(request)
    if (stream.destroyed) return
    const isBodiless = request.method === 'HEAD' || status === 204 || status === 304
    if (typeof body === 'string' || body instanceof Uint8Array) {
      isComplete = true
      const length = status === 204 || status === 304 ? undefined : Buffer.byteLength(body)
      stream.respond(headersOf(status, headers, length), { endStream: isBodiless })
      if (!isBodiless) stream.end(body)
      return
    }
    stream.respond(headersOf(status, headers), { endStream: isBodiless })
    if (isBodiless) return 'take' in body ? body.close() : void body[Symbol.asyncIterator]().return?.()
    await ('take' in body ? writePieces(stream, body, turns) : writeStream(stream, body, request.signal))
    isComplete = true
    stream.end()
  } catch {
    if (!stream.headersSent && !stream.destroyed) stream.respond({ [HTTP2_HEADER_STATUS]: 500 }, { endStream: true })
    else stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
}

function headersOf(status: number, headers: WireAnswer['headers'], length?: number) {
  const written: Record<string, string | number | string[]> = { [HTTP2_HEADER_STATUS]: status }
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !forbidden.has(name)) written[name] = typeof value === 'string' ? value : [...value]
  }
  if (length !== undefined) written['content-length'] = length
  return written
}

function writePieces(stream: ServerHttp2Stream, pieces: WirePieces, turns: SharedTurns): Promise<void> {
  return new Promise((resolve) => {
    const write = (batch: readonly Uint8Array[]): boolean => {
      const [only] = batch
      return stream.write(batch.length === 1 ? only : Buffer.concat(batch))
    }
    const flow = sendPieces(pieces, write, turns, resolve)
    stream.on('drain', () => flow.drained())
    stream.once('close', () => flow.closed())
  })
}

async function writeStream(
  stream: ServerHttp2Stream,
  body: AsyncIterable<Uint8Array | string>,
  gone: AbortSignal,
): Promise<void> {
  for await (const piece of body) {
    if (gone.aborted) return
    if (!stream.write(piece)) await once(stream, 'drain', { signal: gone })
  }
}

function readBody(stream: ServerHttp2Stream, bytesMax: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let size = 0
    stream.on('data', (piece: Buffer) => {
      size += piece.length
      if (size <= bytesMax) pieces.push(piece)
      else reject(new BodyTooLarge(`the body is larger than ${bytesMax} bytes`))
    })
    stream.on('end', () => resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)))
    stream.on('error', reject)
    stream.on('close', () => reject(new DOMException('the client went away', 'AbortError')))
  })
}

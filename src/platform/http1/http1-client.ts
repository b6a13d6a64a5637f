// The client side of HTTP/1.1 on a byte stream: one request, one response, whose body is read as it arrives. The
// connection is not used for a second request.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import type { ByteStream } from '../http/byte-stream.ts'
import type { OutboundRequest, OutboundResponse } from '../http/outbound.ts'
import { ChunkedDecoder } from './chunked-decoder.ts'
import { findHeadEnd } from './head-end.ts'
import { latin1Bytes, latin1Text } from './latin1.ts'
import { RejectedRequest } from './rejected-request.ts'
import { parseHeaders } from './request-head.ts'

export interface Http1ClientRequest extends Omit<OutboundRequest, 'body'> {
  /** A stream is sent in chunks, as it is produced. */
  readonly body?: Uint8Array | string | AsyncIterable<Uint8Array>
}

const headBytesMax = 64 << 10
const utf8 = new TextEncoder()

/**
 * Resolves with the head of the response; the body may be iterated once. The stream is destroyed at the end of the body,
 * when its iteration is left, or by the signal.
 */
export async function http1Exchange(
  stream: ByteStream,
  request: Http1ClientRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const abort = () => stream.destroy()
  signal.addEventListener('abort', abort, { once: true })
  const close = () => {
    signal.removeEventListener('abort', abort)
    stream.destroy()
  }
  let bodyFailure: { readonly error: unknown } | undefined
  const failBody = (error: unknown) => {
    bodyFailure = { error }
    stream.destroy()
  }
  try {
    signal.throwIfAborted()
    const head = requestHead(request)
    // Errors of writes are ignored: a server may respond and close the connection before it has read the body.
    sendRequest(stream, head, request.body, failBody).catch(() => {})
    const reader = new ResponseReader(stream)
    const { status, headers } = await reader.head()
    const body = reader.body(framingOf(request.method, status, headers))
    return { status, headers, body: closing(body, close, signal) }
  } catch (error) {
    close()
    signal.throwIfAborted()
    if (bodyFailure !== undefined) throw bodyFailure.error
    throw error instanceof RejectedRequest ? new Error(`malformed HTTP response: ${error.message}`) : error
  }
}

function requestHead({ method, target, headers, body }: Http1ClientRequest): Uint8Array {
  const framing =
    body === undefined
      ? []
      : typeof body === 'string' || body instanceof Uint8Array
        ? [`content-length: ${typeof body === 'string' ? utf8.encode(body).length : body.length}`]
        : ['transfer-encoding: chunked']
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => headerLine(name, value))),
    ...framing,
    'connection: close',
  ]
  return latin1Bytes(`${lines.join('\r\n')}\r\n\r\n`)
}

async function sendRequest(
  stream: ByteStream,
  head: Uint8Array,
  body: Http1ClientRequest['body'],
  failBody: (error: unknown) => void,
): Promise<void> {
  if (body === undefined) return stream.write(head)
  if (typeof body === 'string' || body instanceof Uint8Array)
    return stream.write(concatBytes([head, typeof body === 'string' ? utf8.encode(body) : body]))
  await stream.write(head)
  for await (const piece of reporting(body, failBody))
    if (piece.length > 0)
      await stream.write(concatBytes([latin1Bytes(`${piece.length.toString(16)}\r\n`), piece, latin1Bytes('\r\n')]))
  await stream.write(latin1Bytes('0\r\n\r\n'))
}

/** Calls back when the producer of the body fails, but not when a write does. */
async function* reporting(
  body: AsyncIterable<Uint8Array>,
  failBody: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void> {
  const pieces = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await pieces.next().catch((error: unknown) => {
        failBody(error)
        throw error
      })
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await pieces.return?.()
  }
}

/** Characters that would end the line or are not a byte. */
const strange = /[^\t\x20-\x7e\x80-\xff]/

function headerLine(name: string, value: string): string {
  if (strange.test(name) || strange.test(value) || name.includes(':'))
    throw new TypeError(`header ${JSON.stringify(name)} has an invalid name or value`)
  return `${name}: ${value}`
}

type Framing = number | 'chunked' | 'until the end'

function framingOf(method: string, status: number, headers: Readonly<Record<string, string>>): Framing {
  if (method === 'HEAD' || status === 204 || status === 304) return 0
  const { 'transfer-encoding': encoding, 'content-length': length } = headers
  if (encoding !== undefined) return 'chunked'
  if (length === undefined) return 'until the end'
  if (!/^\d{1,15}$/.test(length)) throw new RejectedRequest(400, 'bad Content-Length')
  return Number(length)
}

class ResponseReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #buffered: Uint8Array = new Uint8Array(0)

  constructor(stream: ByteStream) {
    this.#pieces = stream.pieces[Symbol.asyncIterator]()
  }

  /** The head of the final response; interim responses (1xx) are skipped. */
  async head(): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>> }> {
    for (;;) {
      const text = await this.#headText()
      const lineEnd = text.indexOf('\r\n')
      const first = lineEnd < 0 ? text : text.slice(0, lineEnd)
      const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1] ?? 0)
      if (status === 0) throw new RejectedRequest(400, JSON.stringify(first.slice(0, 100)))
      const { headers } = parseHeaders(text, lineEnd < 0 ? text.length : lineEnd + 2)
      if (status >= 200) return { status, headers: headers as Readonly<Record<string, string>> }
    }
  }

  async #headText(): Promise<string> {
    let searched = 0
    for (;;) {
      const end = findHeadEnd(this.#buffered, searched)
      if (end >= 0) {
        const text = latin1Text(this.#buffered, 0, end - 4)
        this.#buffered = this.#buffered.subarray(end)
        return text
      }
      if (this.#buffered.length > headBytesMax) throw new RejectedRequest(400, 'too long a head')
      searched = this.#buffered.length
      const next = await this.#pieces.next()
      if (next.done === true) throw new Error(searched === 0 ? 'EOF' : 'unexpected EOF')
      this.#buffered = concatBytes([this.#buffered, next.value])
    }
  }

  async *body(framing: Framing): AsyncGenerator<Uint8Array, void> {
    const chunked = framing === 'chunked' ? new ChunkedDecoder() : undefined
    let left = typeof framing === 'number' ? framing : Infinity
    let piece = this.#buffered
    for (;;) {
      if (chunked === undefined) {
        const taken = piece.subarray(0, left)
        left -= taken.length
        if (taken.length > 0) yield taken
      } else {
        const data: Uint8Array[] = []
        chunked.take(piece, 0, (each) => data.push(each))
        yield* data
      }
      if (left === 0 || chunked?.isDone === true) return
      const next = await this.#pieces.next()
      if (next.done === true && framing === 'until the end') return
      if (next.done === true) throw new Error('unexpected EOF')
      piece = next.value
    }
  }
}

async function* closing(
  body: AsyncGenerator<Uint8Array, void>,
  close: () => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    close()
  }
}

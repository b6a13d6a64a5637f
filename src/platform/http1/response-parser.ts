// ResponseParser: the responses of a server on one HTTP/1.1 connection, from its bytes as they arrive (RFC 9112). What two
// clients could interpret differently is an error.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { ChunkedDecoder } from './chunked-decoder.ts'
import { findHeadEnd } from './head-end.ts'
import { parseHeaderLines } from './request-head.ts'

export interface ResponseHead {
  readonly status: number
  /** Names in lower case and values, alternating, in the order in which they were sent. */
  readonly lines: readonly string[]
  readonly body: ResponseBodyFraming
  /** The connection may be used for another request after the body. */
  readonly keepsAlive: boolean
  /** How long the server keeps an idle connection, if it says so. */
  readonly keepAliveSeconds: number | undefined
}

/** The length of the body in bytes; chunked; or until the server closes the connection. */
export type ResponseBodyFraming = number | 'chunked' | 'until the end'

export interface ResponseEvents {
  head(head: ResponseHead): void
  /** The bytes are only valid during the call. */
  data(piece: Uint8Array): void
  /** `trailers`: names and values, alternating. */
  end(trailers: readonly string[]): void
}

export const responseHeadBytesMax = 64 << 10

export class ResponseParser {
  readonly #events: ResponseEvents
  readonly #textOf: (bytes: Uint8Array, from: number, to: number) => string
  #state: 'idle' | 'head' | 'body' = 'idle'
  #method = ''
  /** The part of a head that has arrived. */
  #buffered: Uint8Array | undefined
  /** The bytes of the body that have not arrived. */
  #left = 0
  #chunked: ChunkedDecoder | undefined

  /** `textOf` decodes bytes as latin1. */
  constructor(events: ResponseEvents, textOf: (bytes: Uint8Array, from: number, to: number) => string) {
    this.#events = events
    this.#textOf = textOf
  }

  /** The next bytes are the response to a request with this method. */
  begin(method: string): void {
    this.#method = method
    this.#state = 'head'
  }

  /** Throws if the bytes are no response, or if no response is expected. */
  take(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#state === 'idle') throw new Error('the server sent bytes that belong to no response')
      at = this.#state === 'head' ? this.#takeHead(bytes, at) : this.#takeBody(bytes, at)
    }
  }

  /** The server has closed the connection. Returns whether that was the end of the body. */
  close(): boolean {
    if (this.#state !== 'body' || this.#left !== Infinity || this.#chunked !== undefined) return false
    this.#finish(noTrailers)
    return true
  }

  #takeHead(bytes: Uint8Array, from: number): number {
    const received = this.#buffered?.length ?? 0
    const head = this.#buffered === undefined ? bytes.subarray(from) : concatBytes([this.#buffered, bytes])
    const end = findHeadEnd(head, received)
    if (Math.max(end, end < 0 ? head.length : 0) > responseHeadBytesMax) throw new Error('the head is too long')
    if (end < 0) {
      this.#buffered = head.slice()
      return bytes.length
    }
    this.#buffered = undefined
    this.#begin(parseResponseHead(this.#textOf(head, 0, end - 4), this.#method))
    return from + end - received
  }

  #begin(head: ResponseHead): void {
    // Interim responses, such as 100 and 103, come before the response.
    if (head.status < 200) return
    const { body } = head
    this.#state = 'body'
    this.#chunked = body === 'chunked' ? new ChunkedDecoder() : undefined
    this.#left = typeof body === 'number' ? body : Infinity
    this.#events.head(head)
    if (body === 0) this.#finish(noTrailers)
  }

  #takeBody(bytes: Uint8Array, from: number): number {
    const chunked = this.#chunked
    if (chunked !== undefined) {
      const end = chunked.take(bytes, from, (piece) => this.#events.data(piece))
      if (chunked.isDone) this.#finish(parseHeaderLines(chunked.trailers, 0))
      return end
    }
    const piece = bytes.subarray(from, from + this.#left)
    this.#left -= piece.length
    this.#events.data(piece)
    if (this.#left === 0) this.#finish(noTrailers)
    return from + piece.length
  }

  #finish(trailers: readonly string[]): void {
    this.#state = 'idle'
    this.#events.end(trailers)
  }
}

const noTrailers: readonly string[] = []

/** `text` has a character for each byte, has passed `findHeadEnd`, and does not include the empty line. */
export function parseResponseHead(text: string, method: string): ResponseHead {
  const found = text.indexOf('\r\n')
  const lineEnd = found < 0 ? text.length : found
  const line = statusLine.exec(lineEnd === text.length ? text : text.slice(0, lineEnd))
  if (line === null) throw new Error('the status line is malformed')
  const status = Number(line[2])
  if (status === 101) throw new Error('the server changed the protocol without being asked to')
  const lines = parseHeaderLines(text, lineEnd + 2)
  let keepsAlive = line[1] === '1'
  let [keepAliveSeconds, length, encoding]: [number?, string?, string?] = []
  for (let index = 0; index < lines.length; index += 2) {
    const value = lines[index + 1] ?? ''
    switch (lines[index] ?? '') {
      case 'connection':
        if (hasClose.test(value)) keepsAlive = false
        else if (hasKeepAlive.test(value)) keepsAlive = true
        break
      case 'keep-alive':
        keepAliveSeconds = Number(keepAliveTimeout.exec(value)?.[1] ?? NaN)
        break
      case 'content-length':
        if (length !== undefined) throw new Error('the header content-length is repeated')
        length = value
        break
      case 'transfer-encoding':
        if (encoding !== undefined) throw new Error('the header transfer-encoding is repeated')
        encoding = value
        break
      default:
        break
    }
  }
  const body = method === 'HEAD' || status < 200 || status === 204 || status === 304 ? 0 : framingOf(length, encoding)
  return {
    status,
    lines,
    body,
    keepsAlive: keepsAlive && body !== 'until the end',
    keepAliveSeconds: Number.isNaN(keepAliveSeconds) ? undefined : keepAliveSeconds,
  }
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/
const hasClose = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
const hasKeepAlive = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i
const keepAliveTimeout = /(?:^|[ \t,])timeout=(\d{1,9})/i
const decimal = /^\d{1,15}$/

function framingOf(length: string | undefined, encoding: string | undefined): ResponseBodyFraming {
  if (encoding !== undefined && length !== undefined)
    throw new Error('the response has both a transfer-encoding and a content-length')
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    throw new Error('the transfer-encoding is not supported')
  if (encoding !== undefined) return 'chunked'
  if (length === undefined) return 'until the end'
  if (!decimal.test(length)) throw new Error('the content-length is malformed')
  return Number(length)
}

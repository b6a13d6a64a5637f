// ChunkedDecoder: decodes a body with chunked transfer encoding as it arrives (RFC 9112, 7.1). Extensions are validated and
// discarded.
import { RejectedRequest } from './rejected-request.ts'

const lineBytesMax = 4_096
const trailersBytesMax = 16_384
/** How many bytes chunk sizes and extensions may take in addition to twice the data, in all and for each chunk. */
const framingBytesFree = 16_384
const framingBytesPerChunk = 16

const lineFeed = 10
const carriageReturn = 13

export class ChunkedDecoder {
  #state: 'size' | 'data' | 'data end' | 'trailers' | 'done' = 'size'
  /** The bytes of the current chunk that have not arrived. */
  #left = 0
  #line = ''
  #chunks = 0
  #dataBytes = 0
  #framingBytes = 0
  #trailersBytes = 0
  #trailers = ''

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** The lines of the trailers, without an end of line behind the last. */
  get trailers(): string {
    return this.#trailers
  }

  /** Decodes bytes from an index on and passes the data to the callback; returns the index after the end of the body. */
  take(bytes: Uint8Array, from: number, data: (piece: Uint8Array) => void): number {
    let at = from
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'data') {
        const piece = bytes.subarray(at, at + this.#left)
        at += piece.length
        this.#left -= piece.length
        this.#dataBytes += piece.length
        if (this.#left === 0) this.#state = 'data end'
        data(piece)
      } else at = this.#takeLine(bytes, at)
    }
    return at
  }

  #takeLine(bytes: Uint8Array, from: number): number {
    const found = bytes.indexOf(lineFeed, from)
    const end = found < 0 ? bytes.length : found + 1
    if (this.#line.length + end - from > lineBytesMax) throw new RejectedRequest(400, 'a chunk with too long a line')
    this.#framingBytes += end - from
    if (this.#framingBytes > framingBytesFree + framingBytesPerChunk * this.#chunks + 2 * this.#dataBytes)
      throw new RejectedRequest(400, 'more framing than body')
    for (let at = from; at < end; at++) this.#line += String.fromCharCode(bytes[at] ?? 0)
    if (found < 0) return end
    const line = this.#line.slice(0, -2)
    if (this.#line.charCodeAt(this.#line.length - 2) !== carriageReturn || notAllowed.test(line))
      throw new RejectedRequest(400, 'malformed chunked encoding')
    this.#line = ''
    this.#read(line)
    return end
  }

  #read(line: string): void {
    switch (this.#state) {
      case 'size': {
        const size = sizeLine.exec(line)?.[1]
        if (size === undefined) throw new RejectedRequest(400, 'malformed chunked encoding')
        this.#left = Number.parseInt(size, 16)
        this.#chunks++
        this.#state = this.#left === 0 ? 'trailers' : 'data'
        return
      }
      case 'data end':
        if (line !== '') throw new RejectedRequest(400, 'malformed chunked encoding')
        this.#state = 'size'
        return
      case 'trailers':
        if (line === '') this.#state = 'done'
        else if (!trailer.test(line) || framingTrailer.test(line)) throw new RejectedRequest(400, 'malformed trailer')
        this.#trailersBytes += line.length
        if (line !== '') this.#trailers += this.#trailers === '' ? line : `\r\n${line}`
        if (this.#trailersBytes > trailersBytesMax) throw new RejectedRequest(431, 'too many trailers')
        return
      case 'data':
      case 'done':
        return
      default:
        return this.#state satisfies never
    }
  }
}

const notAllowed = /[^\t\x20-\x7e\x80-\xff]/
const token = "[!#$%&'*+\\-.^_`|~\\dA-Za-z]+"
const quotedString = '"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"'
/** The size and the extensions. White space is not allowed anywhere, although RFC 9112 tolerates some. */
const sizeLine = new RegExp(`^([\\da-f]{1,12})(?:;${token}(?:=(?:${token}|${quotedString}))?)*$`, 'i')
const trailer = new RegExp(`^${token}:`)
/** Trailers must not change the framing of the request (RFC 9110, 6.5.1). */
const framingTrailer = /^(?:content-length|transfer-encoding):/i

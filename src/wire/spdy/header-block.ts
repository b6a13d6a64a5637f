// The header blocks of SPDY/3: names and values, compressed by zlib. All blocks of one direction of a session are one
// zlib stream, which the sender flushes after each block. We write stored (uncompressed) blocks: headers are short here.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { setOwn } from '../../base/collections/lookup.ts'
import { InflateError, type InflateRaw } from '../../platform/inflate.ts'
import { spdyDictionary, spdyDictionaryId } from './spdy-dictionary.ts'
import { SpdyError } from './spdy-frame.ts'

export type SpdyHeaders = Readonly<Record<string, string>>

/** Of one block after decompression. */
const blockBytesMax = 64 * 1024
/** How far back DEFLATE matches reach. */
const windowBytes = 32 * 1024
const zlibHeaderBytes = 2
const dictionaryIdBytes = 4
const deflateMethod = 8
const hasDictionaryFlag = 0x20

export class HeaderReader {
  readonly #inflateRaw: InflateRaw
  /** The last output. A flushed block starts at a byte boundary, so this is all the state that the stream carries over. */
  #window: Uint8Array = spdyDictionary
  #isStarted = false

  constructor(inflateRaw: InflateRaw) {
    this.#inflateRaw = inflateRaw
  }

  /** Throws SpdyError; the blocks after that cannot be read. */
  read(block: Uint8Array): SpdyHeaders {
    const bytes = this.#inflate(this.#isStarted ? block : this.#start(block))
    this.#window = concatBytes([this.#window, bytes]).subarray(-windowBytes)
    return parseHeaders(bytes)
  }

  /** Checks the header of the zlib stream; returns what follows. */
  #start(block: Uint8Array): Uint8Array {
    this.#isStarted = true
    const [method = 0, flags = 0] = block
    if ((method & 0x0f) !== deflateMethod || (method * 256 + flags) % 31 !== 0) throw new SpdyError('not a zlib stream')
    if ((flags & hasDictionaryFlag) === 0) {
      this.#window = new Uint8Array()
      return block.subarray(zlibHeaderBytes)
    }
    const id = block.subarray(zlibHeaderBytes, zlibHeaderBytes + dictionaryIdBytes)
    if (id.toHex() !== spdyDictionaryId.toHex()) throw new SpdyError('headers are compressed with another dictionary')
    return block.subarray(zlibHeaderBytes + dictionaryIdBytes)
  }

  #inflate(data: Uint8Array): Uint8Array {
    try {
      return this.#inflateRaw(data, { dictionary: this.#window, outputBytesMax: blockBytesMax })
    } catch (error) {
      if (!(error instanceof InflateError)) throw error
      throw new SpdyError(`a header block cannot be decompressed: ${error.message}`, { cause: error })
    }
  }
}

function parseHeaders(bytes: Uint8Array): SpdyHeaders {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const number = (): number => {
    if (at + 4 > bytes.length) throw new SpdyError('a header block is truncated')
    at += 4
    return view.getUint32(at - 4)
  }
  const text = (): string => {
    const length = number()
    if (at + length > bytes.length) throw new SpdyError('a header block is truncated')
    at += length
    return new TextDecoder().decode(bytes.subarray(at - length, at))
  }
  const headers: Record<string, string> = {}
  for (let left = number(); left > 0; left--) {
    const name = text()
    setOwn(headers, name.toLowerCase(), text())
  }
  return headers
}

/** The zlib header: DEFLATE with a window of 32 KiB, and the id of the dictionary. */
const preamble = [0x78, 0x20, ...spdyDictionaryId]
/** An empty stored block: the flush after each header block. */
const flush = [0, 0, 0, 0xff, 0xff]

export class HeaderWriter {
  #isStarted = false

  write(headers: SpdyHeaders): Uint8Array {
    const entries = Object.entries(headers)
    const block = [...bigEndian32(entries.length)]
    for (const field of entries.flat()) {
      const bytes = new TextEncoder().encode(field)
      block.push(...bigEndian32(bytes.length), ...bytes)
    }
    const size = [block.length & 0xff, block.length >> 8]
    const stored = [0, ...size, ...size.map((byte) => ~byte & 0xff), ...block, ...flush]
    const isStarted = this.#isStarted
    this.#isStarted = true
    return Uint8Array.from(isStarted ? stored : [...preamble, ...stored])
  }
}

function bigEndian32(value: number): readonly [number, number, number, number] {
  return [(value >>> 24) & 0xff, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff]
}

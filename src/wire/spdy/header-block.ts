// Names and values as SPDY/3 sends them: compressed by zlib, one stream of it in each direction for the whole session. We
// write blocks that are only stored: headers are few here.
import { setOwn } from '../../base/collections/lookup.ts'
import { adler32, spdyDictionary } from './spdy-dictionary.ts'
import { SpdyError } from './spdy-frame.ts'
import { Inflate } from './inflate.ts'

export type SpdyHeaders = Readonly<Record<string, string>>

const headerBytesMax = 64 * 1024

export class HeaderReader {
  readonly #inflate = new Inflate(spdyDictionary, headerBytesMax)

  read(block: Uint8Array): SpdyHeaders {
    const bytes = this.#inflate.message(block)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = 0
    const number = (): number => {
      if (at + 4 > bytes.length) throw new SpdyError('a block of headers is cut off')
      at += 4
      return view.getUint32(at - 4)
    }
    const text = (): string => {
      const length = number()
      if (at + length > bytes.length) throw new SpdyError('a block of headers is cut off')
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
}

/** zlib's first bytes: deflate with a window of 32 KiB, and which dictionary. */
const preamble = [0x78, 0x20, ...bigEndian32(adler32(spdyDictionary))]
/** An empty stored block: what came before can be read now. */
const flush = [0, 0, 0, 0xff, 0xff]

export class HeaderWriter {
  #isBegun = false

  write(headers: SpdyHeaders): Uint8Array {
    const entries = Object.entries(headers)
    const block = [...bigEndian32(entries.length)]
    for (const field of entries.flat()) {
      const bytes = new TextEncoder().encode(field)
      block.push(...bigEndian32(bytes.length), ...bytes)
    }
    const size = [block.length & 0xff, block.length >> 8]
    const stored = [0, ...size, ...size.map((byte) => ~byte & 0xff), ...block, ...flush]
    const begun = this.#isBegun
    this.#isBegun = true
    return Uint8Array.from(begun ? stored : [...preamble, ...stored])
  }
}

function bigEndian32(value: number): readonly [number, number, number, number] {
  return [(value >>> 24) & 0xff, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff]
}

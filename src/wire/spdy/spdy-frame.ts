// Frames of SPDY/3.1: decoding and encoding. Data is delivered as it arrives, before its frame is complete.
import { ByteBuffer } from '../../base/collections/byte-buffer.ts'

export type SpdyFrame =
  | { readonly kind: 'open'; readonly id: number; readonly isLast: boolean; readonly block: Uint8Array }
  | { readonly kind: 'reply'; readonly id: number; readonly isLast: boolean; readonly block: Uint8Array }
  | { readonly kind: 'reset'; readonly id: number; readonly code: number }
  | { readonly kind: 'ping'; readonly id: number }
  | { readonly kind: 'goaway' }
  | { readonly kind: 'headers'; readonly id: number; readonly isLast: boolean; readonly block: Uint8Array }
  | { readonly kind: 'data'; readonly id: number; readonly isLast: boolean; readonly bytes: Uint8Array }

export class SpdyError extends Error {
  override name = 'SpdyError'
}

export const resetCodes = { protocolError: 1, refused: 3, cancel: 5 } as const

const version = 3
const types = { open: 1, reply: 2, reset: 3, settings: 4, ping: 6, goaway: 7, headers: 8, windowUpdate: 9 } as const
const lastFlag = 1
const headBytes = 8
const controlBytesMax = 64 * 1024
const idMask = 0x7fff_ffff

export class SpdyFrameReader {
  /** The start of a frame header or a control frame that is not complete. */
  readonly #pending = new ByteBuffer()
  /** How many pending bytes are needed to continue. */
  #needed = headBytes
  /** The data frame that is being read, and how much of it is missing. */
  #data: { readonly id: number; readonly isLast: boolean; left: number } | undefined;

  /** The frames that these bytes complete. */
  *push(bytes: Uint8Array): Generator<SpdyFrame> {
    let rest = bytes
    if (this.#pending.length > 0) {
      this.#pending.append(bytes)
      if (this.#pending.length < this.#needed) return
      rest = this.#pending.take()
    }
    for (;;) {
      if (this.#data !== undefined) {
        const piece = rest.subarray(0, this.#data.left)
        rest = rest.subarray(piece.length)
        const { id, isLast } = this.#data
        this.#data.left -= piece.length
        const isWhole = this.#data.left === 0
        if (isWhole) this.#data = undefined
        if (piece.length > 0 || isWhole) yield { kind: 'data', id, isLast: isLast && isWhole, bytes: piece }
        if (!isWhole) return
      }
      this.#needed = headBytes
      if (rest.length < headBytes) break
      const view = new DataView(rest.buffer, rest.byteOffset, rest.byteLength)
      const first = view.getUint32(0)
      const length = view.getUint32(4) & 0xff_ffff
      const isLast = (view.getUint8(4) & lastFlag) !== 0
      if (first <= idMask) {
        this.#data = { id: first, isLast, left: length }
        rest = rest.subarray(headBytes)
        continue
      }
      if (((first >>> 16) & 0x7fff) !== version) throw new SpdyError('not SPDY/3')
      if (length > controlBytesMax) throw new SpdyError(`a control frame of more than ${controlBytesMax} bytes`)
      this.#needed = headBytes + length
      if (rest.length < headBytes + length) break
      const frame = controlFrame(first & 0xffff, isLast, rest.subarray(headBytes, headBytes + length))
      rest = rest.subarray(headBytes + length)
      if (frame !== undefined) yield frame
    }
    this.#pending.append(rest)
  }
}

/** Returns undefined for frames that are ignored, such as window updates (see spdy-session.ts). */
function controlFrame(type: number, isLast: boolean, body: Uint8Array): SpdyFrame | undefined {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  const need = (bytes: number) => {
    if (body.length < bytes) throw new SpdyError('a control frame is too short')
  }
  switch (type) {
    case types.open:
      need(10)
      return { kind: 'open', id: view.getUint32(0) & idMask, isLast, block: body.subarray(10) }
    case types.reply:
    case types.headers:
      need(4)
      return {
        kind: type === types.reply ? 'reply' : 'headers',
        id: view.getUint32(0) & idMask,
        isLast,
        block: body.subarray(4),
      }
    case types.reset:
      need(8)
      return { kind: 'reset', id: view.getUint32(0) & idMask, code: view.getUint32(4) }
    case types.ping:
      need(4)
      return { kind: 'ping', id: view.getUint32(0) }
    case types.goaway:
      return { kind: 'goaway' }
    default:
      return undefined
  }
}

export function encodeFrame(frame: SpdyFrame): Uint8Array {
  switch (frame.kind) {
    case 'data': {
      const bytes = head(frame.id, frame.isLast, frame.bytes.length)
      bytes.set(frame.bytes, headBytes)
      return bytes
    }
    case 'open':
      return control(types.open, frame.isLast, [frame.id, 0], [0, 0], frame.block)
    case 'reply':
    case 'headers':
      return control(types[frame.kind], frame.isLast, [frame.id], [], frame.block)
    case 'reset':
      return control(types.reset, false, [frame.id, frame.code])
    case 'ping':
      return control(types.ping, false, [frame.id])
    case 'goaway':
      return control(types.goaway, false, [0, 0])
    default:
      return frame satisfies never
  }
}

function head(first: number, isLast: boolean, length: number): Uint8Array {
  const bytes = new Uint8Array(headBytes + length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, first)
  view.setUint32(4, length)
  view.setUint8(4, isLast ? lastFlag : 0)
  return bytes
}

function control(
  type: number,
  isLast: boolean,
  numbers: readonly number[],
  between: readonly number[] = [],
  block: Uint8Array = new Uint8Array(),
): Uint8Array {
  const bytes = head((0x8000 + version) * 65_536 + type, isLast, numbers.length * 4 + between.length + block.length)
  const view = new DataView(bytes.buffer)
  for (const [index, number] of numbers.entries()) view.setUint32(headBytes + index * 4, number)
  bytes.set(between, headBytes + numbers.length * 4)
  bytes.set(block, headBytes + numbers.length * 4 + between.length)
  return bytes
}

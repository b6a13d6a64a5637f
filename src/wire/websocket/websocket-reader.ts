// WebSocketReader: bytes in, messages and control frames out. A payload is unmasked into its message as it arrives, so
// that a message in many small pieces is copied once. Text is validated while it arrives: invalid UTF-8 fails at once.
import { ByteBuffer } from '../../base/collections/byte-buffer.ts'
import {
  applyMask,
  closeCodes,
  headerBytesMax,
  headerSize,
  isControl,
  opcodes,
  parseClose,
  parseHeader,
  WebSocketError,
  type FrameHeader,
  type WebSocketMessage,
} from './websocket-frame.ts'

const messageBytesMax = 4 * 1024 * 1024

interface Frame extends FrameHeader {
  /** Control frames have their own; the frames of a message share one. */
  readonly payload: ByteBuffer
  /** How much of this frame's payload has arrived. */
  received: number
}

interface DataMessage {
  readonly kind: 'binary' | 'text'
  readonly payload: ByteBuffer
  /** Validates text. */
  readonly utf8: TextDecoder | undefined
}

export class WebSocketReader {
  /** Clients mask their frames; servers do not. */
  readonly #isMasked: boolean
  /** The header that is being read; complete when #frame is set. */
  readonly #header = new Uint8Array(headerBytesMax)
  #headerLength = 0
  #frame: Frame | undefined
  /** The message whose final frame has not arrived. */
  #message: DataMessage | undefined

  constructor(from: 'client' | 'server') {
    this.#isMasked = from === 'client'
  }

  /** The messages that these bytes complete. Throws WebSocketError; the reader must not be used after that. */
  *push(bytes: Uint8Array): Generator<WebSocketMessage> {
    let at = 0
    for (;;) {
      at = this.#readHeader(bytes, at)
      const frame = this.#frame
      if (frame === undefined) return
      const end = Math.min(bytes.length, at + frame.length - frame.received)
      this.#append(frame, bytes.subarray(at, end))
      at = end
      if (frame.received < frame.length) return
      this.#frame = undefined
      const message = isControl(frame.opcode) ? controlMessage(frame) : this.#endOfFrame(frame)
      if (message !== undefined) yield message
    }
  }

  /** Reads on in the header of the next frame, unless there is a frame; returns the position after it. */
  #readHeader(bytes: Uint8Array, start: number): number {
    let at = start
    while (this.#frame === undefined && at < bytes.length) {
      this.#header[this.#headerLength++] = bytes[at++] ?? 0
      if (this.#headerLength < headerSize(this.#header, this.#headerLength)) continue
      const header = parseHeader(this.#header)
      this.#headerLength = 0
      this.#check(header)
      this.#frame = { ...header, payload: this.#payloadOf(header.opcode), received: 0 }
    }
    return at
  }

  #check({ opcode, length, mask }: FrameHeader): void {
    if ((mask !== undefined) !== this.#isMasked)
      throw new WebSocketError(closeCodes.protocolError, 'a frame is masked wrongly')
    if (isControl(opcode)) return
    if ((opcode === opcodes.continuation) !== (this.#message !== undefined))
      throw new WebSocketError(
        closeCodes.protocolError,
        'a message starts within another, or a continuation has no start',
      )
    if ((this.#message?.payload.length ?? 0) + length > messageBytesMax)
      throw new WebSocketError(closeCodes.tooLarge, `a message of more than ${messageBytesMax} bytes`)
  }

  #payloadOf(opcode: number): ByteBuffer {
    if (isControl(opcode)) return new ByteBuffer()
    this.#message ??=
      opcode === opcodes.text
        ? { kind: 'text', payload: new ByteBuffer(), utf8: new TextDecoder('utf-8', { fatal: true }) }
        : { kind: 'binary', payload: new ByteBuffer(), utf8: undefined }
    return this.#message.payload
  }

  #append(frame: Frame, piece: Uint8Array): void {
    const added = frame.payload.append(piece)
    if (frame.mask !== undefined) applyMask(added, 0, added, frame.mask, frame.received)
    frame.received += piece.length
    if (!isControl(frame.opcode)) validate(this.#message?.utf8, added, true)
  }

  /** The message, when this was its final frame. */
  #endOfFrame({ isFinal }: Frame): WebSocketMessage | undefined {
    const message = this.#message
    if (!isFinal || message === undefined) return undefined
    this.#message = undefined
    validate(message.utf8, noBytes, false)
    return { kind: message.kind, bytes: message.payload.bytes }
  }
}

const noBytes = new Uint8Array()

function validate(utf8: TextDecoder | undefined, bytes: Uint8Array, stream: boolean): void {
  try {
    utf8?.decode(bytes, { stream })
  } catch {
    throw new WebSocketError(closeCodes.invalidPayload, 'a text message is not valid UTF-8')
  }
}

function controlMessage({ opcode, payload }: Frame): WebSocketMessage {
  if (opcode === opcodes.close) return parseClose(payload.bytes)
  return { kind: opcode === opcodes.ping ? 'ping' : 'pong', bytes: payload.bytes }
}

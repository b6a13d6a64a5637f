// Both ends of a WebSocketConnection pass the cases of the Autobahn test suite (autobahn.harness.ts) as echo servers.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { byteStreamPair } from '../byte-pipe.ts'
import { autobahnCases, type AutobahnCase, type SentFrame } from './autobahn.harness.ts'
import { WebSocketConnection } from './websocket-connection.ts'
import { WebSocketError } from './websocket-frame.ts'

const mask = Uint8Array.of(0x37, 0xfa, 0x21, 0x3d)
const pipeBytesMax = 1024 * 1024
const octetWiseBytesMax = 4 * 1024

const applyMaskTo = (payload: Uint8Array): void => {
  for (let index = 0; index < payload.length; index++) payload[index] = (payload[index] ?? 0) ^ (mask[index & 3] ?? 0)
}

/** Written from the standard, without the code under test. */
function encode(frame: SentFrame, isMasked: boolean): Uint8Array {
  const { opcode, payload, isFinal = true, reserved = 0, sentBytes = payload.length } = frame
  const { length } = payload
  const long =
    length > 0xffff
      ? [127, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255]
      : [126, length >> 8, length & 255]
  const [short = 0, ...rest] = length < 126 ? [length] : long
  const header = [
    (isFinal ? 0x80 : 0) | (reserved << 4) | opcode,
    (isMasked ? 0x80 : 0) | short,
    ...rest,
    ...(isMasked ? mask : []),
  ]
  const bytes = new Uint8Array(header.length + sentBytes)
  bytes.set(header)
  bytes.set(payload.subarray(0, sentBytes), header.length)
  if (isMasked) applyMaskTo(bytes.subarray(header.length))
  return bytes
}

const kinds = new Map([
  [1, 'text'],
  [2, 'binary'],
  [8, 'close'],
  [9, 'ping'],
  [10, 'pong'],
])

interface ReceivedFrame {
  readonly kind: string
  readonly payload: Uint8Array
}

/** The frames in what the connection wrote. Every frame must be final and masked as its side demands. */
class Received {
  readonly frames: ReceivedFrame[] = []
  readonly #isMasked: boolean
  #bytes = Buffer.alloc(0)
  #onFrame = Promise.withResolvers<void>()

  constructor(isMasked: boolean) {
    this.#isMasked = isMasked
  }

  push(piece: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, piece])
    for (let size = this.#parse(); size > 0; size = this.#parse()) this.#bytes = this.#bytes.subarray(size)
  }

  async until(count: number): Promise<void> {
    while (this.frames.length < count) await this.#onFrame.promise
  }

  /** Returns the size of the frame at the start, or 0 when it is not complete. */
  #parse(): number {
    const bytes = this.#bytes
    if (bytes.length < 2) return 0
    const short = bytes.readUInt8(1) & 0x7f
    const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0
    const headerBytes = 2 + lengthBytes + (this.#isMasked ? 4 : 0)
    if (bytes.length < headerBytes) return 0
    const length =
      lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2)) : lengthBytes === 2 ? bytes.readUInt16BE(2) : short
    if (bytes.length < headerBytes + length) return 0
    equal((bytes.readUInt8(1) & 0x80) !== 0, this.#isMasked)
    equal(bytes.readUInt8(0) & 0xf0, 0x80)
    const payload = new Uint8Array(bytes.subarray(headerBytes, headerBytes + length))
    if (this.#isMasked) applyMaskTo(payload)
    this.frames.push({ kind: kinds.get(bytes.readUInt8(0) & 0x0f) ?? 'unknown', payload })
    this.#onFrame.resolve()
    this.#onFrame = Promise.withResolvers()
    return headerBytes + length
  }
}

async function echo(connection: WebSocketConnection): Promise<void> {
  for await (const { kind, bytes } of connection.messages())
    if (kind === 'text') await connection.sendText(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
    else await connection.sendBinary(bytes)
}

async function replies({ sends, closes }: AutobahnCase, side: 'client' | 'server', chunkBytes: number | 'frame') {
  const [near, far] = byteStreamPair(pipeBytesMax)
  const connection = new WebSocketConnection(near, side === 'client' ? () => mask : undefined)
  const echoing = echo(connection).catch((error: unknown) => {
    if (!(error instanceof WebSocketError)) throw error
  })
  const received = new Received(side === 'client')
  const reading = (async () => {
    for await (const piece of far.pieces) received.push(piece)
  })()
  let unsent: Uint8Array[] = []
  const flush = async () => {
    const pieces = chunkBytes === 'frame' ? unsent : chunked(Buffer.concat(unsent), chunkBytes)
    unsent = []
    for (const piece of pieces) await far.write(piece)
  }
  let awaited = 0
  for (const frame of sends) {
    if (frame !== 'reply') unsent.push(encode(frame, side === 'server'))
    else {
      await flush()
      await received.until(++awaited)
    }
  }
  const isOpen = closes === 1000 && !sends.some((frame) => frame !== 'reply' && frame.opcode === 8)
  if (isOpen) unsent.push(encode({ opcode: 8, payload: Uint8Array.of(1000 >> 8, 1000 & 255) }, side === 'server'))
  await flush()
  // A connection that has not been closed by now sees the end, and replies without a close frame.
  far.end()
  await Promise.all([reading, echoing])
  return received.frames
}

function chunked(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
  return chunks
}

/** The payload in full when it is short, else its length and digest. */
const shown = ({ kind, payload }: ReceivedFrame): string => {
  const buffer = Buffer.from(payload.buffer, payload.byteOffset, payload.length)
  if (kind === 'close') return `close ${payload.length === 0 ? 1005 : buffer.readUInt16BE(0)}`
  const isFilled = payload.length > 200 && buffer.equals(Buffer.alloc(payload.length, 0x2a))
  return `${kind} ${isFilled ? `${payload.length} bytes` : buffer.toString('hex')}`
}

for (const side of ['server', 'client'] as const)
  for (const each of autobahnCases)
    test(`Autobahn ${each.id}, as a ${side}`, async () => {
      const expected = [...each.replies.map(([kind, payload]) => shown({ kind, payload })), `close ${each.closes}`]
      const bytes = each.sends.reduce((sum, frame) => sum + (frame === 'reply' ? 0 : frame.payload.length), 0)
      const ways = [Infinity, 'frame', ...(bytes <= octetWiseBytesMax ? [1] : [])] as const
      for (const way of each.chunkBytes === undefined ? ways : [each.chunkBytes])
        deepEqual((await replies(each, side, way)).map(shown), expected, `written ${way} at a time`)
    })

// Frames of SPDY, WebSocket and gRPC: any bytes are decoded or rejected with the protocol's error, with the same result
// however they are split into pieces; what is encoded decodes to the same value.
import { deepEqual } from 'node:assert/strict'
import { fuzz, inPieces, concatenatedBytes, mutatedBytes, pick, rejectedOnlyWith } from '../base/random/fuzz.harness.ts'
import type { Random } from '../base/random/random.ts'
import { nodeInflateRaw } from '../platform/node/inflate.ts'
import { ProtobufError } from '../schema/protobuf/protobuf-reader.ts'
import { frame, FrameError, FrameReader } from './grpc/grpc-frame.ts'
import { mapOf, singular, protoMessage, repeated } from './protobuf/proto-message.ts'
import { decodeProto } from './protobuf/decode-proto.ts'
import { encodeProto } from './protobuf/encode-proto.ts'
import { encodeFrame, SpdyError, SpdyFrameReader, type SpdyFrame } from './spdy/spdy-frame.ts'
import { HeaderReader, HeaderWriter } from './spdy/header-block.ts'
import { encodeMessage, WebSocketError, type WebSocketMessage } from './websocket/websocket-frame.ts'
import { WebSocketReader } from './websocket/websocket-reader.ts'

/** The items that a reader decodes, and whether it rejected the rest. */
function readAll<Item>(
  push: (bytes: Uint8Array) => Iterable<Item>,
  pieces: readonly Uint8Array[],
  errors: Parameters<typeof rejectedOnlyWith>[0],
): { items: Item[]; isRejected: boolean } {
  const items: Item[] = []
  const whole = rejectedOnlyWith(errors, () => {
    for (const piece of pieces) for (const item of push(piece)) items.push(item)
    return true
  })
  return { items, isRejected: whole === undefined }
}

const bytesOf = (random: Random): Uint8Array => random.bytes(random.below(40))
const idOf = (random: Random) => random.below(5) + 1

function randomSpdyFrame(random: Random): SpdyFrame {
  const writer = new HeaderWriter()
  const block = writer.write({ streamtype: pick(random, ['stdin', 'error', '']), constructor: 'x' })
  return pick<() => SpdyFrame>(random, [
    () => ({ kind: 'data', id: idOf(random), isLast: random.below(2) === 0, bytes: bytesOf(random) }),
    () => ({ kind: 'open', id: idOf(random), isLast: false, block }),
    () => ({ kind: 'reply', id: idOf(random), isLast: false, block }),
    () => ({ kind: 'reset', id: idOf(random), code: 1 }),
    () => ({ kind: 'ping', id: idOf(random) }),
    () => ({ kind: 'headers', id: idOf(random), isLast: true, block }),
    () => ({ kind: 'goaway' }),
  ])()
}

/** Joins the pieces of data frames, which depend on how the bytes were split. */
function dataJoined(frames: readonly SpdyFrame[]): unknown[] {
  const found: unknown[] = []
  let id = 0
  let text = ''
  const end = (isLast: boolean) => {
    if (text !== '' || isLast) found.push({ kind: 'data', id, text, isLast })
    text = ''
  }
  for (const each of frames) {
    if (each.kind !== 'data' || each.id !== id) end(false)
    if (each.kind === 'data') {
      id = each.id
      text += each.bytes.toHex()
      if (each.isLast) end(true)
    } else found.push(each)
  }
  end(false)
  return found
}

fuzz('SPDY frames', {
  runs: 2_000,
  make: (random) =>
    concatenatedBytes(...Array.from({ length: random.below(5) + 1 }, () => encodeFrame(randomSpdyFrame(random)))),
  check(good, random) {
    const bytes = random.below(4) === 0 ? good : mutatedBytes(good, random)
    const whole = new SpdyFrameReader()
    const cut = new SpdyFrameReader()
    const atOnce = readAll((piece) => whole.push(piece), [bytes], [SpdyError])
    const piecewise = readAll((piece) => cut.push(piece), inPieces(bytes, random), [SpdyError])
    deepEqual([dataJoined(piecewise.items), piecewise.isRejected], [dataJoined(atOnce.items), atOnce.isRejected])
    const headers = new HeaderReader(nodeInflateRaw)
    for (const each of atOnce.items) if ('block' in each) rejectedOnlyWith([SpdyError], () => headers.read(each.block))
  },
})

fuzz('SPDY header blocks', {
  runs: 2_000,
  make: (random) => mutatedBytes(new HeaderWriter().write({ a: 'b', __proto__x: 'c', streamtype: 'stdin' }), random),
  check: (block) => void rejectedOnlyWith([SpdyError], () => new HeaderReader(nodeInflateRaw).read(block)),
})

function randomMessage(random: Random): WebSocketMessage {
  return pick<() => WebSocketMessage>(random, [
    () => ({ kind: 'binary', bytes: random.bytes(random.below(300)) }),
    () => ({ kind: 'text', bytes: new TextEncoder().encode(pick(random, ['', 'a', 'grüße', '𝒳', '\ufeff'])) }),
    () => ({ kind: 'ping', bytes: random.bytes(random.below(100)) }),
    () => ({ kind: 'close', code: pick(random, [1000, 1005, 1011, 4999]), reason: '' }),
  ])()
}

fuzz('WebSocket frames', {
  runs: 2_000,
  make: (random) => Array.from({ length: random.below(4) + 1 }, () => randomMessage(random)),
  check(messages, random) {
    const good = concatenatedBytes(...messages.map((message) => encodeMessage(message, random.bytes(4))))
    const read = (pieces: readonly Uint8Array[]) => {
      const reader = new WebSocketReader('client')
      const { items, isRejected } = readAll((piece) => reader.push(piece), pieces, [WebSocketError])
      return {
        items: items.map((item) => ('bytes' in item ? { ...item, bytes: item.bytes.toHex() } : item)),
        isRejected,
      }
    }
    deepEqual(
      read([good]).items,
      messages.map((message) => ('bytes' in message ? { ...message, bytes: message.bytes.toHex() } : message)),
    )
    const broken = mutatedBytes(good, random)
    deepEqual(read(inPieces(broken, random)), read([broken]))
  },
})

fuzz('gRPC frames', {
  runs: 2_000,
  make: (random) => Array.from({ length: random.below(4) + 1 }, () => random.bytes(random.below(200))),
  check(messages, random) {
    const good = concatenatedBytes(...messages.map(frame))
    const read = (pieces: readonly Uint8Array[]) => {
      const reader = new FrameReader(1_000)
      const { items, isRejected } = readAll((piece) => reader.push(piece), pieces, [FrameError])
      return { items: items.map((item) => item.toHex()), isRejected }
    }
    deepEqual(read(inPieces(good, random)), { items: messages.map((message) => message.toHex()), isRejected: false })
    const broken = mutatedBytes(good, random)
    // A reader that rejects a piece returns no items of that piece.
    const atOnce = read([broken])
    const piecewise = read(inPieces(broken, random))
    deepEqual([piecewise.isRejected, piecewise.items.slice(0, atOnce.items.length)], [atOnce.isRejected, atOnce.items])
  },
})

const inner = protoMessage('Inner', { text: singular(1, 'string'), numbers: repeated(2, 'int64') })
const outer = protoMessage('Outer', { inner: singular(1, inner), many: repeated(2, inner), labels: mapOf(3, 'string') })

fuzz('protobuf of remote procedure calls', {
  runs: 2_000,
  make: (random) => ({
    inner: { text: pick(random, ['', 'a', 'é']), numbers: [random.below(9)] },
    many: Array.from({ length: random.below(3) }, () => ({ text: 'x', numbers: [] })),
    labels: Object.fromEntries([[pick(random, ['a', '__proto__', 'constructor']), 'v']]),
  }),
  check(value, random) {
    const good = encodeProto(outer, value)
    deepEqual(JSON.parse(JSON.stringify(decodeProto(outer, good))), JSON.parse(JSON.stringify(value)))
    rejectedOnlyWith([ProtobufError], () => decodeProto(outer, mutatedBytes(good, random)))
  },
})

// The cases of the Autobahn WebSocket test suite as data: what a peer sends to an echo server, the expected replies,
// and the expected close code. The ids are those of the suite. Left out: 12.* and 13.* (compression, which is not
// offered), and 7.1.6 and 7.13.* (informational: any outcome passes).
import { invalidUtf8, validUtf8 } from './utf8-cases.harness.ts'

export interface SentFrame {
  readonly opcode: number
  readonly payload: Uint8Array
  readonly isFinal?: boolean
  readonly reserved?: number
  /** Only this many bytes of the payload are sent, although the header announces all of it. */
  readonly sentBytes?: number
}

export interface AutobahnCase {
  readonly id: string
  /** 'reply': the peer waits for the next reply before it sends more. */
  readonly sends: readonly (SentFrame | 'reply')[]
  readonly replies: readonly Reply[]
  /**
   * 1000: the peer closes after its last frame and gets its code back. Other codes: the connection is failed with the
   * code.
   */
  readonly closes: number
  /**
   * How many bytes the peer writes at a time. Left out: three runs with all at once, frame by frame, and byte by byte.
   */
  readonly chunkBytes?: number
}

export type Reply = readonly [kind: 'text' | 'binary' | 'pong', payload: Uint8Array]

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const asterisks = new Uint8Array(16 * 1024 * 1024).fill(0x2a)
const filled = (length: number): Uint8Array => asterisks.subarray(0, length)
const hello = utf8('Hello, world!')
const all = Number.MAX_SAFE_INTEGER

const text = (payload: Uint8Array, options: Partial<SentFrame> = {}): SentFrame => ({ opcode: 1, payload, ...options })
const binary = (payload: Uint8Array): SentFrame => ({ opcode: 2, payload })
const more = (payload: Uint8Array, isFinal = false): SentFrame => ({ opcode: 0, payload, isFinal })
const last = (payload: Uint8Array): SentFrame => more(payload, true)
const first = (payload: Uint8Array): SentFrame => text(payload, { isFinal: false })
const ping = (payload: Uint8Array = new Uint8Array()): SentFrame => ({ opcode: 9, payload })
const pong = (payload: Uint8Array = new Uint8Array()): SentFrame => ({ opcode: 10, payload })
const close = (payload: Uint8Array): SentFrame => ({ opcode: 8, payload })
const closeCode = (code: number, reason: Uint8Array = new Uint8Array()): SentFrame =>
  close(Uint8Array.of(code >> 8, code & 0xff, ...reason))

const passes = (id: string, sends: AutobahnCase['sends'], replies: readonly Reply[], chunkBytes?: number) => ({
  id,
  sends,
  replies,
  closes: 1000,
  ...(chunkBytes === undefined ? {} : { chunkBytes }),
})
const fails = (id: string, sends: AutobahnCase['sends'], closes: number, replies: readonly Reply[] = []) => ({
  id,
  sends,
  replies,
  closes,
})
const echoed = (payload: Uint8Array): Reply => ['text', payload]

const framing: AutobahnCase[] = [0, 125, 126, 127, 128, 65_535, 65_536].flatMap((length, index) => [
  passes(`1.1.${index + 1}`, [text(filled(length))], [echoed(filled(length))], all),
  passes(`1.2.${index + 1}`, [binary(filled(length))], binaryEchoes(filled(length)), all),
])
framing.push(
  passes('1.1.8', [text(filled(65_536))], [echoed(filled(65_536))], 997),
  passes('1.2.8', [binary(filled(65_536))], binaryEchoes(filled(65_536)), 997),
)

const notUtf8 = Uint8Array.of(0x00, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0x00, 0xff)
const tenPings = Array.from({ length: 10 }, (_, index) => utf8(`payload-${index}`))
const pings: AutobahnCase[] = [
  passes('2.1', [ping()], [['pong', new Uint8Array()]]),
  passes('2.2', [ping(hello)], [['pong', hello]]),
  passes('2.3', [ping(notUtf8)], [['pong', notUtf8]]),
  passes('2.4 and 2.6', [ping(filled(125))], [['pong', filled(125)]]),
  fails('2.5', [ping(filled(126))], 1002),
  passes('2.7', [pong()], []),
  passes('2.8', [pong(utf8('unsolicited pong payload'))], []),
  passes('2.9', [pong(utf8('unsolicited pong payload')), ping(hello)], [['pong', hello]]),
  passes(
    '2.10 and 2.11',
    tenPings.map(ping),
    tenPings.map((payload) => ['pong', payload] as const),
  ),
]

const reservedBits: AutobahnCase[] = [
  fails('3.1', [text(hello, { reserved: 1 })], 1002),
  ...([2, 3, 4] as const).map((reserved) =>
    fails(`3.${reserved}`, [text(hello), text(hello, { reserved }), ping()], 1002, [echoed(hello)]),
  ),
  fails('3.5', [{ ...binary(notUtf8), reserved: 5 }], 1002),
  fails('3.6', [{ ...ping(hello), reserved: 6 }], 1002),
  fails('3.7', [{ ...closeCode(1000), reserved: 7 }], 1002),
]

const opcodes: AutobahnCase[] = [3, 11].flatMap((from, group) => [
  fails(`4.${group + 1}.1`, [{ opcode: from, payload: new Uint8Array() }], 1002),
  fails(`4.${group + 1}.2`, [{ opcode: from + 1, payload: hello }], 1002),
  ...[2, 3, 4].map((offset) =>
    fails(
      `4.${group + 1}.${offset + 1}`,
      [text(hello), { opcode: from + offset, payload: offset === 2 ? new Uint8Array() : hello }, ping()],
      1002,
      [echoed(hello)],
    ),
  ),
])

const part1 = utf8('fragment1')
const part2 = utf8('fragment2')
const both = utf8('fragment1fragment2')
const fragments = [1, 2, 3, 4, 5].map((number) => utf8(`fragment${number}`))
const [f1 = part1, f2 = part1, f3 = part1, f4 = part1, f5 = part1] = fragments
const twoPings: Reply[] = [
  ['pong', utf8('pongme 1!')],
  ['pong', utf8('pongme 2!')],
]
const withPings = (id: string, ...wait: 'reply'[]): AutobahnCase =>
  passes(
    id,
    [first(f1), more(f2), ping(utf8('pongme 1!')), ...wait, more(f3), more(f4), ping(utf8('pongme 2!')), last(f5)],
    [...twoPings, echoed(utf8('fragment1fragment2fragment3fragment4fragment5'))],
  )
const fragmentation: AutobahnCase[] = [
  fails('5.1', [{ ...ping(part1), isFinal: false }, last(part2)], 1002),
  fails('5.2', [{ ...pong(part1), isFinal: false }, last(part2)], 1002),
  passes('5.3 to 5.5', [first(part1), last(part2)], [echoed(both)]),
  passes('5.6 to 5.8', [first(part1), ping(hello), last(part2)], [['pong', hello], echoed(both)]),
  fails('5.9 to 5.11', [last(part1), text(hello)], 1002),
  fails('5.12 to 5.14', [more(part1), text(hello)], 1002),
  fails('5.15', [first(part1), last(part2), more(part1), text(hello)], 1002, [echoed(both)]),
  fails('5.16', [more(part1), first(part2), last(part1)], 1002),
  fails('5.17', [last(part1), first(part2), last(part1)], 1002),
  fails('5.18', [first(part1), text(part2)], 1002),
  withPings('5.19', 'reply'),
  withPings('5.20', 'reply'),
]

const greeting = utf8('Hello-µ@ßöäüàá-UTF-8!!')
const kosme = utf8('κόσμε')
const broken = Uint8Array.from([...kosme, 0xed, 0xa0, 0x80, ...utf8('edited')])
const octets = (payload: Uint8Array): SentFrame[] =>
  Array.from(payload, (octet, index) => ({
    opcode: index === 0 ? 1 : 0,
    payload: Uint8Array.of(octet),
    isFinal: index === payload.length - 1,
  }))
/** Beyond the last code point: invalid from its second byte on. */
const beyond = Uint8Array.of(0xf4, 0x90, 0x80, 0x80)
const edited = utf8('edited')
const beyondText = Uint8Array.from([...kosme, ...beyond, ...edited])
const unicode: AutobahnCase[] = [
  passes('6.1.1', [text(new Uint8Array())], [echoed(new Uint8Array())]),
  passes(
    '6.1.2',
    [first(new Uint8Array()), more(new Uint8Array()), last(new Uint8Array())],
    [echoed(new Uint8Array())],
  ),
  passes('6.1.3', [first(new Uint8Array()), more(hello), last(new Uint8Array())], [echoed(hello)]),
  passes('6.2.1', [text(greeting)], [echoed(greeting)]),
  passes('6.2.2', [first(greeting.subarray(0, 12)), last(greeting.subarray(12))], [echoed(greeting)]),
  passes('6.2.3', octets(greeting), [echoed(greeting)]),
  passes('6.2.4', octets(kosme), [echoed(kosme)]),
  fails('6.3.1', [text(broken)], 1007),
  fails('6.3.2', octets(broken), 1007),
  // Fail fast: the rest of the message is never sent.
  fails('6.4.1', [first(kosme), more(beyond)], 1007),
  fails('6.4.2', [first(Uint8Array.from([...kosme, 0xf4])), more(Uint8Array.of(0x90))], 1007),
  fails('6.4.3', [text(beyondText, { sentBytes: kosme.length + beyond.length })], 1007),
  fails('6.4.4', [text(beyondText, { sentBytes: kosme.length + 2 })], 1007),
  ...validUtf8.map(([id, payload]) => passes(id, [text(payload)], [echoed(payload)])),
  ...invalidUtf8.map(([id, payload]) => fails(id, [text(payload)], 1007)),
]

const reason = (length: number) => closeCode(1000, filled(length))
const closing: AutobahnCase[] = [
  fails('7.1.1', [text(hello), closeCode(1000)], 1000, [echoed(hello)]),
  fails('7.1.2', [closeCode(1000), closeCode(1000)], 1000),
  fails('7.1.3', [closeCode(1000), ping()], 1000),
  fails('7.1.4', [closeCode(1000), text(hello)], 1000),
  fails('7.1.5', [first(part1), closeCode(1000), last(part2)], 1000),
  fails('7.3.1', [close(new Uint8Array())], 1005),
  fails('7.3.2', [close(Uint8Array.of(0x61))], 1002),
  fails('7.3.3', [closeCode(1000)], 1000),
  fails('7.3.4', [closeCode(1000, hello)], 1000),
  fails('7.3.5', [reason(123)], 1000),
  fails('7.3.6', [reason(124)], 1002),
  fails('7.5.1', [closeCode(1000, broken)], 1007),
  ...[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999].map((code, index) =>
    fails(`7.7.${index + 1}`, [closeCode(code)], code),
  ),
  ...[0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999].map((code, index) =>
    fails(`7.9.${index + 1}`, [closeCode(code)], 1002),
  ),
]

const kib = 1024
const mib = 1024 * 1024
/** The suite uses a thousand. */
const roundTrips = 100
/** Messages are limited to 4 MiB: the larger ones of the suite are rejected with 1009. */
const limits: AutobahnCase[] = [
  ...[64 * kib, 256 * kib, mib, 4 * mib].flatMap((size, index) => [
    passes(`9.1.${index + 1}`, [text(filled(size))], [echoed(filled(size))], all),
    passes(`9.2.${index + 1}`, [binary(filled(size))], binaryEchoes(filled(size)), all),
  ]),
  ...[8 * mib, 16 * mib].flatMap((size, index) => [
    fails(`9.1.${index + 5}`, [text(filled(size), { sentBytes: 0 })], 1009),
    fails(`9.2.${index + 5}`, [{ ...binary(filled(size)), sentBytes: 0 }], 1009),
  ]),
  ...[64, 256, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib, 4 * mib].flatMap((size, index) => [
    passes(`9.3.${index + 1}`, fragmented(1, 4 * mib, size), [echoed(filled(4 * mib))], all),
    passes(`9.4.${index + 1}`, fragmented(2, 4 * mib, size), binaryEchoes(filled(4 * mib)), all),
  ]),
  fails('9.3: one byte beyond the bound', [...fragmented(1, 4 * mib, mib, false), last(filled(1))], 1009),
  ...[64, 128, 256, 512, kib, 2 * kib].flatMap((size, index) => [
    passes(`9.5.${index + 1}`, [text(filled(mib))], [echoed(filled(mib))], size),
    passes(`9.6.${index + 1}`, [binary(filled(mib))], binaryEchoes(filled(mib)), size),
  ]),
  ...[0, 16, 64, 256, kib, 4 * kib].flatMap((size, index) => [
    passes(`9.7.${index + 1}`, inTurns(text(filled(size))), many(echoed(filled(size))), all),
    passes(`9.8.${index + 1}`, inTurns(binary(filled(size))), many(['binary', filled(size)]), all),
  ]),
  passes('10.1.1', [text(filled(65_536))], [echoed(filled(65_536))], 1_300),
]

export const autobahnCases: readonly AutobahnCase[] = [
  ...framing,
  ...pings,
  ...reservedBits,
  ...opcodes,
  ...fragmentation,
  ...unicode,
  ...closing,
  ...limits,
]

/** The connection sends long binary payloads as several messages of 32 KiB. */
function binaryEchoes(payload: Uint8Array): Reply[] {
  const replies: Reply[] = []
  for (let at = 0; at === 0 || at < payload.length; at += 32 * 1024)
    replies.push(['binary', payload.subarray(at, at + 32 * 1024)])
  return replies
}

function fragmented(opcode: number, length: number, size: number, isWhole = true): SentFrame[] {
  return Array.from({ length: length / size }, (_, index) => ({
    opcode: index === 0 ? opcode : 0,
    payload: filled(size),
    isFinal: isWhole && index === length / size - 1,
  }))
}

function inTurns(frame: SentFrame): AutobahnCase['sends'] {
  return Array.from({ length: roundTrips }, () => [frame, 'reply'] as const).flat()
}

function many(reply: Reply): Reply[] {
  return Array.from({ length: roundTrips }, () => reply)
}

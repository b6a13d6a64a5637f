// SPDY/3.1: header blocks compressed by zlib, frames in pieces of any size, and both sides of a session.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { constants, createDeflate, deflateSync, inflateSync } from 'node:zlib'
import { seededRandom } from '../../base/random/random.ts'
import { nodeInflateRaw } from '../../platform/node/inflate.ts'
import { byteStreamPair } from '../byte-pipe.ts'
import { spdyDictionary, spdyDictionaryId } from './spdy-dictionary.ts'
import { encodeFrame, SpdyError, SpdyFrameReader, type SpdyFrame } from './spdy-frame.ts'
import { HeaderReader, HeaderWriter } from './header-block.ts'
import { SpdySession, type SpdyStream } from './spdy-session.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const textOf = async (pieces: AsyncIterable<Uint8Array>) => {
  const decoder = new TextDecoder()
  let whole = ''
  for await (const piece of pieces) whole += decoder.decode(piece, { stream: true })
  return whole
}

test('the dictionary is the one that the protocol specifies', () => {
  equal(spdyDictionary.length, 1423)
  deepEqual([...deflateSync('', { dictionary: spdyDictionary }).subarray(2, 6)], [...spdyDictionaryId])
})

/** Blocks as other implementations compress them: flushed after each. */
async function deflated(messages: readonly Uint8Array[], options: object): Promise<Uint8Array[]> {
  const deflate = createDeflate({ dictionary: spdyDictionary, ...options })
  const written: Uint8Array[] = []
  for (const message of messages) {
    const pieces: Buffer[] = []
    deflate.on('data', (piece: Buffer) => pieces.push(piece))
    deflate.write(message)
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve))
    deflate.removeAllListeners('data')
    written.push(Buffer.concat(pieces))
  }
  return written
}

/** A header block before compression. */
function plainBlock(headers: Readonly<Record<string, string>>): Uint8Array {
  const number = (value: number) => [value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255]
  const fields = Object.entries(headers).flat().map(encode)
  return Uint8Array.from([
    ...number(fields.length / 2),
    ...fields.flatMap((field) => [...number(field.length), ...field]),
  ])
}

const random = seededRandom(1)
const repetitive = { accept: 'accept-language'.repeat(400) }
const varied = { content: random.bytes(20_000).toBase64() }
const sentHeaders = [{ streamtype: 'stdin' }, repetitive, varied, { streamtype: 'stdin' }, {}, varied]
const compressions: [name: string, options: object][] = [
  ['stored', { level: 0 }],
  ['fixed codes', { strategy: constants.Z_FIXED }],
  ['dynamic codes', { level: 9 }],
  ['without matches', { strategy: constants.Z_HUFFMAN_ONLY }],
]
for (const [name, options] of compressions)
  test(`header blocks of one zlib stream are read: ${name}`, async () => {
    const reader = new HeaderReader(nodeInflateRaw)
    const blocks = await deflated(sentHeaders.map(plainBlock), options)
    deepEqual(
      blocks.map((block) => reader.read(block)),
      sentHeaders,
    )
  })

test('header blocks that are damaged, use another dictionary or are too large are rejected', async () => {
  const read = (block: Uint8Array) => () => new HeaderReader(nodeInflateRaw).read(block)
  const [good = new Uint8Array()] = await deflated([plainBlock(repetitive)], {})
  const [other = new Uint8Array()] = await deflated([plainBlock(repetitive)], { dictionary: encode('other') })
  throws(read(other), /another dictionary/)
  throws(read(Uint8Array.of(1, 2, 3)), /not a zlib stream/)
  throws(read(good.subarray(0, 10)), SpdyError)
  throws(read(Uint8Array.from([...good.subarray(0, 6), 7, 7, 7])), /cannot be decompressed/)
})

test('a header block of 60 KB that inflates to 60 MB is rejected at the bound', async () => {
  const [bomb = new Uint8Array()] = await deflated([new Uint8Array(60_000_000)], { level: 9 })
  equal(bomb.length < 64 * 1024, true)
  throws(() => new HeaderReader(nodeInflateRaw).read(bomb), /cannot be decompressed/)
})

test('the header blocks that we write are read by us and by zlib', () => {
  const writer = new HeaderWriter()
  const reader = new HeaderReader(nodeInflateRaw)
  const blocks = [{ streamtype: 'error', port: '80' }, {}, { streamtype: 'dätä' }]
  const written = blocks.map((headers) => writer.write(headers))
  deepEqual(
    written.map((block) => reader.read(block)),
    blocks,
  )
  const whole = Buffer.concat([...written, Uint8Array.of(1, 0, 0, 0xff, 0xff)])
  const inflated = inflateSync(whole, { dictionary: spdyDictionary, finishFlush: constants.Z_SYNC_FLUSH })
  equal(inflated.includes('streamtype'), true)
})

const block = encode('block')
const frames: [name: string, frame: SpdyFrame][] = [
  ['a stream is opened', { kind: 'open', id: 1, isLast: false, block }],
  ['a stream is accepted', { kind: 'reply', id: 1, isLast: true, block }],
  ['headers', { kind: 'headers', id: 3, isLast: false, block }],
  ['a reset', { kind: 'reset', id: 5, code: 3 }],
  ['a ping', { kind: 'ping', id: 4_000_000_000 }],
  ['GOAWAY', { kind: 'goaway' }],
  ['the last data', { kind: 'data', id: 7, isLast: true, bytes: new Uint8Array() }],
]
for (const [name, frame] of frames)
  test(`frame: ${name}, whole and byte by byte`, () => {
    const bytes = encodeFrame(frame)
    deepEqual([...new SpdyFrameReader().push(bytes)].map(plain), [plain(frame)])
    const reader = new SpdyFrameReader()
    deepEqual([...bytes].flatMap((byte) => [...reader.push(Uint8Array.of(byte))]).map(plain), [plain(frame)])
  })

const plain = (frame: SpdyFrame) => ({
  ...frame,
  ...('block' in frame ? { block: [...frame.block] } : {}),
  ...('bytes' in frame ? { bytes: [...frame.bytes] } : {}),
})

test('data is delivered before its frame is complete', () => {
  const bytes = encodeFrame({ kind: 'data', id: 9, isLast: true, bytes: encode('abcdef') })
  const reader = new SpdyFrameReader()
  const seen = [bytes.subarray(0, 10), bytes.subarray(10)].flatMap((piece) =>
    [...reader.push(piece)].map((frame) =>
      frame.kind === 'data' ? [new TextDecoder().decode(frame.bytes), frame.isLast] : [],
    ),
  )
  deepEqual(seen, [
    ['ab', false],
    ['cdef', true],
  ])
})

test('other versions and frames beyond the size limit are rejected', () => {
  throws(() => [...new SpdyFrameReader().push(Uint8Array.of(0x80, 2, 0, 1, 0, 0, 0, 0))], /not SPDY\/3/)
  throws(() => [...new SpdyFrameReader().push(Uint8Array.of(0x80, 3, 0, 1, 0, 2, 0, 0))], /more than 65536 bytes/)
})

function sessions() {
  const [near, far] = byteStreamPair(100_000)
  const client = new SpdySession(near, 'client', nodeInflateRaw)
  const server = new SpdySession(far, 'server', nodeInflateRaw)
  return { client, server, near, far, running: Promise.all([client.run(), server.run()]) }
}

async function accepted(session: SpdySession): Promise<SpdyStream> {
  const { value } = await session.incoming[Symbol.asyncIterator]().next()
  if (value === undefined) throw new Error('no stream came')
  return value
}

test('streams carry bytes in both directions, and each direction ends separately', async () => {
  const { client, server, running } = sessions()
  const [there, here] = await Promise.all([client.open({ streamtype: 'data', port: '80' }), accepted(server)])
  deepEqual(here.headers, { streamtype: 'data', port: '80' })
  const long = 'x'.repeat(300_000)
  const sending = there.write(encode(long)).then(() => there.end())
  equal((await textOf(here.pieces)) === long, true)
  await sending
  await here.write(encode('answer after the end'))
  here.end()
  equal(await textOf(there.pieces), 'answer after the end')
  await client.close()
  await running
  await rejects(client.open({}), /no stream can be opened/)
})

test('destroying a stream ends it at the peer, and the others continue', async () => {
  const { client, server, running } = sessions()
  const [one, one2] = await Promise.all([client.open({}), accepted(server)])
  const [two, two2] = await Promise.all([client.open({}), accepted(server)])
  one.destroy()
  equal(await textOf(one2.pieces), '')
  await rejects(one2.write(encode('late')), /the stream has ended/)
  await two.write(encode('still here'))
  two.end()
  equal(await textOf(two2.pieces), 'still here')
  await server.close()
  await running
})

test('a lost connection ends every stream and rejects those being opened', async () => {
  const { client, server, far, running } = sessions()
  const [there] = await Promise.all([client.open({}), accepted(server)])
  far.destroy()
  equal(await textOf(there.pieces), '')
  await client.close()
  await running
})

test('pings of the peer are returned', async () => {
  const [near, far] = byteStreamPair(1000)
  const server = new SpdySession(far, 'server', nodeInflateRaw)
  const running = server.run()
  await near.write(encodeFrame({ kind: 'ping', id: 1 }))
  const { value } = (await near.pieces[Symbol.asyncIterator]().next()) as { value: Uint8Array }
  deepEqual([...new SpdyFrameReader().push(value)], [{ kind: 'ping', id: 1 }])
  near.end()
  await running
})

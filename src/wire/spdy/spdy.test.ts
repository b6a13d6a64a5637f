// SPDY/3.1: zlib as others write it, frames in pieces of any size, and sessions on both sides of one connection.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { constants, createDeflate, inflateSync } from 'node:zlib'
import { byteStreamPair } from '../byte-pipe.ts'
import { adler32, spdyDictionary } from './spdy-dictionary.ts'
import { encodeFrame, SpdyFrameReader, type SpdyFrame } from './spdy-frame.ts'
import { HeaderReader, HeaderWriter } from './header-block.ts'
import { Inflate, InflateError } from './inflate.ts'
import { SpdySession, type SpdyStream } from './spdy-session.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const textOf = async (pieces: AsyncIterable<Uint8Array>) => {
  const decoder = new TextDecoder()
  let whole = ''
  for await (const piece of pieces) whole += decoder.decode(piece, { stream: true })
  return whole
}

test('the dictionary is the one that the protocol names', () => {
  deepEqual([spdyDictionary.length, adler32(spdyDictionary)], [1423, 0xe3c6a7c2])
})

/** What another implementation writes: each message flushed. */
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

const repetitive = encode('accept-language'.repeat(400))
const varied = Uint8Array.from({ length: 40_000 }, (_, index) => (index * index * 31) >> 7)
const compressions: [name: string, options: object][] = [
  ['stored', { level: 0 }],
  ['fixed codes', { strategy: constants.Z_FIXED }],
  ['codes of its own', { level: 9 }],
  ['without matches', { strategy: constants.Z_HUFFMAN_ONLY }],
]
for (const [name, options] of compressions)
  test(`inflate reads messages of one stream: ${name}`, async () => {
    const messages = [encode('streamtype stdin'), repetitive, varied, encode('streamtype stdin'), new Uint8Array()]
    const inflate = new Inflate(spdyDictionary, 100_000)
    for (const [index, block] of (await deflated(messages, options)).entries())
      deepEqual(Buffer.from(inflate.message(block)), Buffer.from(messages[index] ?? []))
  })

test('inflate refuses what is damaged, another dictionary, and more than its bound', async () => {
  const [block = new Uint8Array()] = await deflated([repetitive], {})
  throws(() => new Inflate(spdyDictionary, 100).message(block), InflateError)
  throws(() => new Inflate(encode('other'), 100_000).message(block), /another dictionary/)
  throws(() => new Inflate(spdyDictionary, 100_000).message(Uint8Array.of(1, 2, 3)), /not a zlib stream/)
  throws(() => new Inflate(spdyDictionary, 100_000).message(block.subarray(0, 10)), /ends within a block/)
})

test('headers that we write are read by us and by others, block after block', () => {
  const [writer, reader] = [new HeaderWriter(), new HeaderReader()]
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
  ['a stream is taken', { kind: 'reply', id: 1, isLast: true, block }],
  ['headers', { kind: 'headers', id: 3, isLast: false, block }],
  ['a reset', { kind: 'reset', id: 5, code: 3 }],
  ['a ping', { kind: 'ping', id: 4_000_000_000 }],
  ['a goodbye', { kind: 'goodbye' }],
  ['the last data', { kind: 'data', id: 7, isLast: true, bytes: new Uint8Array() }],
]
for (const [name, frame] of frames)
  test(`frame: ${name}, in one piece and byte by byte`, () => {
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

test('data is handed on before its frame is whole', () => {
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

test('other versions and frames beyond the bound are refused', () => {
  throws(() => [...new SpdyFrameReader().push(Uint8Array.of(0x80, 2, 0, 1, 0, 0, 0, 0))], /not SPDY\/3/)
  throws(() => [...new SpdyFrameReader().push(Uint8Array.of(0x80, 3, 0, 1, 0, 2, 0, 0))], /more than 65536 bytes/)
})

function sessions() {
  const [near, far] = byteStreamPair(100_000)
  const [client, server] = [new SpdySession(near, 'client'), new SpdySession(far, 'server')]
  return { client, server, near, far, running: Promise.all([client.run(), server.run()]) }
}

async function accepted(session: SpdySession): Promise<SpdyStream> {
  const { value } = await session.incoming[Symbol.asyncIterator]().next()
  if (value === undefined) throw new Error('no stream came')
  return value
}

test('streams carry bytes both ways, and each way ends alone', async () => {
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

test('a stream that is given up ends at the other side, and the others go on', async () => {
  const { client, server, running } = sessions()
  const [one, one2] = await Promise.all([client.open({}), accepted(server)])
  const [two, two2] = await Promise.all([client.open({}), accepted(server)])
  one.destroy()
  equal(await textOf(one2.pieces), '')
  await rejects(one2.write(encode('nobody')), /the stream is over/)
  await two.write(encode('still here'))
  two.end()
  equal(await textOf(two2.pieces), 'still here')
  await server.close()
  await running
})

test('a lost connection ends every stream and refuses those on their way', async () => {
  const { client, server, far, running } = sessions()
  const [there] = await Promise.all([client.open({}), accepted(server)])
  far.destroy()
  equal(await textOf(there.pieces), '')
  await client.close()
  await running
})

test('pings of the other side are answered', async () => {
  const [near, far] = byteStreamPair(1000)
  const server = new SpdySession(far, 'server')
  const running = server.run()
  await near.write(encodeFrame({ kind: 'ping', id: 1 }))
  const { value } = (await near.pieces[Symbol.asyncIterator]().next()) as { value: Uint8Array }
  deepEqual([...new SpdyFrameReader().push(value)], [{ kind: 'ping', id: 1 }])
  near.end()
  await running
})

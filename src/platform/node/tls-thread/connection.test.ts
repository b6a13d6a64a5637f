import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import { realClock } from '../../../base/time/clock.ts'
import { FairTurns } from '../../../base/work/fair-turns.ts'
import { sessionOn } from '../http/http2-server.ts'
import { lingerMs } from '../socket/socket-byte-stream.ts'
import { connected } from './connection.harness.ts'
import type { StreamSocket } from './linked-stream.ts'
import { untakenBytesMax, windowBytes } from './protocol.ts'

async function whole(stream: Duplex): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}

test('bytes and strings pass in both directions', async () => {
  const { client, linked } = await connected()
  const received: string[] = []
  linked.handleWith({ receive: (bytes) => received.push(bytes.toString()) > 0, drained() {}, closed() {} })
  client.write('hello')
  while (received.length === 0) await eventLoopTurn()
  deepEqual(received, ['hello'])
  ok(linked.write(['head, ', Buffer.from('body')]))
  equal(String((await once(client, 'data'))[0]), 'head, body')
})

test('everything that was written before the end arrives', async () => {
  const { client, linked } = await connected()
  const stream = linked.stream()
  stream.resume()
  const text = 'x'.repeat(3 << 20)
  stream.end(text)
  ok((await whole(client)) === text)
})

test('bytes that the client sent before it ended can be read later', async () => {
  const { client, linked } = await connected()
  client.resume()
  const text = 'x'.repeat(3 << 20)
  const stream = linked.stream()
  client.end(text)
  // The stream is not read: what does not fit into the buffers stays with the client.
  for (let turns = 0; turns < 100; turns++) await eventLoopTurn()
  ok((await whole(stream)) === text)
})

/** Turns in which there is time for one start. */
const busyTurns = () => {
  let ms = 0
  return new FairTurns<StreamSocket>({ ...realClock, monotonicMs: () => (ms += 20) })
}

test('with turns, what a client sends is passed on in slices, and does not delay what another one sends', async () => {
  const turns = busyTurns()
  const busy = await connected()
  const calm = await connected()
  const text = 'x'.repeat(300 << 10)
  const seen = { received: 0, pieces: 0, receivedBefore: -1 }
  const stream = busy.linked.stream(turns)
  stream.on('data', ({ length }: Buffer) => {
    ok(length <= 1 << 10)
    seen.received += length
    seen.pieces++
  })
  calm.linked.stream(turns).on('data', () => (seen.receivedBefore = seen.received))
  busy.client.end(text)
  while (seen.pieces < 10) await eventLoopTurn()
  calm.client.write('hello')
  while (seen.receivedBefore < 0) await eventLoopTurn()
  ok(seen.receivedBefore < text.length / 2, `${seen.receivedBefore} bytes were passed on before`)
  // Its end comes after all of its bytes.
  await once(stream, 'end')
  equal(seen.received, text.length)
})

test('with turns, a client is not read while much of it waits', async () => {
  const { client, linked } = await connected()
  linked.stream(busyTurns()).resume()
  const paused = Promise.withResolvers<void>()
  const pause = linked.pause.bind(linked)
  linked.pause = () => {
    pause()
    paused.resolve()
  }
  client.write(Buffer.alloc(200 << 10))
  await paused.promise
})

test('a client is read only as far as the event loop takes its bytes', async () => {
  const waiting: { tag: number; bytes: Buffer }[] = []
  const received: Buffer[] = []
  const { client, linked } = await connected((tag, bytes) => waiting.push({ tag, bytes }))
  linked.handleWith({
    receive(bytes) {
      received.push(bytes)
      return false
    },
    drained() {},
    closed() {},
  })
  const sizeOf = (pieces: readonly Buffer[]) => pieces.reduce((sum, { length }) => sum + length, 0)
  const pieces = 64
  const pieceBytes = 16 << 10
  for (let sent = 0; sent < pieces; sent++) client.write(Buffer.alloc(pieceBytes))
  while (sizeOf(received) < pieces * pieceBytes) {
    for (let turns = 0; turns < 20; turns++) await eventLoopTurn()
    ok(waiting.length > 0)
    ok(sizeOf(waiting.map(({ bytes }) => bytes)) <= untakenBytesMax + pieceBytes)
    for (const { tag, bytes } of waiting.splice(0)) linked.onFrame(tag, bytes)
  }
  equal(sizeOf(received), pieces * pieceBytes)
})

test('bytes that are no longer needed are freed at once', async () => {
  const { client, linked } = await connected()
  const frees = [false, true]
  const received: Buffer[] = []
  linked.handleWith({ receive: (bytes) => frees[received.push(bytes) - 1] === true, drained() {}, closed() {} })
  for (const count of frees.keys()) {
    client.write(Buffer.alloc(16 << 10))
    while (received.length === count) await eventLoopTurn()
  }
  deepEqual(
    received.map(({ length }) => length),
    [16 << 10, 0],
  )
})

test('a client that does not read is sent one window, and more when it reads', async () => {
  const { client, linked } = await connected()
  let isDrained = false
  const drained = Promise.withResolvers<void>()
  void drained.promise.then(() => (isDrained = true))
  linked.handleWith({ receive: () => true, drained: drained.resolve, closed() {} })
  let sent = 0
  while (linked.write([Buffer.alloc(32 << 10)])) sent += 32 << 10
  ok(sent <= windowBytes)
  for (let turns = 0; turns < 100; turns++) await eventLoopTurn()
  ok(!isDrained)
  client.resume()
  await drained.promise
})

test('a destroyed connection reports its close, and sends nothing more', async () => {
  const { client, linked } = await connected()
  const closedByStream = Promise.withResolvers<void>()
  const received = Promise.withResolvers<void>()
  linked.handleWith({ receive: () => true, drained() {}, closed: closedByStream.resolve })
  linked.onClosed(received.resolve)
  linked.write(['never'])
  linked.destroy()
  client.resume()
  let sent = 0
  client.on('data', () => sent++)
  await Promise.all([closedByStream.promise, received.promise])
  equal(sent, 0)
  equal(linked.write(['nor this']), true)
})

test('progress of a long response is visible before it is complete', async () => {
  const { client, linked } = await connected()
  linked.handleWith({ receive: () => true, drained() {}, closed() {} })
  const size = 8 << 20
  linked.write([Buffer.alloc(size)])
  linked.end()
  let taken = 0
  let steps = 0
  let unsent = linked.unsentBytes
  for await (const piece of client as AsyncIterable<Buffer>) {
    taken += piece.length
    if (linked.unsentBytes < unsent) steps++
    unsent = linked.unsentBytes
    ok(unsent >= size - taken)
  }
  equal(taken, size)
  ok(steps > 4, `the unsent bytes fell ${steps} times`)
  while (linked.unsentBytes > 0) await eventLoopTurn()
})

test('a client that disconnects ends the stream', async () => {
  const { client, linked } = await connected()
  const stream = linked.stream()
  stream.on('error', () => {})
  stream.resume()
  client.end()
  client.resume()
  await once(stream, 'close')
  while (!linked.isClosed) await eventLoopTurn()
})

test('a client that does not receive what was written before the end is disconnected after a timeout', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { linked } = await connected()
  const stream = linked.stream()
  stream.end(Buffer.alloc(windowBytes / 2))
  await once(stream, 'finish')
  stream.destroy()
  for (let turns = 0; turns < 10; turns++) await eventLoopTurn()
  ok(!linked.isClosed)
  t.mock.timers.tick(lingerMs)
  ok(linked.isClosed)
})

const frame = (type: number, flags: number, stream: number, payload: readonly number[] = []): Buffer =>
  Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload])
const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)])
/** GET / of the host "a". */
const requestHeaders = [0x82, 0x87, 0x84, 0x41, 0x01, 0x61]

test('an HTTP/2 session whose client has ended may still be written to', async () => {
  const { client, linked } = await connected()
  client.resume()
  const stream = linked.stream()
  const session = sessionOn(stream)
  const errors: unknown[] = []
  session.on('error', (error) => errors.push(error))
  client.write(preface)
  await once(session, 'remoteSettings')
  for (let turns = 0; turns < 10; turns++) await eventLoopTurn()
  client.end()
  await once(stream, 'end')
  for (let turns = 0; turns < 10 && !session.destroyed; turns++) {
    session.goaway()
    await eventLoopTurn()
  }
  ok(session.destroyed)
  deepEqual(errors, [])
  while (!linked.isClosed) await eventLoopTurn()
})

for (let ticks = 0; ticks < 10; ticks++)
  test(`a stream of HTTP/2 may be closed ${ticks} ticks after its client has ended`, async () => {
    const { client, linked } = await connected()
    client.resume()
    const stream = linked.stream()
    const session = sessionOn(stream)
    session.on('error', () => {})
    client.write(Buffer.concat([preface, frame(1, 5, 1, requestHeaders)]))
    const [opened] = (await once(session, 'stream')) as [ServerHttp2Stream]
    opened.on('error', () => {})
    for (let turns = 0; turns < 10; turns++) await eventLoopTurn()
    const closeAfter = (left: number): void => {
      if (left > 0) return process.nextTick(closeAfter, left - 1)
      if (opened.destroyed) return
      // What a stream has written is sent at once when the stream is closed with an error.
      opened.respond()
      opened.write('x')
      opened.close(constants.NGHTTP2_INTERNAL_ERROR)
    }
    stream.once('end', () => closeAfter(ticks))
    client.end()
    await once(stream, 'close')
    while (!linked.isClosed) await eventLoopTurn()
  })

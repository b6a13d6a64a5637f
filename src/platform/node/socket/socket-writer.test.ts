import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair, type Duplex } from 'node:stream'
import { test } from 'node:test'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import { SocketWriter } from './socket-writer.ts'

function writerOn(socket: Duplex) {
  const drains: number[] = []
  const writer = new SocketWriter(socket, () => drains.push(writer.unsentBytes))
  return { writer, drains }
}

/** The client's end of a socket, and a writer on the other end. */
function connected() {
  const [client, socket] = duplexPair()
  return { client, socket, ...writerOn(socket) }
}

async function whole(stream: Duplex): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece)
  return Buffer.concat(pieces)
}

test('all writes of one turn become one write to the socket at its end', async () => {
  const { client, socket, writer } = connected()
  ok(writer.write(['a', Buffer.from('b')]))
  ok(writer.write(['\xff']))
  deepEqual([socket.writableLength, writer.unsentBytes], [0, 3])
  const [piece] = (await once(client, 'data')) as [Buffer]
  equal(piece.toString('latin1'), 'ab\xff')
})

test('a long response arrives complete and in order, and its unsent bytes decrease as the client reads', async () => {
  const { client, socket, writer, drains } = connected()
  const body = Buffer.from(Uint32Array.from({ length: 1 << 20 }, (_, index) => index).buffer)
  equal(writer.write(['head ', body]), false)
  ok(socket.writableLength < body.length / 2)
  equal(writer.write([' tail']), false)
  const amounts = new Set<number>()
  const received: Buffer[] = []
  client.on('data', (piece: Buffer) => {
    received.push(piece)
    amounts.add(writer.unsentBytes)
  })
  while (drains.length === 0) await eventLoopTurn()
  ok(amounts.size > 8, `${amounts.size} different amounts were unsent`)
  ok(Buffer.concat(received).equals(Buffer.concat([Buffer.from('head '), body, Buffer.from(' tail')])))
  equal(writer.unsentBytes, 0)
})

test('the socket ends after everything that was written', async () => {
  const { client, socket, writer, drains } = connected()
  writer.write([Buffer.alloc(2 << 20), 'end'])
  writer.end()
  equal(socket.writableEnded, false)
  const received = await whole(client)
  equal(received.length, (2 << 20) + 3)
  equal(received.subarray(-3).toString(), 'end')
  ok(drains.length > 0)
})

test('a socket without anything to send ends at once', () => {
  const { socket, writer } = connected()
  writer.end()
  ok(socket.writableEnded)
})

test('a detached socket has everything that was written, and its events are no longer reported', async () => {
  const { client, socket, writer, drains } = connected()
  writer.write([Buffer.alloc(1 << 20)])
  writer.detach()
  socket.end('more')
  equal((await whole(client)).length, (1 << 20) + 4)
  deepEqual(drains, [])
})

test('nothing is written to a socket that was destroyed', async () => {
  const { socket, writer } = connected()
  writer.write(['a'])
  socket.destroy()
  await eventLoopTurn()
  equal(socket.writableLength, 0)
})

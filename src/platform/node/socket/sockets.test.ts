import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ByteStream } from '../../http/byte-stream.ts'
import type { Peer } from '../../sockets/sockets.ts'
import { nodeSockets } from './sockets.ts'

const { signal } = new AbortController()
const host = '127.0.0.1'
const port = 0
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const bytesOf = (characters: string) => new TextEncoder().encode(characters)
const ignored = { onDatagram: () => {}, onUnreachable: () => {} }

describe('datagrams', () => {
  for (const address of ['127.0.0.1', '::1'])
    test(`a server on ${address} responds to a connected socket`, async () => {
      const server = await nodeSockets.bindDatagrams({
        host: address,
        port,
        onDatagram: (bytes, from) => server.send(bytesOf(`${text(bytes)} back`), from),
      })
      const { promise, resolve } = Promise.withResolvers<string>()
      const client = await nodeSockets.connectDatagrams(
        { address, port: server.port },
        { ...ignored, onDatagram: (bytes) => resolve(text(bytes)) },
      )
      client.send(bytesOf('there and'))
      equal(await promise, 'there and back')
      client.close()
      server.close()
    })

  test('a datagram that cannot be sent is reported', async () => {
    const server = await nodeSockets.bindDatagrams({ host, port, onDatagram: () => {} })
    const { promise: reported, resolve } = Promise.withResolvers<void>()
    const client = await nodeSockets.connectDatagrams(
      { address: host, port: server.port },
      { ...ignored, onUnreachable: resolve },
    )
    client.send(new Uint8Array(70_000))
    await reported
    client.close()
    server.close()
  })

  test('a connected socket receives nothing from others', async () => {
    const received: string[] = []
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const { promise: source, resolve: foundSource } = Promise.withResolvers<Peer>()
    const server = await nodeSockets.bindDatagrams({ host, port, onDatagram: (_, from) => foundSource(from) })
    const stranger = await nodeSockets.bindDatagrams({ host, port, onDatagram() {} })
    const client = await nodeSockets.connectDatagrams(
      { address: host, port: server.port },
      {
        ...ignored,
        onDatagram(bytes) {
          received.push(text(bytes))
          resolve()
        },
      },
    )
    client.send(bytesOf('hello'))
    const from = await source
    stranger.send(bytesOf('forged'), from)
    server.send(bytesOf('true'), from)
    await done
    deepEqual(received, ['true'])
    for (const socket of [client, stranger, server]) socket.close()
  })

  test('a port on which nothing listens is reported', async () => {
    const closed = await nodeSockets.bindDatagrams({ host, port, onDatagram() {} })
    closed.close()
    const { promise, resolve } = Promise.withResolvers<void>()
    const client = await nodeSockets.connectDatagrams(
      { address: host, port: closed.port },
      { ...ignored, onUnreachable: resolve },
    )
    client.send(bytesOf('hello'))
    await promise
    client.close()
  })

  test('closed sockets ignore further calls', async () => {
    const server = await nodeSockets.bindDatagrams({ host, port, onDatagram() {} })
    const client = await nodeSockets.connectDatagrams({ address: host, port: server.port }, ignored)
    client.close()
    client.close()
    client.send(bytesOf('late'))
    server.close()
    server.close()
    server.send(bytesOf('late'), { address: host, port: 9 })
  })

  test('a port that is in use is an error', async () => {
    const server = await nodeSockets.bindDatagrams({ host, port, onDatagram() {} })
    await rejects(nodeSockets.bindDatagrams({ host, port: server.port, onDatagram() {} }), { code: 'EADDRINUSE' })
    server.close()
  })
})

async function firstText({ pieces }: ByteStream): Promise<string> {
  for await (const piece of pieces) return text(piece)
  return ''
}

async function respond(stream: ByteStream, address: string): Promise<void> {
  const { value } = await stream.pieces[Symbol.asyncIterator]().next()
  await stream.write(bytesOf(`${text(value as Uint8Array)} from ${address}`))
  stream.end()
}

describe('streams', () => {
  test('a stream carries bytes in both directions', async () => {
    const listener = await nodeSockets.listenStreams({
      host,
      port,
      connectionsMax: 2,
      connectionsPerClientMax: 2,
      onConnection: (stream, { address }) => void respond(stream, address),
    })
    const stream = await nodeSockets.connectStream({ address: host, port: listener.port }, signal)
    await stream.write(bytesOf('hello'))
    equal(await firstText(stream), 'hello from 127.0.0.1')
    await listener.close()
  })

  test('connections beyond the limit are closed', async () => {
    const open: ByteStream[] = []
    const limits = { connectionsMax: 10, connectionsPerClientMax: 1 }
    const { promise: accepted, resolve } = Promise.withResolvers<void>()
    const listener = await nodeSockets.listenStreams({
      host,
      port,
      ...limits,
      onConnection(stream) {
        open.push(stream)
        resolve()
      },
    })
    await nodeSockets.connectStream({ address: host, port: listener.port }, signal)
    await accepted
    const second = await nodeSockets.connectStream({ address: host, port: listener.port }, signal)
    await firstText(second).catch(() => '')
    equal(open.length, 1)
    await listener.close()
  })

  test('a connection that is refused is an error', async () => {
    const listener = await nodeSockets.listenStreams({
      host,
      port,
      connectionsMax: 1,
      connectionsPerClientMax: 1,
      onConnection: () => {},
    })
    await listener.close()
    await rejects(nodeSockets.connectStream({ address: host, port: listener.port }, signal), { code: 'ECONNREFUSED' })
  })

  test('an aborted signal ends the attempt', async () => {
    const reason = new Error('no longer needed')
    const error: unknown = await nodeSockets
      .connectStream({ address: host, port: 9 }, AbortSignal.abort(reason))
      .catch((caught: unknown) => caught)
    ok(error === reason)
  })
})

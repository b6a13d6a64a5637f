// HTTP/2 without TLS, with prior knowledge, beside HTTP/1.1 on one port.
import { deepEqual, equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { test } from 'node:test'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import { realClock } from '../../../base/time/clock.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { plainProtocolOf } from '../socket/protocol-detection.ts'
import { createListeners } from './listener.ts'

async function listen() {
  const clock = new VirtualClock(realClock.nowMs())
  const listener = await createListeners(clock).listen({
    host: '127.0.0.1',
    port: 0,
    acceptsH2c: true,
    limits: { handshakeMsMax: 5_000 },
    handle: ({ method, target, headers }) => ({
      status: 200,
      headers: {},
      body: `${method} ${target} ${headers[':authority'] ?? headers['host']}`,
    }),
  })
  return { port: listener.port, clock, [Symbol.asyncDispose]: () => listener.close(0) }
}

test('a client with prior knowledge and one of HTTP/1.1 are served on one port', async () => {
  await using server = await listen()
  const session = connectHttp2(`http://127.0.0.1:${server.port}`)
  const texts = await Promise.all(
    ['/a', '/b'].map(async (path) => {
      const stream = session.request({ ':path': path, ':authority': 'x' })
      let text = ''
      for await (const piece of stream as AsyncIterable<Buffer>) text += piece.toString()
      return text
    }),
  )
  deepEqual(texts, ['GET /a x', 'GET /b x'])
  session.close()
  const sent = request({ host: '127.0.0.1', port: server.port, path: '/c', headers: { host: 'y' }, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>]
  let text = ''
  for await (const piece of response) text += piece.toString()
  equal(text, 'GET /c y')
})

test('the first bytes of a request may arrive one by one', async () => {
  await using server = await listen()
  const socket = connect({ host: '127.0.0.1', port: server.port, noDelay: true })
  await once(socket, 'connect')
  for (const byte of 'PUT / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n') socket.write(byte)
  let text = ''
  for await (const piece of socket as AsyncIterable<Buffer>) text += piece.toString()
  match(text, /PUT \/ x$/)
})

test('a connection without bytes is closed', async () => {
  await using server = await listen()
  const socket = connect({ host: '127.0.0.1', port: server.port })
  const closed = once(socket.resume(), 'close')
  await once(socket, 'connect')
  while (!socket.destroyed) {
    await server.clock.advance(1_000)
    await eventLoopTurn()
  }
  await closed
})

test('the protocol is known from the first bytes', () => {
  const known = (text: string) => plainProtocolOf(new TextEncoder().encode(text))
  deepEqual(['', 'P', 'PRI', 'PRI ', 'PRI * HTTP/2.0', 'POST', 'GET /'].map(known), [
    ...[undefined, undefined, undefined, 'http2', 'http2', 'http1', 'http1'],
  ])
})

// WebSocket: frames in pieces of any size, invalid frames, and the channels of Kubernetes.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { byteStreamPair, copyStream } from '../byte-pipe.ts'
import { WebSocketChannels } from './websocket-channels.ts'
import { webSocketTunnel, WebSocketConnection } from './websocket-connection.ts'
import { encodeMessage, WebSocketError, type WebSocketMessage } from './websocket-frame.ts'
import { WebSocketReader } from './websocket-reader.ts'
import { isWebSocketUpgrade, offeredWebSocketProtocols, webSocketUpgradeHeaders } from './websocket-handshake.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const mask = Uint8Array.of(1, 2, 3, 4)
const seen = (message: WebSocketMessage) =>
  message.kind === 'close' ? [message.kind, message.code, message.reason] : [message.kind, decode(message.bytes)]

const messages: [name: string, message: WebSocketMessage][] = [
  ['empty', { kind: 'binary', bytes: new Uint8Array() }],
  ['text', { kind: 'text', bytes: encode('grüße') }],
  ['a length of two bytes', { kind: 'binary', bytes: encode('x'.repeat(126)) }],
  ['a length of eight bytes', { kind: 'binary', bytes: encode('y'.repeat(70_001)) }],
  ['a ping', { kind: 'ping', bytes: encode('p') }],
  ['a close', { kind: 'close', code: 1000, reason: 'done' }],
  ['a close without a code', { kind: 'close', code: 1005, reason: '' }],
]
for (const [name, message] of messages)
  test(`message: ${name}, masked and not, whole and in pieces`, () => {
    deepEqual([...new WebSocketReader('client').push(encodeMessage(message, mask))].map(seen), [seen(message)])
    const bytes = encodeMessage(message)
    const reader = new WebSocketReader('server')
    const parts = [bytes.subarray(0, 1), bytes.subarray(1, 3), bytes.subarray(3)]
    deepEqual(parts.flatMap((part) => [...reader.push(part)]).map(seen), [seen(message)])
  })

test('fragments are assembled to one message, also with a ping between them', () => {
  const bytes = [0x02, 2, 97, 98, 0x89, 0, 0x00, 1, 99, 0x80, 0]
  deepEqual([...new WebSocketReader('server').push(Uint8Array.from(bytes))].map(seen), [
    ['ping', ''],
    ['binary', 'abc'],
  ])
})

const broken: [name: string, bytes: number[], code: number][] = [
  ['a client that does not mask', [0x82, 0], 1002],
  ['reserved bits', [0xc2, 0x80, 0, 0, 0, 0], 1002],
  ['an unknown opcode', [0x83, 0x80, 0, 0, 0, 0], 1002],
  ['a fragmented ping', [0x09, 0x80, 0, 0, 0, 0], 1002],
  ['a continuation without a start', [0x80, 0x80, 0, 0, 0, 0], 1002],
  ['a message that is too long', [0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], 1009],
]
for (const [name, bytes, code] of broken)
  test(`rejected: ${name}`, () => {
    throws(
      () => [...new WebSocketReader('client').push(Uint8Array.from(bytes))],
      (error) => error instanceof WebSocketError && error.code === code,
    )
  })

test('the handshake follows the standard', () => {
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'a, b',
  }
  equal(isWebSocketUpgrade(headers), true)
  equal(isWebSocketUpgrade({ upgrade: 'SPDY/3.1' }), false)
  deepEqual(offeredWebSocketProtocols(headers), ['a', 'b'])
  deepEqual(
    webSocketUpgradeHeaders(headers, 'a', (text) => createHash('sha1').update(text).digest()),
    {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      'sec-websocket-protocol': 'a',
    },
  )
})

function connections() {
  const [near, far] = byteStreamPair(100_000)
  return { client: new WebSocketConnection(near, () => mask), server: new WebSocketConnection(far), near, far }
}

const textOf = async (pieces: AsyncIterable<Uint8Array>) => {
  const parts: Uint8Array[] = []
  for await (const piece of pieces) parts.push(piece)
  return decode(Buffer.concat(parts))
}

test('a tunnel forwards bytes of any length, and a close ends both sides', async () => {
  const { client, server } = connections()
  const near = webSocketTunnel(client)
  const far = webSocketTunnel(server)
  const echo = copyStream(far.pieces, far)
  const long = 'z'.repeat(200_000)
  const writing = near.write(encode(long))
  let bytes = 0
  for await (const piece of near.pieces) if ((bytes += piece.length) === long.length) near.end()
  equal(bytes, long.length)
  await Promise.all([writing, echo])
  await rejects(near.write(encode('late')), /being closed/)
})

test('a client that violates the protocol gets a close frame with the reason', async () => {
  const { server, near } = connections()
  const reading = textOf(webSocketTunnel(server).pieces)
  await near.write(Uint8Array.of(0x82, 0))
  const received: unknown[] = []
  const reader = new WebSocketReader('server')
  for await (const piece of near.pieces) received.push(...[...reader.push(piece)].map(seen))
  near.end()
  await rejects(reading, WebSocketError)
  deepEqual(received, [['close', 1002, 'a frame is masked wrongly']])
})

for (const encoding of ['binary', 'base64'] as const)
  test(`channels: ${encoding}: several streams, and the end of one`, async () => {
    const { client, server } = connections()
    const channels = new WebSocketChannels(server, encoding)
    const stdin = channels.channel(0)
    const stdout = channels.channel(1)
    const running = channels.run()
    if (encoding === 'binary') {
      await client.sendBinary(encode('in'), Uint8Array.of(0))
      await client.sendBinary(encode('unused channel'), Uint8Array.of(9))
      await client.sendBinary(Uint8Array.of(255, 0))
    } else {
      await client.sendText(`0${btoa('in')}`)
      await client.sendText(`9${btoa('unused channel')}`)
      await client.close()
    }
    equal(await textOf(stdin.pieces), 'in', 'the stream has ended')
    if (encoding === 'binary') {
      await stdout.write(encode('out'))
      stdout.end()
      await rejects(stdout.write(encode('late')), /the channel has ended/)
      await channels.close()
      await client.close()
      const received: string[] = []
      for await (const { bytes } of client.messages()) received.push(decode(bytes))
      deepEqual(received, ['\u0001out'])
    }
    await running
  })

test('a server sends base64 as text after the digit of its channel', async () => {
  const { client, server } = connections()
  const channels = new WebSocketChannels(server, 'base64')
  await channels.channel(2).write(encode('err'))
  await channels.close()
  const received: string[] = []
  for await (const { kind, bytes } of client.messages()) received.push(`${kind} ${decode(bytes)}`)
  deepEqual(received, [`text 2${btoa('err')}`])
})

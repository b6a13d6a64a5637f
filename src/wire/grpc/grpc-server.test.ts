// What a served call answers, to our client and to requests that no client of ours would send.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import { createListeners } from '../../platform/node/http/listener.ts'
import { encodeProto } from '../protobuf/encode-proto.ts'
import { protoMessage, singular } from '../protobuf/proto-message.ts'
import { GrpcChannel, grpcMethod, noMetadata } from './grpc-channel.ts'
import { frame } from './grpc-frame.ts'
import { grpcHandler, isGrpc, streamRoute, unaryRoute } from './grpc-server.ts'
import { GrpcError, type GrpcCode } from './grpc-status.ts'

const { signal } = new AbortController()
const note = protoMessage('Note', { text: singular(1, 'string') })
const method = (name: string) => grpcMethod('test.Notes', name, note, note)
const messageBytesMax = 100_000

async function serve(left: () => void = () => {}) {
  const handle = grpcHandler(
    [
      unaryRoute(method('Echo'), ({ text }, { bytes }) => ({ text: `${text} of ${bytes}` })),
      unaryRoute(method('Fail'), ({ text }) => {
        throw new GrpcError('x', 'NOT_FOUND', `no “${text}”: 100%`)
      }),
      unaryRoute(method('Crash'), () => {
        throw new Error('unexpected')
      }),
      streamRoute(method('Chat'), async ({ messages, send }) => {
        for await (const { text } of messages) {
          if (text === 'fail') throw new GrpcError('x', 'ABORTED', 'as asked')
          send({ text: `${text}!` })
        }
      }),
      streamRoute(method('Flood'), async (stream) => {
        let most = 0
        for (let sent = 0; sent < 5_000; sent++) {
          if (stream.waitingBytes > 10_000) await new Promise<void>((resolve) => stream.onRoom(resolve))
          stream.send({ text: String(sent).padEnd(1_000) })
          most = Math.max(most, stream.waitingBytes)
        }
        stream.send({ text: String(most) })
      }),
      streamRoute(method('Wait'), async ({ messages, send }) => {
        send({ text: 'waiting' })
        try {
          for await (const _ of messages) continue
        } finally {
          left()
        }
      }),
    ],
    messageBytesMax,
  )
  const listener = await createListeners(realClock).listen({
    host: '127.0.0.1',
    port: 0,
    acceptsH2c: true,
    handle: (request) => (isGrpc(request) ? handle(request) : { status: 415, headers: {}, body: '' }),
  })
  const endpoint = `http://127.0.0.1:${listener.port}`
  const channel = new GrpcChannel({ http2: nodeHttp2, clock: realClock, endpoint })
  return {
    endpoint,
    channel,
    call: async (name: string, text: string) => (await channel.unary(method(name), { text }, noMetadata, signal)).text,
    async [Symbol.asyncDispose]() {
      channel.close()
      await listener.close(0)
    },
  }
}

test('unary calls on one connection are answered', async () => {
  await using served = await serve()
  const texts = await Promise.all(Array.from({ length: 300 }, (_, index) => served.call('Echo', String(index))))
  deepEqual(
    texts,
    texts.map((_, index) => `${index} of ${2 + String(index).length}`),
  )
})

const failures: readonly [name: string, text: string, code: GrpcCode, details: RegExp][] = [
  ['Fail', 'note', 'NOT_FOUND', /^no “note”: 100%$/],
  ['Crash', '', 'UNKNOWN', /^unexpected$/],
  ['Nothing', '', 'UNIMPLEMENTED', /^unknown method Nothing for service test.Notes$/],
  ['Echo', 'x'.repeat(messageBytesMax), 'RESOURCE_EXHAUSTED', /larger than/],
]
for (const [name, text, code, details] of failures)
  test(`a call ends with ${code}: ${name}`, async () => {
    await using served = await serve()
    await rejects(served.call(name, text), (error: Error) => {
      ok(error instanceof GrpcError, String(error))
      equal(error.code, code)
      match(error.details, details)
      return true
    })
    equal(await served.call('Echo', ''), ' of 0')
  })

/** The status of a request with this body, from trailers or headers. */
async function statusOf(endpoint: string, path: string, body: Uint8Array): Promise<string> {
  const session = connect(endpoint)
  try {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc+proto' })
    let status: unknown
    stream.on('response', (headers) => (status ??= headers['grpc-status']))
    stream.on('trailers', (trailers) => (status ??= trailers['grpc-status']))
    stream.end(body)
    for await (const _ of stream as AsyncIterable<Buffer>) continue
    return String(status)
  } finally {
    session.close()
  }
}

const message = frame(encodeProto(note, { text: 'x' }))
const requests: readonly [name: string, path: string, body: Uint8Array, status: string][] = [
  ['one message', '/test.Notes/Echo', message, '0'],
  ['no message', '/test.Notes/Echo', new Uint8Array(), '13'],
  ['two messages', '/test.Notes/Echo', Buffer.concat([message, message]), '13'],
  ['a compressed message', '/test.Notes/Echo', Uint8Array.of(1, 0, 0, 0, 0), '13'],
  ['a message that cannot be read', '/test.Notes/Echo', frame(Uint8Array.of(0xff)), '13'],
  ['a message that cannot be read, in a stream', '/test.Notes/Chat', frame(Uint8Array.of(0xff)), '13'],
  ['another service', '/test.Other/Echo', message, '12'],
]
for (const [name, path, body, status] of requests)
  test(`a request with ${name} has status ${status}`, async () => {
    await using served = await serve()
    equal(await statusOf(served.endpoint, path, body), status)
  })

test('a stream has messages in both directions and ends with the status of the server', async () => {
  await using served = await serve()
  const { send, endSending, messages } = await served.channel.duplex(method('Chat'), noMetadata, signal)
  const seen: string[] = []
  await send({ text: '0' })
  for await (const { text } of messages) {
    seen.push(text)
    if (seen.length < 3) await send({ text: String(seen.length) })
    else endSending()
  }
  deepEqual(seen, ['0!', '1!', '2!'])
  const failing = await served.channel.duplex(method('Chat'), noMetadata, signal)
  await failing.send({ text: 'fail' })
  await rejects(
    async () => {
      for await (const _ of failing.messages) continue
    },
    (error: Error) => error instanceof GrpcError && error.code === 'ABORTED' && error.details === 'as asked',
  )
})

test('a server that waits for room keeps few bytes', async () => {
  await using served = await serve()
  const texts: string[] = []
  for await (const { text } of served.channel.serverStream(method('Flood'), {}, noMetadata, signal)) texts.push(text)
  equal(texts.length, 5_001)
  ok(Number(texts.at(-1)) < 20_000, `${texts.at(-1)} bytes`)
})

test('the messages of a stream end when its client has left', async () => {
  const left = Promise.withResolvers<void>()
  await using served = await serve(left.resolve)
  const call = await served.channel.duplex(method('Wait'), noMetadata, signal)
  for await (const { text } of call.messages) {
    equal(text, 'waiting')
    break
  }
  await left.promise
})

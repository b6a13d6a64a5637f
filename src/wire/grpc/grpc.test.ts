// Calls over real connections: how they succeed, and every way in which they can fail.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { systemRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Authority } from '../../pki/authority.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import { decodeProto } from '../protobuf/decode-proto.ts'
import { encodeProto } from '../protobuf/encode-proto.ts'
import { singular, protoMessage } from '../protobuf/proto-message.ts'
import { GrpcChannel, grpcMethod, noMetadata, type GrpcChannelOptions } from './grpc-channel.ts'
import { frame, FrameReader } from './grpc-frame.ts'
import { serveGrpc, type ServedCall, type ServedMethods, type ServeOptions } from './grpc-server.harness.ts'
import { GrpcError, type GrpcCode } from './grpc-status.ts'

const { signal } = new AbortController()
const note = protoMessage('Note', { text: singular(1, 'string') })
const method = (name: string) => grpcMethod('test.Notes', name, note, note)
const bytes = (text: string) => encodeProto(note, { text })
const textOf = (message: Uint8Array) => decodeProto(note, message).text

/** A server and a channel to it. */
async function connected(
  methods: ServedMethods,
  options: Partial<GrpcChannelOptions> = {},
  serving: ServeOptions = {},
) {
  const server = await serveGrpc(methods, serving)
  const channel = new GrpcChannel({ http2: nodeHttp2, clock: realClock, endpoint: server.endpoint, ...options })
  return {
    server,
    channel,
    call: async (name: string, text = '') => (await channel.unary(method(name), { text }, noMetadata, signal)).text,
    async [Symbol.asyncDispose]() {
      channel.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const failsWith =
  (code: GrpcCode, details: RegExp, unprocessed = false) =>
  (error: Error): boolean => {
    ok(error instanceof GrpcError, String(error))
    equal(error.code, code, error.message)
    match(error.details, details)
    equal(error.unprocessed, unprocessed, 'unprocessed')
    return true
  }

const echo = async (call: ServedCall) => {
  for await (const message of call.messages) call.send(bytes(`${textOf(message)}!`))
  call.finish(0)
}

test('a unary call sends metadata and a message, and gets one back', async () => {
  await using under = await connected({
    async '/test.Notes/Hello'(call) {
      for await (const message of call.messages)
        call.send(bytes(`${textOf(message)} ${String(call.headers['x-who'])} ${String(call.headers['content-type'])}`))
      call.finish(0)
    },
  })
  const response = await under.channel.unary(method('Hello'), { text: 'hi' }, { 'x-who': 'me' }, signal)
  equal(response.text, 'hi me application/grpc')
})

test('many calls at once share one connection', async () => {
  await using under = await connected({ '/test.Notes/Echo': echo })
  const responses = await Promise.all(Array.from({ length: 500 }, (_, i) => under.call('Echo', String(i))))
  deepEqual(
    responses,
    Array.from({ length: 500 }, (_, i) => `${i}!`),
  )
  equal(under.server.connections, 1)
})

test('a large message is received and sent in pieces', async () => {
  await using under = await connected({ '/test.Notes/Echo': echo })
  const large = 'x'.repeat(5_000_000)
  equal((await under.call('Echo', large)).length, large.length + 1)
})

const respondRaw = (headers: object, body?: Uint8Array) => (call: ServedCall) => {
  call.stream.respond({ ...headers }, { endStream: body === undefined })
  if (body !== undefined) call.stream.end(body)
}

const failures: readonly [name: string, serve: (call: ServedCall) => unknown, code: GrpcCode, details: RegExp][] = [
  ['a status with a message', (call) => call.finish(5, 'no note “a”: 100%'), 'NOT_FOUND', /^no note “a”: 100%$/],
  [
    'a status without anything else',
    respondRaw({ ':status': 200, 'grpc-status': '7', 'grpc-message': 'no' }),
    'PERMISSION_DENIED',
    /^no$/,
  ],
  ['an unknown status', (call) => call.finish(99), 'UNKNOWN', /^$/],
  [
    'a message of the wrong encoding is shown',
    respondRaw({ ':status': 200, 'grpc-status': '2', 'grpc-message': '%zz' }),
    'UNKNOWN',
    /^%zz$/,
  ],
  ['OK without a message', (call) => call.finish(0), 'INTERNAL', /has no message/],
  ['no status', respondRaw({ ':status': 200 }, frame(bytes('x'))), 'INTERNAL', /without a status/],
  [
    'a response of a proxy',
    respondRaw({ ':status': 503 }, new TextEncoder().encode('<html>')),
    'UNAVAILABLE',
    /HTTP 503/,
  ],
  ['a reset', (call) => call.stream.close(0xb), 'RESOURCE_EXHAUSTED', /reset|closed/i],
  [
    'a truncated message',
    (call) => {
      call.send(bytes('x'))
      call.stream.write(Uint8Array.of(0, 0, 0))
      call.finish(0)
    },
    'INTERNAL',
    /within a message/,
  ],
  [
    'a compressed message',
    (call) => {
      call.send(bytes(''))
      call.stream.write(Uint8Array.of(1, 0, 0, 0, 0))
    },
    'INTERNAL',
    /compressed/,
  ],
  ['a message too large', (call) => call.send(bytes('x'.repeat(1_001))), 'RESOURCE_EXHAUSTED', /larger than 1000/],
  ['a message that cannot be read', (call) => call.send(Uint8Array.of(0xff)), 'INTERNAL', /truncated/],
  ['a connection that breaks', (call) => call.stream.session?.destroy(), 'UNAVAILABLE', /./],
]
for (const [name, serve, code, details] of failures)
  test(`a call fails: ${name}: ${code}`, async () => {
    await using under = await connected(
      { '/test.Notes/Fail': serve, '/test.Notes/Echo': echo },
      { messageBytesMax: 1_000 },
    )
    await rejects(under.call('Fail'), failsWith(code, details))
    equal(await under.call('Echo', 'after'), 'after!')
  })

test('a call whose stream the server refused is unprocessed', async () => {
  await using under = await connected({ '/test.Notes/Fail': (call) => call.stream.close(7) })
  await rejects(under.call('Fail'), failsWith('UNAVAILABLE', /./, true))
})

test('without a listener a call fails as unavailable and unprocessed', async () => {
  const { endpoint } = await (async () => {
    await using server = await serveGrpc({})
    return server
  })()
  const channel = new GrpcChannel({ http2: nodeHttp2, clock: realClock, endpoint })
  await rejects(
    channel.unary(method('Echo'), {}, noMetadata, signal),
    failsWith('UNAVAILABLE', /cannot connect.*ECONNREFUSED/, true),
  )
  channel.close()
  await rejects(channel.unary(method('Echo'), {}, noMetadata, signal), failsWith('UNAVAILABLE', /is closed/, true))
})

test('after GOAWAY new calls use a new connection and the old one completes its calls', async () => {
  const release = Promise.withResolvers<void>()
  await using under = await connected({
    '/test.Notes/Echo': echo,
    async '/test.Notes/Slow'(call) {
      call.stream.session?.goaway(0, call.stream.id ?? 0)
      await release.promise
      call.send(bytes('slow'))
      call.finish(0)
    },
  })
  equal(await under.call('Echo', 'a'), 'a!')
  const slow = under.call('Slow')
  while (under.server.connections < 2) equal(await under.call('Echo', 'b'), 'b!')
  release.resolve()
  equal(await slow, 'slow')
})

test('a lost connection is replaced', async () => {
  await using under = await connected({ '/test.Notes/Echo': echo })
  for (let i = 0; i < 3; i++) {
    equal(await under.call('Echo', 'a'), 'a!')
    const [session] = under.server.sessions
    session?.destroy()
    if (session !== undefined && !session.destroyed) await once(session, 'close')
    // The client may not have noticed the loss: then this call fails, and the next one opens a new connection.
    await under
      .call('Echo', 'lost')
      .catch((error: unknown) => ok(error instanceof GrpcError && error.code === 'UNAVAILABLE'))
  }
})

test('a server stream is read message by message', async () => {
  await using under = await connected({
    '/test.Notes/Count': (call) => {
      for (let i = 0; i < 1_000; i++) call.send(bytes(String(i)))
      call.finish(3, 'enough')
    },
  })
  const seen: string[] = []
  const reading = (async () => {
    for await (const { text } of under.channel.serverStream(method('Count'), {}, noMetadata, signal)) seen.push(text)
  })()
  await rejects(reading, failsWith('INVALID_ARGUMENT', /enough/))
  deepEqual(
    seen,
    Array.from({ length: 1_000 }, (_, i) => String(i)),
  )
})

test('a duplex call exchanges messages until both sides end', async () => {
  await using under = await connected({ '/test.Notes/Echo': echo })
  const { send, endSending, messages } = await under.channel.duplex(method('Echo'), noMetadata, signal)
  const seen: string[] = []
  await send({ text: '0' })
  for await (const { text } of messages) {
    seen.push(text)
    if (seen.length < 3) await send({ text: String(seen.length) })
    else endSending()
  }
  deepEqual(seen, ['0!', '1!', '2!'])
})

test('a slow reader applies backpressure to the server and receives every message', async () => {
  let sent = 0
  const stuck = Promise.withResolvers<void>()
  await using under = await connected({
    async '/test.Notes/Flood'(call) {
      for (; sent < 20_000; sent++)
        if (!call.send(bytes('x'.repeat(1_000)))) {
          stuck.resolve()
          await once(call.stream, 'drain')
        }
      call.finish(0)
    },
  })
  const stream = under.channel.serverStream(method('Flood'), {}, noMetadata, signal)
  await stream.next()
  await stuck.promise
  await under.channel.unary(method('None'), {}, noMetadata, signal).catch(() => {})
  ok(sent < 10_000, `${sent} messages were sent to a reader that took one`)
  let seen = 1
  for await (const _ of stream) seen++
  equal(seen, 20_000)
})

test('a slow server applies backpressure to the sender', async () => {
  const go = Promise.withResolvers<void>()
  let received = 0
  await using under = await connected({
    async '/test.Notes/Sink'(call) {
      await go.promise
      for await (const _ of call.messages) received++
      call.finish(0)
    },
  })
  const { send, endSending, messages } = await under.channel.duplex(method('Sink'), noMetadata, signal)
  let sent = 0
  const sending = (async () => {
    for (; sent < 500; sent++) await send({ text: 'x'.repeat(10_000) })
    endSending()
  })()
  await under.channel.unary(method('None'), {}, noMetadata, signal).catch(() => {})
  ok(sent < 400, `${sent} of 500 messages were accepted without a reader`)
  go.resolve()
  await sending
  for await (const _ of messages) ok(false, 'nothing was sent back')
  equal(received, 500)
})

test('an abort rejects with its reason and cancels the call at the server', async () => {
  const closed = Promise.withResolvers<number>()
  const arrived = Promise.withResolvers<void>()
  await using under = await connected({
    '/test.Notes/Hang': ({ stream }) => {
      arrived.resolve()
      stream.on('close', () => closed.resolve(stream.rstCode))
    },
  })
  const impatient = new AbortController()
  const call = under.channel.unary(method('Hang'), {}, noMetadata, impatient.signal)
  await arrived.promise
  impatient.abort(new Error('too late'))
  await rejects(call, /too late/)
  equal(await closed.promise, 8)
  await rejects(under.channel.unary(method('Hang'), {}, noMetadata, impatient.signal), /too late/)
})

test('an abort ends a stream with its reason; leaving the iteration cancels the call', async () => {
  const resets: number[] = []
  const closed = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using under = await connected({
    '/test.Notes/Drip': (call) => {
      call.send(bytes('one'))
      call.stream.on('close', () => closed[resets.push(call.stream.rstCode) - 1]?.resolve())
    },
  })
  const impatient = new AbortController()
  const read = async () => {
    for await (const _ of under.channel.serverStream(method('Drip'), {}, noMetadata, impatient.signal))
      impatient.abort(new Error('enough'))
  }
  await rejects(read(), /enough/)
  await closed[0]?.promise
  for await (const { text } of under.channel.serverStream(method('Drip'), {}, noMetadata, signal)) {
    equal(text, 'one')
    break
  }
  await closed[1]?.promise
  deepEqual(resets, [8, 8])
})

test('mutual TLS authenticates both sides', async () => {
  const parts = { clock: realClock, random: systemRandom, crypto: nodeCrypto }
  const authority = Authority.create('ca', parts)
  const stranger = Authority.create('stranger', parts)
  const subject = { commonName: 'x', organizations: [] }
  const server = authority.issue({ subject, uses: ['server'], addresses: ['127.0.0.1'] })
  const client = authority.issue({ subject, uses: ['client'] })
  const other = stranger.issue({ subject, uses: ['client'] })
  const serving = { tls: { key: server.key, cert: server.certificate, ca: authority.certificate } }
  const trusted = { authority: authority.certificate, certificate: client.certificate, key: client.key }
  const attempts = [
    ['fine', trusted, undefined],
    ['a server of another authority', { ...trusted, authority: stranger.certificate }, /unable to|self.signed/],
    ['a client of another authority', { ...trusted, certificate: other.certificate, key: other.key }, /./],
    ['a client without a certificate', { authority: authority.certificate }, /./],
  ] as const
  for (const [name, tls, refusal] of attempts) {
    await using under = await connected({ '/test.Notes/Echo': echo }, { tls }, serving)
    if (refusal === undefined) equal(await under.call('Echo', name), `${name}!`)
    else
      await rejects(under.call('Echo', name), (error: Error) => {
        ok(error instanceof GrpcError && error.code === 'UNAVAILABLE', `${name}: ${error}`)
        match(error.details, refusal)
        return true
      })
  }
})

test('a unix socket can be used', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-grpc-'))
  await using under = await connected({ '/test.Notes/Echo': echo }, {}, { path: join(directory, 'socket') })
  equal(await under.call('Echo', 'a'), 'a!')
  const none = new GrpcChannel({ http2: nodeHttp2, clock: realClock, endpoint: `unix://${directory}/none` })
  await rejects(none.unary(method('Echo'), {}, noMetadata, signal), failsWith('UNAVAILABLE', /ENOENT/, true))
  rmSync(directory, { recursive: true })
})

test('a connection to a server that does not respond is closed', async () => {
  const sockets: Socket[] = []
  const greeted = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    socket.on('data', () => greeted.resolve())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const clock = new VirtualClock()
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const channel = new GrpcChannel({ http2: nodeHttp2, clock, endpoint })
  const call = channel.unary(method('Echo'), {}, noMetadata, signal)
  const failed = rejects(call, failsWith('UNAVAILABLE', /given up/))
  await greeted.promise
  await clock.advance(16_000)
  await failed
  channel.close()
  for (const socket of sockets) socket.destroy()
  server.close()
})

const cuts: readonly [name: string, pieces: readonly number[]][] = [
  ['byte by byte', Array.from({ length: 14 }, () => 1)],
  ['all at once', [14]],
  ['inside a frame header', [3, 8, 3]],
  ['at the frame boundaries', [8, 6]],
]
for (const [name, pieces] of cuts)
  test(`frames are assembled ${name}`, () => {
    const whole = new Uint8Array([...frame(Uint8Array.of(1, 2, 3)), ...frame(Uint8Array.of(4))])
    const reader = new FrameReader(10)
    let at = 0
    const messages = pieces.flatMap((length) => reader.push(whole.subarray(at, (at += length))))
    deepEqual(
      messages.map((message) => [...message]),
      [[1, 2, 3], [4]],
    )
    equal(reader.isMidMessage, false)
  })

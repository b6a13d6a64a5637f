// The time and memory that a client of HTTP/2 may take, with and without the TLS thread.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { test } from 'node:test'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import type { ListenLimits } from '../../limits/listen-limits.ts'
import type { WireResponse, WirePieces, WireRequest } from '../../http/listener.ts'
import { asJane, acceptors, tls, trusting, until, type Listening } from './listener.harness.ts'

interface Session extends Disposable {
  readonly session: ClientHttp2Session
  ask(method: string, path: string): ClientHttp2Stream
}

function clientOf({ port }: Listening, options: object = asJane, settings = {}): Session {
  const session = connect(`https://127.0.0.1:${port}`, { ...options, settings })
  session.on('error', () => {})
  return {
    session,
    ask(method, path) {
      const stream = session.request({ ':method': method, ':path': path }, { endStream: method === 'GET' })
      stream.on('error', () => {})
      return stream
    },
    [Symbol.dispose]: () => session.destroy(),
  }
}

const statusOf = async (stream: ClientHttp2Stream): Promise<number> => {
  const [headers] = (await once(stream, 'response')) as [Record<string, number>]
  return headers[':status'] ?? 0
}

async function textOf(stream: ClientHttp2Stream): Promise<string> {
  let text = ''
  stream.setEncoding('latin1').on('data', (piece: string) => (text += piece))
  await closed(stream)
  return text
}

const closed = (stream: ClientHttp2Stream): Promise<unknown> =>
  stream.destroyed ? Promise.resolve() : new Promise((resolve) => stream.once('close', resolve))

const megabyte = 1 << 20
const ok200 = (body: WireResponse['body']): WireResponse => ({ status: 200, headers: {}, body })

/** Responds with the size of the body, or with the name of its error. */
const sizeOfBody = async (request: WireRequest): Promise<WireResponse> =>
  Promise.resolve(request.body(3 * megabyte)).then(
    ({ length }) => ok200(String(length)),
    (error: Error) => ({ status: 429, headers: {}, body: error.name }),
  )

/** An endless list, or a watch without events. */
function piecesOf(take: () => readonly Uint8Array[], isLong: boolean) {
  const state = { isClosed: false }
  const pieces: WirePieces = {
    isLong,
    listen: (wake) => wake(),
    take: () => (state.isClosed ? undefined : take()),
    close: () => void (state.isClosed = true),
  }
  return { pieces, state }
}

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const settings = frame(4, 0, 0)
/** GET and POST of / over https, from the static table of HPACK. */
const getRoot = Buffer.from([0x82, 0x84, 0x87])
const postRoot = Buffer.from([0x83, 0x84, 0x87])

for (const [place, listen] of Object.entries(acceptors)) {
  test(`${place}: a body that does not arrive in time ends its stream, not its connection`, async () => {
    const failures: string[] = []
    await using listening = await listen({
      handle: async (request) => {
        if (request.method === 'GET') return ok200('')
        return sizeOfBody(request).then((response) => {
          failures.push(String(response.body))
          return response
        })
      },
    })
    using client = clientOf(listening)
    const stream = client.ask('POST', '/')
    stream.write('half')
    await once(client.session, 'remoteSettings')
    equal(await statusOf(client.ask('GET', '/')), 200)
    await listening.clock.advance('59s')
    ok(!stream.closed)
    await listening.clock.advance('2s')
    await textOf(stream)
    equal(stream.rstCode, constants.NGHTTP2_CANCEL)
    await until(() => failures.length > 0)
    deepEqual(failures, ['AbortError'])
    equal(listening.shed.get('stalled'), 1)
    equal(await statusOf(client.ask('GET', '/')), 200)
  })

  test(`${place}: short responses that the client does not take count with what their streams need`, async () => {
    const limits: Partial<ListenLimits> = { heldBytesPerClientMax: 256 << 10 }
    await using listening = await listen({ handle: () => ok200('rejected'), limits })
    using client = clientOf(listening, asJane, { initialWindowSize: 0 })
    const streams = Array.from({ length: 40 }, () => client.ask('GET', '/'))
    for (const stream of streams) equal(await statusOf(stream), 200)
    for (let second = 0; second < 6; second++) await listening.clock.advance('1s')
    await until(() => streams.filter(({ destroyed }) => !destroyed).length <= 256 / 8)
    ok((listening.shed.get('memory') ?? 0) >= streams.length - 256 / 8)
  })

  test(`${place}: a stream that is shed while its request is handled gets no response`, async () => {
    const heldBytesPerClientMax = 32 << 10
    const begun = Promise.withResolvers<void>()
    const responds = Promise.withResolvers<void>()
    await using listening = await listen({
      handle: async ({ method }) => {
        if (method === 'GET') return ok200('')
        begun.resolve()
        await responds.promise
        return ok200('late')
      },
      limits: { heldBytesPerClientMax },
    })
    using client = clientOf(listening)
    await once(client.session, 'remoteSettings')
    const fullWindow = client.session.state.remoteWindowSize ?? 0
    const stream = client.ask('POST', '/')
    stream.write(Buffer.alloc(megabyte))
    await begun.promise
    const sent = () => fullWindow - (client.session.state.remoteWindowSize ?? 0)
    await until(() => sent() > heldBytesPerClientMax)
    // What was sent on the connection before is received before this.
    equal(await statusOf(client.ask('GET', '/')), 200)
    for (let second = 0; second < 60 && !stream.destroyed; second++) {
      await listening.clock.advance('1s')
      await eventLoopTurn()
    }
    await closed(stream)
    equal(stream.rstCode, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    responds.resolve()
    equal(await statusOf(client.ask('GET', '/')), 200)
  })

  test(`${place}: a client without a window keeps one piece of a list in memory`, async () => {
    let taken = 0
    const { pieces } = piecesOf(() => {
      taken++
      return [Buffer.alloc(1_000)]
    }, true)
    await using listening = await listen({ handle: () => ok200(pieces) })
    using client = clientOf(listening, asJane, { initialWindowSize: 0 })
    const stream = client.ask('GET', '/')
    equal(await statusOf(stream), 200)
    for (let turn = 0; turn < 100; turn++) await eventLoopTurn()
    equal(taken, 1)
  })

  test(`${place}: a response that the client does not receive is aborted; a watch without events is not`, async () => {
    const list = piecesOf(() => [Buffer.alloc(megabyte)], true)
    const busy = piecesOf(() => [Buffer.alloc(megabyte)], false)
    const quiet = piecesOf(() => [], false)
    const bodies: Record<string, WireResponse['body']> = {
      '/whole': Buffer.alloc(2 * megabyte),
      '/list': list.pieces,
      '/busy-watch': busy.pieces,
      '/quiet-watch': quiet.pieces,
    }
    await using listening = await listen({ handle: ({ target }) => ok200(bodies[target] ?? '') })
    using client = clientOf(listening, asJane, { initialWindowSize: 0 })
    const streams = Object.keys(bodies).map((path) => client.ask('GET', path))
    const idle = streams.at(-1)
    deepEqual(await Promise.all(streams.map(statusOf)), [200, 200, 200, 200])
    await listening.clock.advance('119s')
    deepEqual(
      streams.map((stream) => stream.closed),
      [false, false, false, false],
    )
    await listening.clock.advance('2s')
    await Promise.all(streams.slice(0, -1).map(closed))
    await until(() => list.state.isClosed && busy.state.isClosed)
    await listening.clock.advance('600s')
    equal(idle?.closed, false)
    equal(listening.shed.get('stalled'), 3)
  })

  test(`${place}: a client that receives a long response slowly is not shed`, async () => {
    await using listening = await listen({
      handle: () => ok200(Buffer.alloc(8 * megabyte)),
      limits: { heldBytesPerClientMax: megabyte },
    })
    using client = clientOf(listening)
    let bytes = 0
    let seconds = 0
    for await (const piece of client.ask('GET', '/') as AsyncIterable<Buffer>) {
      bytes += piece.length
      // More than the windows of the client, so that the server has made progress, too.
      if (bytes < (seconds + 1) * megabyte) continue
      await listening.clock.advance('1s')
      seconds++
    }
    deepEqual([bytes, seconds], [8 * megabyte, 8])
    equal(listening.shed.get('memory'), undefined)
  })

  test(`${place}: a body is not received before the handler reads it, and an earlier response ends the request`, async () => {
    const gate = Promise.withResolvers<void>()
    await using listening = await listen({
      handle: async () => {
        await gate.promise
        return { status: 403, headers: {}, body: 'no' }
      },
    })
    using client = clientOf(listening)
    const stream = client.ask('POST', '/')
    const text = textOf(stream)
    let sent = 0
    const piece = Buffer.alloc(16 << 10)
    const send = (error?: Error | null) => {
      if (error === undefined) stream.write(piece, send)
      if (error !== null) return
      sent += piece.length
      stream.write(piece, send)
    }
    send()
    await until(() => sent >= 48 << 10)
    for (let turns = 0; turns < 200; turns++) await eventLoopTurn()
    ok(sent <= 64 << 10, `${sent} bytes were sent`)
    gate.resolve()
    equal(await statusOf(stream), 403)
    deepEqual([await text, stream.rstCode], ['no', constants.NGHTTP2_NO_ERROR])
  })

  test(`${place}: an unauthenticated client has one request per connection, as upstream`, async () => {
    await using listening = await listen({
      handle: ({ headers }) => ({
        status: headers['authorization'] === 'Bearer bad' ? 401 : 200,
        headers: {},
        body: '',
      }),
    })
    const outcomes: [name: string, options: object, headers: Record<string, string>, isClosed: boolean][] = [
      ['nothing', trusting, {}, true],
      ['a token that is rejected', trusting, { authorization: 'Bearer bad' }, true],
      ['a token', trusting, { authorization: 'Bearer good' }, false],
      ['a certificate', asJane, {}, false],
    ]
    for (const [name, options, headers, isClosed] of outcomes) {
      using client = clientOf(listening, options)
      const { session } = client
      const goneAway = once(session, 'goaway')
      const stream = session.request({ ':path': '/', ...headers })
      await textOf(stream)
      if (isClosed) equal((await goneAway)[0], constants.NGHTTP2_NO_ERROR, name)
      else equal(await statusOf(session.request({ ':path': '/', ...headers })), 200, name)
    }
  })

  test(`${place}: beyond the limit of body bytes the largest bodies are rejected, small ones are not`, async () => {
    const limits: Partial<ListenLimits> = { heldBytesPerConnectionMax: 2 * megabyte }
    await using listening = await listen({ handle: sizeOfBody, limits })
    using client = clientOf(listening)
    const streams = [1, 2, 3].map(() => client.ask('POST', '/'))
    const small = client.ask('POST', '/')
    small.write('small')
    const text = textOf(small)
    for (const stream of streams) stream.write(Buffer.alloc(megabyte - 1))
    const rejected = await Promise.race(streams.map(async (stream) => [stream, await statusOf(stream)] as const))
    equal(rejected[1], 429)
    for (const stream of [...streams, small]) stream.end()
    deepEqual(await Promise.all(streams.filter((stream) => stream !== rejected[0]).map(statusOf)), [200, 200])
    equal(await text, '5')
    equal(listening.shed.get('memory'), 1)
  })

  test(`${place}: beyond the limit of unsent bytes the largest responses are aborted`, async () => {
    const limits: Partial<ListenLimits> = { heldBytesMax: 4 * megabyte }
    await using listening = await listen({
      handle: ({ target }) => ok200(Buffer.alloc(Number(target.slice(1)) * megabyte)),
      limits,
    })
    using greedy = clientOf(listening, asJane, { initialWindowSize: 0 })
    using modest = clientOf(listening, { ...asJane, localAddress: '127.0.0.2' }, { initialWindowSize: 0 })
    const large = greedy.ask('GET', '/3')
    const small = modest.ask('GET', '/1')
    deepEqual(await Promise.all([statusOf(large), statusOf(small)]), [200, 200])
    await listening.clock.advance('5s')
    const further = modest.ask('GET', '/1')
    equal(await statusOf(further), 200)
    // Bytes between the threads may still move at the first tick of the listener.
    const isCut = { is: false }
    const cut = closed(large).then(() => (isCut.is = true))
    for (let second = 0; second < 60 && !isCut.is; second++) {
      await listening.clock.advance('1s')
      await eventLoopTurn()
    }
    await cut
    equal(large.rstCode, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    deepEqual([small.closed, further.closed], [false, false])
    equal(listening.shed.get('memory'), 1)
  })

  test(`${place}: a client that keeps resetting its streams is disconnected`, async () => {
    let begun = 0
    await using listening = await listen({
      handle: () => {
        begun++
        return new Promise(() => {})
      },
    })
    const socket = await tls(listening.port, { ...asJane, ALPNProtocols: ['h2'] })
    const ended = once(socket.resume(), 'close')
    const resets = Array.from({ length: 5_000 }, (_, index) => [
      frame(1, 5, 2 * index + 1, getRoot),
      frame(3, 0, 2 * index + 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])),
    ])
    socket.write(Buffer.concat([Buffer.from(preface), settings, ...resets.flat()]))
    await listening.clock.advance('10s')
    await ended
    ok(begun < 1_000, `${begun} requests were begun`)
  })

  const floods: [name: string, begin: Buffer, again: Buffer][] = [
    ['headers without an end', frame(1, 0, 1, Buffer.from([0x82])), frame(9, 0, 1)],
    ['pings', settings, frame(6, 0, 0, Buffer.alloc(8))],
    ['settings', settings, settings],
    ['frames of streams that were never opened', settings, frame(0, 0, 1, Buffer.alloc(1))],
    ['empty data', frame(1, 4, 1, postRoot), frame(0, 0, 1)],
  ]
  for (const [name, begin, again] of floods)
    test(`${place}: a flood of ${name} ends the connection`, async () => {
      await using listening = await listen({ handle: () => new Promise(() => {}) })
      const socket = await tls(listening.port, { ...asJane, ALPNProtocols: ['h2'] })
      socket.pause() // replies are not read, so they accumulate
      socket.write(Buffer.concat([Buffer.from(preface), settings, begin]))
      const many = Buffer.concat(Array.from({ length: 1_000 }, () => again))
      let rounds = 0
      while (!socket.destroyed && rounds++ < 500) {
        await listening.clock.advance('1s')
        if (socket.destroyed) break
        if (socket.write(many)) await eventLoopTurn()
        else await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {})
      }
      // The thread may still have to close it.
      await until(() => socket.destroyed)
    })

  test(`${place}: a session without requests ends, and its socket too when the client does not close`, async () => {
    await using listening = await listen({ handle: () => ok200('') })
    const mute = await tls(listening.port, { ...asJane, ALPNProtocols: ['h2'] })
    const idle = await tls(listening.port, { ...asJane, ALPNProtocols: ['h2'] })
    const ended = [idle, mute].map((socket) => once(socket.resume(), 'close'))
    idle.write(Buffer.concat([Buffer.from(preface), settings]))
    await once(idle, 'data')
    await listening.clock.advance('31s')
    await ended[1]
    ok(!idle.closed)
    await listening.clock.advance('70s')
    await ended[0]
  })
}

import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import net, { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { suite, test, type TestContext } from 'node:test'
import { NotSent, type PooledRequest } from '../../http/http-pool.ts'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import { nodeHttpPools, waitingRequestsMax } from './http-pool.ts'

/** undici's timers for connections and bodies, with a resolution of a second. */
const undiciTimers = createRequire(import.meta.url)('undici/lib/util/timers.js') as { tick(ms?: number): void }

/** Time passes for connections that are opened, and for responses. */
async function passTime(ms: number): Promise<void> {
  await eventLoopTurn()
  undiciTimers.tick()
  undiciTimers.tick(ms)
  await eventLoopTurn()
}

/** Time passes for connections that are idle, which they are two turns after a response. */
async function passIdle({ mock }: TestContext, ms: number): Promise<void> {
  await eventLoopTurn()
  await eventLoopTurn()
  mock.timers.tick(ms)
  await eventLoopTurn()
}

const get: PooledRequest = { method: 'GET', target: '/', headers: { host: 'h' }, body: undefined }
const never = () => new AbortController().signal
const { open } = nodeHttpPools
const limits = { connectionsMax: 2, connectMsMax: 1_500, idleMsMax: 10_000 }

async function served(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const pool = open({ ...limits, server: { address: '127.0.0.1', port } })
  return {
    pool,
    server,
    async [Symbol.asyncDispose]() {
      await pool.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('a short response is collected; all values of its headers are kept', async () => {
  await using own = await served((_request, response) => response.setHeader('set-cookie', ['a', 'b']).end('hello'))
  const response = await own.pool.send(get, never())
  ok(response.body instanceof Uint8Array)
  deepEqual([response.status, await textOf(response.body)], [200, 'hello'])
  deepEqual([response.headers['set-cookie'], own.pool.pending], [['a', 'b'], 0])
})

test('a body is streamed to the server, and a long response with trailers from it', async () => {
  await using own = await served((request, response) => {
    response.writeHead(200, { trailer: 'x-end' })
    request.pipe(response, { end: false })
    request.on('end', () => {
      response.addTrailers({ 'x-end': '1' })
      response.end('x'.repeat(1_000_000))
    })
  })
  const body = (async function* () {
    yield new TextEncoder().encode('one')
    yield new TextEncoder().encode('two')
  })()
  const response = await own.pool.send({ ...get, method: 'POST', body }, never())
  const text = await textOf(response.body)
  deepEqual([text.slice(0, 7), text.length], ['onetwox', 1_000_006])
  equal(response.trailers()?.['x-end'], '1')
})

test('a server that refuses connections has not received the request', async () => {
  const own = await served(() => {})
  await own[Symbol.asyncDispose]()
  const { port } = { port: 1 }
  const pool = open({ ...limits, server: { address: '127.0.0.1', port } })
  await rejects(pool.send(get, never()), NotSent)
  await rejects(own.pool.send(get, never()), NotSent)
  await pool.destroy()
})

test('a connection that is lost fails the request, or its body', async () => {
  let isEarly = true
  await using own = await served((request, response) => {
    if (isEarly) return void request.socket.destroy()
    response.writeHead(200)
    response.write('x', () => request.socket.destroy())
  })
  await rejects(own.pool.send(get, never()), (error: Error) => !(error instanceof NotSent))
  isEarly = false
  const response = await own.pool.send(get, never())
  await rejects(textOf(response.body))
})

test('a request that is aborted, and a response that is left, end the exchange', async () => {
  await using own = await served((request, response) => {
    if (request.url === '/stream') response.write('x'.repeat(100_000))
  })
  const stop = new AbortController()
  const waiting = own.pool.send(get, stop.signal)
  stop.abort(new Error('too late'))
  await rejects(waiting, /too late/)
  await rejects(own.pool.send(get, stop.signal), /too late/)
  const response = await own.pool.send({ ...get, target: '/stream' }, never())
  for await (const _piece of response.body as AsyncIterable<Uint8Array>) break
  equal(own.pool.pending, 0)
})

test('a closed pool finishes its current requests', async () => {
  let finish = () => {}
  await using own = await served((_request, response) => {
    finish = () => response.end('done')
  })
  const response = own.pool.send(get, never())
  await once(own.server, 'request')
  const closed = own.pool.close()
  finish()
  equal(await textOf((await response).body), 'done')
  await closed
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await eventLoopTurn()
}

/** A server that responds to each head of a request with text; `respond` gets the numbers of the connection and request. */
async function scripted(respond: (socket: Socket, connection: number, request: number) => void) {
  let connections = 0
  const sockets: Socket[] = []
  const server = createTcpServer((socket) => {
    const connection = connections++
    let requests = 0
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      for (const _ of bytes.toString().match(/\r\n\r\n/g) ?? []) respond(socket, connection, requests++)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const pool = open({ ...limits, server: { address: '127.0.0.1', port } })
  const text = async (request = get) => textOf((await pool.send(request, never())).body)
  return {
    pool,
    text,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      await pool.destroy()
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

const response = (body: string, headers = '') =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`

test('a connection is used again, and at most as many are opened as are allowed', async () => {
  const held: (() => void)[] = []
  await using own = await scripted((socket, connection) => held.push(() => socket.write(response(`on ${connection}`))))
  const all = [own.text(), own.text(), own.text()]
  await until(() => held.length === 2)
  equal(own.pool.pending, 3)
  while (held.length > 0) held.pop()?.()
  await until(() => held.length === 1)
  held.pop()?.()
  deepEqual([(await Promise.all(all)).length, own.connections(), own.pool.pending], [3, 2, 0])
})

test('a connection that the server closes with the next request: what may be repeated is sent on a new one', async () => {
  const closing = (socket: Socket, connection: number, request: number) => {
    if (request > 0) socket.resetAndDestroy()
    else socket.write(response(`on ${connection}`))
  }
  await using own = await scripted(closing)
  deepEqual([await own.text(), await own.text()], ['on 0', 'on 1'])
  await rejects(own.text({ ...get, method: 'POST' }), (error: Error) => !(error instanceof NotSent))
  equal(own.connections(), 2)
})

test('a request is repeated once, and not if a part of the response has arrived', async () => {
  const respond = (socket: Socket, connection: number, request: number) => {
    if (connection === 0 && request === 0) socket.write(response('first'))
    else if (connection > 0) socket.resetAndDestroy()
    else socket.end('HTTP/1.1 2')
  }
  await using partial = await scripted(respond)
  equal(await partial.text(), 'first')
  await rejects(partial.text(), { code: 'UND_ERR_SOCKET' })
  equal(partial.connections(), 1)
  await using lost = await scripted((socket, connection, request) => {
    if (connection === 0 && request === 0) socket.write(response('first'))
    else socket.resetAndDestroy()
  })
  equal(await lost.text(), 'first')
  await rejects(lost.text(), /ECONNRESET/)
  equal(lost.connections(), 2)
})

test('an aborted request is not sent again', async () => {
  const stop = new AbortController()
  await using own = await scripted((socket, _connection, request) => {
    if (request === 0) socket.write(response('first'))
    else stop.abort(new Error('gone'))
  })
  equal(await own.text(), 'first')
  await rejects(own.pool.send(get, stop.signal), /gone/)
  await eventLoopTurn()
  deepEqual([own.connections(), own.pool.pending], [1, 0])
})

const reuses: readonly (readonly [name: string, headers: string, idleMs: number, connections: number])[] = [
  ['is used again for a while', '', 3_999, 1],
  ['is not used later', '', 4_000, 2],
  ['is used as long as the server keeps it', 'keep-alive: timeout=20\r\n', 17_999, 1],
  ['is not used when the server is about to close it', 'keep-alive: timeout=20\r\n', 18_000, 2],
  ['is not used if the server keeps it for too short a time', 'keep-alive: timeout=2\r\n', 0, 2],
  ['is not used if the server closes it', 'connection: close\r\n', 0, 2],
]

suite('an idle connection', () => {
  for (const [name, headers, idleMs, connections] of reuses)
    test(name, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] })
      await using own = await scripted((socket) => socket.write(response('ok', headers)))
      await own.text()
      await passIdle(t, idleMs)
      await own.text()
      equal(own.connections(), connections)
    })
})

test('bytes after a response end the connection, not the response', async () => {
  await using own = await scripted((socket) => socket.write(`${response('ok')}HTTP/1.1 200 OK\r\n`))
  deepEqual([await own.text(), await own.text(), own.connections()], ['ok', 'ok', 2])
})

test('a malformed response and an invalid request fail', async () => {
  await using own = await scripted((socket) => socket.write('hello\r\n\r\n'))
  await rejects(own.text(), /does not match the HTTP\/1.1 protocol/)
  await rejects(own.text({ ...get, target: '/a b' }), /target/)
  equal(own.pool.pending, 0)
})

test('a server that stops in the middle of a long response fails it', async () => {
  await using own = await scripted((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n`),
  )
  const pieces = ((await own.pool.send(get, never())).body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  await pieces.next()
  const failed = rejects(pieces.next(), { code: 'UND_ERR_BODY_TIMEOUT' })
  await passTime(limits.idleMsMax + 1_000)
  await failed
})

test('a server that does not accept a connection in time has not received the request', async (t) => {
  t.mock.method(net, 'connect', () => new net.Socket())
  const pool = open({ ...limits, server: { address: '127.0.0.1', port: 1 } })
  const failed = rejects(pool.send(get, never()), (error) => error instanceof NotSent && /timeout/i.test(error.message))
  await passTime(limits.connectMsMax + 1_000)
  await failed
})

test('a response may come before the end of the body; the connection is closed then', async () => {
  await using own = await scripted((socket) => socket.write(response('early')))
  const endless = (async function* () {
    yield new Uint8Array(1)
    await new Promise(() => {})
  })()
  equal(await own.text({ ...get, method: 'POST', body: endless }), 'early')
  deepEqual([await own.text(), own.connections()], ['early', 2])
})

suite('a body that does not have its Content-Length fails the request', () => {
  const mismatch = { code: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' }
  for (const [length, how] of [
    ['1', 'longer'],
    ['3', 'shorter'],
  ] as const)
    test(`2 bytes instead of ${length}: ${how}`, async () => {
      await using own = await scripted(() => {})
      const body = (async function* () {
        yield new Uint8Array(2)
      })()
      await rejects(own.text({ ...get, method: 'POST', headers: { 'content-length': length }, body }), mismatch)
    })
})

test('a pool that is closed passes on the requests that wait for a connection', async () => {
  const held: Socket[] = []
  await using own = await scripted((socket) => held.push(socket))
  const all = [own.text(), own.text(), own.text()]
  await until(() => held.length === 2)
  const closed = own.pool.close()
  await rejects(all[2] as Promise<string>, NotSent)
  for (const socket of held) socket.write(response('ok'))
  deepEqual(await Promise.all(all.slice(0, 2)), ['ok', 'ok'])
  await closed
})

test('requests that wait are bounded, also while those that were aborted are not yet removed', async () => {
  const held: Socket[] = []
  await using own = await scripted((socket) => held.push(socket))
  const stop = new AbortController()
  const sent = [own.pool.send(get, never()), own.pool.send(get, never())]
  await until(() => held.length === 2)
  const waiting = Array.from({ length: waitingRequestsMax }, () => own.pool.send(get, stop.signal))
  const failed = Promise.allSettled(waiting)
  stop.abort(new Error('gone'))
  equal((await failed).filter(({ status }) => status === 'rejected').length, waitingRequestsMax)
  equal(own.pool.pending, 2)
  await rejects(own.pool.send(get, never()), (error) => error instanceof NotSent && /too many/.test(error.message))
  for (const socket of held) socket.write(response('ok'))
  equal((await Promise.all(sent)).length, 2)
  const later = own.text()
  await until(() => held.length === 3)
  held[2]?.write(response('later'))
  deepEqual([await later, own.connections()], ['later', 2])
})

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import type { Http2Events, Http2Headers, Http2Options, Http2Provider } from '../../platform/http/http2-client.ts'
import { NotSent } from '../../platform/http/http-pool.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { BackendPools, identitiesPerEndpointMax } from './backend-pools.ts'
import { H2cPool } from './h2c-pool.ts'

const never = () => new AbortController().signal
const bytes = (text: string) => new TextEncoder().encode(text)
const request = { method: 'POST', target: '/a', headers: { host: 'h', 'x-a': ['1', '2'] }, body: undefined }

interface Sent {
  readonly headers: Http2Headers
  readonly events: Http2Events
  readonly written: string[]
  readonly log: string[]
}

/** A connection whose exchanges a test answers. */
function stage() {
  const sent: Sent[] = []
  const state = { isOpen: true, connects: 0, destroyed: 0, failure: undefined as Error | undefined }
  const provider: Http2Provider = {
    async connect({ endpoint }) {
      if (state.failure !== undefined) throw state.failure
      state.connects++
      equal(endpoint, 'http://[2001:db8::1]:80')
      return {
        get isOpen() {
          return state.isOpen
        },
        closed: new Promise(() => {}),
        request(headers, events) {
          const own: Sent = { headers, events, written: [], log: [] }
          sent.push(own)
          return {
            write: (piece) => own.written.push(new TextDecoder().decode(piece)) > 100,
            whenDrained: () => Promise.resolve(),
            end: () => void own.log.push('end'),
            pause: () => void own.log.push('pause'),
            resume: () => void own.log.push('resume'),
            cancel: () => void own.log.push('cancel'),
          }
        },
        ping: () => Promise.resolve(),
        close() {},
        destroy: () => void state.destroyed++,
      }
    },
  }
  return { pool: new H2cPool({ address: '2001:db8::1', port: 80 }, provider), sent, state, provider }
}

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of body as AsyncIterable<Uint8Array>) text += new TextDecoder().decode(piece)
  return text
}

async function answered(own: ReturnType<typeof stage>, body?: AsyncIterable<Uint8Array>) {
  const response = own.pool.send({ ...request, body: body ?? undefined }, never())
  await eventLoopTurn()
  const [exchange] = own.sent.slice(-1)
  if (exchange === undefined) throw new Error('nothing was sent')
  exchange.events.headers({ ':status': '200', 'content-type': 'application/grpc' }, ['a=1', 'b=2'])
  return { response: await response, exchange }
}

test('a request and its response pass with trailers, over one connection', async () => {
  const own = stage()
  const body = (async function* () {
    yield bytes('one')
    yield bytes('two')
  })()
  const { response, exchange } = await answered(own, body)
  deepEqual(exchange.headers, {
    ':method': 'POST',
    ':path': '/a',
    ':scheme': 'http',
    ':authority': 'h',
    'x-a': '1, 2',
  })
  deepEqual(response.headers, { 'content-type': 'application/grpc', 'set-cookie': ['a=1', 'b=2'] })
  exchange.events.data(bytes('hello'))
  const text = textOf(response.body)
  await eventLoopTurn()
  exchange.events.data(bytes(' world'))
  exchange.events.trailers({ 'grpc-status': '0' })
  exchange.events.closed(undefined)
  deepEqual([response.status, await text, response.trailers()], [200, 'hello world', { 'grpc-status': '0' }])
  deepEqual([exchange.written, exchange.log], [['one', 'two'], ['end']])
  await answered(own)
  deepEqual([own.state.connects, own.pool.pending], [1, 1])
  own.state.isOpen = false
  await answered(own)
  equal(own.state.connects, 2)
})

test('an endpoint is not read while its response waits', async () => {
  const { response, exchange } = await answered(stage())
  exchange.events.data(new Uint8Array(300_000))
  exchange.events.closed(undefined)
  equal((await textOf(response.body)).length, 300_000)
  deepEqual(exchange.log, ['end', 'pause', 'resume'])
})

test('failures: no connection, a stream that was not processed, a reset, no response', async () => {
  const own = stage()
  const failing = async (failure: Parameters<Http2Events['closed']>[0]) => {
    const response = own.pool.send(request, never())
    await eventLoopTurn()
    own.sent.at(-1)?.events.closed(failure)
    return response
  }
  await rejects(failing({ message: 'refused', resetCode: 7, unprocessed: true }), NotSent)
  await rejects(failing({ message: 'reset', resetCode: 2, unprocessed: false }), { name: 'Error', message: 'reset' })
  await rejects(failing(undefined), /no response/)
  own.state.isOpen = false
  own.state.failure = new Error('connect ECONNREFUSED')
  await rejects(own.pool.send(request, never()), NotSent)
  equal(own.pool.pending, 0)
})

test('a body that fails, an aborted request and a response that is left cancel the stream', async () => {
  const own = stage()
  const failed = own.pool.send(
    {
      ...request,
      // oxlint-disable-next-line require-yield
      body: (async function* () {
        throw new Error('the client is gone')
      })(),
    },
    never(),
  )
  await rejects(failed, /the client is gone/)
  const stop = new AbortController()
  const aborted = own.pool.send(request, stop.signal)
  await eventLoopTurn()
  stop.abort(new Error('too late'))
  await rejects(aborted, /too late/)
  const { response, exchange } = await answered(own)
  exchange.events.data(bytes('x'))
  for await (const _piece of response.body as AsyncIterable<Uint8Array>) break
  deepEqual(own.sent.map(({ log }) => log.at(-1)), ['cancel', 'cancel', 'cancel']) // prettier-ignore
  equal(own.pool.pending, 0)
})

test('a pool closes its connection after its last request', async () => {
  const own = stage()
  const { response, exchange } = await answered(own)
  await own.pool.close()
  equal(own.state.destroyed, 0)
  exchange.events.closed(undefined)
  await textOf(response.body)
  await eventLoopTurn()
  equal(own.state.destroyed, 1)
})

test('pools are shared by address, port and protocol, and drained when the endpoint has gone', async () => {
  const own = stage()
  const pools = new BackendPools({ open: () => new H2cPool({ address: 'a', port: 1 }, own.provider) }, own.provider)
  const one = { address: '2001:db8::1', port: 80 }
  const two = { address: '2001:db8::2', port: 80 } // prettier-ignore
  const first = pools.of(one, { protocol: 'h2c' })
  equal(pools.of({ ...one }, { protocol: 'h2c' }), first)
  equal(pools.of(one, { protocol: 'http1' }) === first, false)
  pools.of(two, { protocol: 'http1' })
  pools.retain(({ address }) => address === two.address)
  equal(pools.of(one, { protocol: 'h2c' }) === first, false)
  await pools[Symbol.asyncDispose]()
})

test('an endpoint has a pool for each identity, of which the oldest is drained', async () => {
  const closed: string[] = []
  const opened: string[] = []
  const pools = new BackendPools(
    {
      open: ({ tls }) => {
        opened.push(tls?.id ?? 'none')
        return { pending: 0, send: () => Promise.reject(new Error('nothing is sent')), close: async () => void closed.push(tls?.id ?? 'none'), destroy: async () => {} } // prettier-ignore
      },
    },
    { connect: () => Promise.reject(new Error('nothing is connected')) },
  )
  const server = { address: '10.0.0.1', port: 443 }
  const identity = (id: string) => ({ id, authority: '', serverName: 'a.com', names: [] })
  const of = (id?: string) =>
    pools.of(server, { protocol: 'http1', ...(id === undefined ? {} : { tls: identity(id) }) })
  const plain = of()
  const first = of('1')
  equal(of('1'), first)
  for (let id = 2; id <= identitiesPerEndpointMax; id++) of(String(id))
  equal(closed.length, 0)
  of('new')
  equal(closed.join(), '1')
  equal(of(), plain)
  equal(opened.join(' '), ['none', ...Array.from({ length: identitiesPerEndpointMax }, (_, at) => at + 1), 'new'].join(' ')) // prettier-ignore
})

test('requests over TLS say so', async () => {
  const own = stage()
  const connected: Http2Options[] = []
  const identity = { id: '1', authority: 'ca', serverName: 'a.com', names: [] }
  const provider: Http2Provider = {
    connect: (options, signal) => {
      connected.push(options)
      return own.provider.connect(options, signal)
    },
  }
  const pool = new H2cPool({ address: '10.0.0.1', port: 443 }, provider, identity)
  void pool.send({ ...request, method: 'GET' }, never()).catch(() => {})
  await eventLoopTurn()
  equal(JSON.stringify(connected), JSON.stringify([{ endpoint: 'https://10.0.0.1:443', identity }]))
  await pool.destroy()
})

test('cookies of a real server stay separate', async () => {
  const server = createServer()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200, 'set-cookie': ['a=1; Path=/', 'b=2'], 'x-a': ['1', '2'] })
    stream.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const pool = new H2cPool({ address: '127.0.0.1', port }, nodeHttp2)
  const { headers } = await pool.send({ ...request, method: 'GET' }, never())
  deepEqual([headers['set-cookie'], headers['x-a']], [['a=1; Path=/', 'b=2'], '1, 2'])
  await pool.destroy()
  server.close()
})

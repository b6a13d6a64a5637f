import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { NotSent, type PooledRequest } from '../../http/http-pool.ts'
import { loadHttpPools } from './http-pool.ts'

const get: PooledRequest = { method: 'GET', target: '/', headers: { host: 'h' }, body: undefined }
const never = () => new AbortController().signal
const { open } = await loadHttpPools()
const limits = { connectionsMax: 2, connectMsMax: 1_000, idleMsMax: 10_000 }

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

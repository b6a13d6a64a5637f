// Responses of pooled connections: short ones arrive whole, others as they are sent.
import { equal, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { nodeOutbound } from './outbound.ts'

const { signal } = new AbortController()
const get = { method: 'GET', target: '/', headers: {} }

async function served(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const outbound = nodeOutbound.connect({ origin: `http://127.0.0.1:${port}`, tls: {} })
  return {
    outbound,
    server,
    async [Symbol.asyncDispose]() {
      await outbound.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(body)).toString()
}

test('a short response of known length is whole; values of a header are joined', async () => {
  await using own = await served((_request, response) =>
    response
      .writeHead(200, [
        ['content-length', '5'],
        ['vary', 'a'],
        ['vary', 'b'],
      ])
      .end('hello'),
  )
  const { whole, body, headers } = await own.outbound.send(get, signal)
  equal(Buffer.from(whole ?? []).toString(), 'hello')
  equal(await textOf(body), 'hello')
  equal(headers['vary']?.replaceAll(' ', ''), 'a,b')
})

test('a whole response may be empty', async () => {
  await using own = await served((_request, response) => response.writeHead(200, { 'content-length': 0 }).end())
  const { whole, body } = await own.outbound.send(get, signal)
  equal(whole?.length, 0)
  equal(await textOf(body), '')
})

test('a response of unknown length is streamed, and so is what a client sends', async () => {
  await using own = await served((request, response) => void request.pipe(response))
  const { whole, body } = await own.outbound.send({ ...get, method: 'POST', body: 'echo' }, signal)
  equal(whole, undefined)
  equal(await textOf(body), 'echo')
})

test('a server that refuses the connection fails the request with the error of the socket', async () => {
  await using own = await served(() => {})
  own.server.close()
  await once(own.server, 'close')
  await rejects(own.outbound.send(get, signal), { code: 'ECONNREFUSED' })
})

test('an aborted request fails with the reason of its signal', async () => {
  await using own = await served(() => abort.abort(new Error('enough')))
  const abort = new AbortController()
  await rejects(own.outbound.send(get, abort.signal), { message: 'enough' })
})

for (const isUsed of [true, false])
  test(`after its end, connections that were ${isUsed ? 'used' : 'not used yet'} send nothing`, async () => {
    let requests = 0
    await using own = await served((_request, response) => {
      requests++
      response.end()
    })
    if (isUsed) await textOf((await own.outbound.send(get, signal)).body)
    await Promise.all([own.outbound.close(), own.outbound.close()])
    await rejects(own.outbound.send(get, signal), /^Error: the connection to http:\S+ is closed$/)
    equal(requests, isUsed ? 1 : 0)
  })

// fetch against simulated HTTP servers: bodies both ways, streams, errors of handlers and of URLs.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { nodeSendOn } from '../../platform/node/http/outbound.ts'
import { byteStreamPair } from '../../wire/byte-pipe.ts'
import { httpAcceptor, type SimulatedHttpHandler } from './serve-http.ts'
import { FetchResponse, simulatedFetch, type Dial, type FetchInit } from './simulated-fetch.ts'

async function fetchFrom(
  handle: SimulatedHttpHandler,
  url = 'http://web/path?query',
  init: FetchInit = {},
  clock = new VirtualClock(),
) {
  const dialled: string[] = []
  const dial: Dial = (host, port) => {
    dialled.push(`${host} ${port}`)
    const [ours, theirs] = byteStreamPair(64 * 1024)
    void httpAcceptor(handle, clock)(theirs, { address: '10.0.0.1' })
    return Promise.resolve(ours)
  }
  const response = await simulatedFetch(url, init, { dial, sendOn: nodeSendOn, clock })
  return { response: new FetchResponse(response), dialled }
}

test('the handler gets method, path, headers, address and body; the client status, headers and body', async () => {
  const { response, dialled } = await fetchFrom(
    async (request) => ({
      status: 201,
      headers: { 'x-kind': 'echo' },
      body: `${request.method} ${request.path} ${request.headers['host']} ${request.headers['x-a']} ${request.remoteAddress} ${await request.text()}`,
    }),
    'http://web:8080/path?query',
    { method: 'POST', headers: { 'X-A': 'b' }, body: 'hello' },
  )
  deepEqual([response.status, response.ok, response.headers.get('x-kind')], [201, true, 'echo'])
  equal(await response.text(), 'POST /path?query web:8080 b 10.0.0.1 hello')
  deepEqual(dialled, ['web 8080'])
})

test('JSON is sent both ways', async () => {
  const { response } = await fetchFrom(
    async (request) => ({ status: 200, body: JSON.stringify({ got: await request.json() }) }),
    undefined,
    { method: 'POST', body: JSON.stringify({ a: 1 }) },
  )
  deepEqual(await response.json(), { got: { a: 1 } })
})

test('a streamed body arrives piece by piece', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const body = async function* () {
    yield 'one'
    await promise
    yield new TextEncoder().encode('two')
  }
  const { response } = await fetchFrom(() => ({ status: 200, body: body() }))
  const seen: string[] = []
  for await (const piece of response.body) {
    seen.push(new TextDecoder().decode(piece))
    resolve()
  }
  deepEqual(seen, ['one', 'two'])
})

test('large bodies pass bounded buffers in both directions', async () => {
  const large = 'x'.repeat(1 << 20)
  const { response } = await fetchFrom(async (request) => ({ status: 200, body: await request.text() }), undefined, {
    method: 'PUT',
    body: large,
  })
  equal((await response.text()).length, large.length)
})

test('an error of the handler is a 500', async () => {
  const { response } = await fetchFrom(() => Promise.reject(new Error('x')))
  deepEqual([response.status, response.ok, await response.text()], [500, false, ''])
})

test('a handler observes that the client has left', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const abort = new AbortController()
  const fetched = fetchFrom(
    ({ signal }) => {
      signal.addEventListener('abort', () => resolve())
      abort.abort(new Error('too late'))
      return new Promise(() => {})
    },
    undefined,
    { signal: abort.signal },
  )
  await rejects(fetched, /^Error: too late$/)
  await promise
})

const urls: readonly (readonly [url: string, dialled: string])[] = [
  ['http://web/', 'web 80'],
  ['http://[2001:db8::1]:8080/', '2001:db8::1 8080'],
  ['http://10.0.0.1', '10.0.0.1 80'],
]
for (const [url, expected] of urls)
  test(`${url} dials ${expected}`, async () => {
    const { dialled } = await fetchFrom(() => ({ status: 200 }), url)
    deepEqual(dialled, [expected])
  })

test('https is not simulated', () =>
  rejects(
    fetchFrom(() => ({ status: 200 }), 'https://web/'),
    /https:\/\/web\/: only http: URLs can be fetched, because TLS is not simulated between pods/,
  ))

test('a timeout ends the request or its body, in the time of the clock', async () => {
  const clock = new VirtualClock()
  const timeoutMs = 1_000
  const expected = { code: 'ETIMEDOUT', message: 'GET http://web/: no complete response within 1000 ms' }
  const silent = rejects(
    fetchFrom(() => new Promise(() => {}), 'http://web/', { timeoutMs }, clock),
    expected,
  )
  await clock.advance('1s')
  await silent
  const body = async function* () {
    yield 'one'
    await new Promise(() => {})
  }
  const { response } = await fetchFrom(() => ({ status: 200, body: body() }), 'http://web/', { timeoutMs }, clock)
  const half = rejects(response.text(), expected)
  await clock.advance('1s')
  await half
  const whole = await fetchFrom(() => ({ status: 200, body: 'ok' }), 'http://web/', { timeoutMs }, clock)
  equal(await whole.response.text(), 'ok')
  equal(clock.pendingTimers, 0)
})

test('pipelined requests are read as far as the buffer of the server allows, and all get a response', async () => {
  const [ours, theirs] = byteStreamPair(1 << 20)
  const { promise, resolve } = Promise.withResolvers<void>()
  const handle: SimulatedHttpHandler = async ({ path }) => {
    await promise
    return { status: 200, body: path }
  }
  const served = httpAcceptor(handle, new VirtualClock())(theirs, { address: '10.0.0.1' })
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`
  for (const path of ['/1', '/2', '/3', '/4']) await ours.write(new TextEncoder().encode(request(path)))
  await eventLoopTurn()
  resolve()
  let text = ''
  for await (const piece of ours.pieces) {
    text += new TextDecoder().decode(piece)
    if (text.endsWith('/4')) break
  }
  deepEqual(text.match(/\/\d$/gm), ['/1', '/2', '/3', '/4'].slice(-1))
  equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 4)
  ours.destroy()
  await served
})

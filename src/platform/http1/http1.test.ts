// HTTP/1.1: what is accepted, what is rejected, and that the result does not depend on how the bytes are split.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { WireResponse, WireRequest } from '../http/listener.ts'
import { responseHead, rejectionText } from './response-head.ts'
import { connect } from './http1-connection.harness.ts'
import { headBytesMax } from './http1-connection.ts'
import { httpDate } from './http-date.ts'
import { parseRequestHead } from './request-head.ts'

const understood: [sent: string, wanted: Partial<ReturnType<typeof parseRequestHead>>][] = [
  ['GET / HTTP/1.1\r\nHost: x', { method: 'GET', target: '/', body: 0, keepsAlive: true, upgrade: false }],
  ['GET /a?b=%20 HTTP/1.0', { target: '/a?b=%20', isHttp10: true, keepsAlive: false }],
  ['GET / HTTP/1.0\r\nConnection: Keep-Alive', { keepsAlive: true }],
  ['GET / HTTP/1.1\r\nHost: x\r\nConnection: foo ,Close', { keepsAlive: false }],
  ['OPTIONS * HTTP/1.1\r\nHost: x', { target: '*' }],
  ['GET http://proxy.example:80/a/b?c HTTP/1.1\r\nHost: x', { target: '/a/b?c' }],
  ['GET https://proxy.example HTTP/1.1\r\nHost: x', { target: '/' }],
  ['GET /caf\xe9 HTTP/1.1\r\nHost: x', { target: '/caf\xe9' }],
  ['PUT / HTTP/1.1\r\nHost: [::1]:6443\r\nContent-Length: 12', { body: 12 }],
  ['PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked', { body: 'chunked' }],
  ['PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-Continue', { expectsContinue: true }],
  ['GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1', { upgrade: true }],
  ['GET / HTTP/1.1\r\nHost: x\r\nUpgrade: SPDY/3.1', { upgrade: false }],
  ['GET / HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1', { upgrade: false }],
  ['BREW-IT / HTTP/1.1\r\nHost:', { method: 'BREW-IT' }],
]
for (const [sent, wanted] of understood)
  test(`understood: ${JSON.stringify(sent)}`, () => {
    const head = parseRequestHead(sent)
    for (const [name, value] of Object.entries(wanted)) equal(head[name as keyof typeof head], value, name)
  })

test('headers: names are lower case, values are trimmed, lists are joined, the first of other duplicates is used', () => {
  const { headers, lines } = parseRequestHead(
    'GET / HTTP/1.1\r\nHOST: x\r\nX-A:\t1 \r\nx-a:2\r\nAuthorization: one\r\nAuthorization: two\r\n__proto__: p\r\nCookie: a\r\ncookie: b',
  )
  deepEqual(Object.entries(headers), [
    ['host', 'x'],
    ['x-a', '1, 2'],
    ['authorization', 'one'],
    ['__proto__', 'p'],
    ['cookie', 'a; b'],
  ])
  equal(headers['constructor'], undefined)
  deepEqual(lines.slice(0, 6), ['host', 'x', 'x-a', '1', 'x-a', '2'])
})

/** Heads that servers have interpreted differently, and malformed ones. */
const rejected: [sent: string, status: number][] = [
  ['GET / HTTP/1.1', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\nHost: x', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\nhost: y', 400],
  ['GET / HTTP/1.1\r\nHost: a b', 400],
  ['GET / HTTP/1.1\r\nHost: x@y', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\n folded', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\nX: 1\r\n\tfolded', 400],
  ['GET / HTTP/1.1\r\nHost : x', 400],
  ['GET / HTTP/1.1\r\n Host: x', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\nNo colon', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\n: empty', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\nB[]: 1', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\nX: a\nTransfer-Encoding: chunked', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\nX: a\rContent-Length: 5', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\nX: \0', 400],
  ['GET / HTTP/1.1\r\nHost: x\r\nX: \x7f', 400],
  ['GET  / HTTP/1.1\r\nHost: x', 400],
  ['GET / x HTTP/1.1\r\nHost: x', 400],
  ['GET /\tx HTTP/1.1\r\nHost: x', 400],
  ['GET / HTTP/1.1 \r\nHost: x', 400],
  ['GET HTTP/1.1\r\nHost: x', 400],
  ['GET / http/1.1\r\nHost: x', 400],
  ['GET / HTTP/1.10\r\nHost: x', 400],
  ['GET / HTTP/2.0\r\nHost: x', 505],
  ['GET / HTTP/1.2\r\nHost: x', 505],
  ['G=T / HTTP/1.1\r\nHost: x', 400],
  ['GET relative HTTP/1.1\r\nHost: x', 400],
  ['CONNECT example:443 HTTP/1.1\r\nHost: x', 400],
  ['GET', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5 5', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length:', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 5', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked', 501],
  ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked', 501],
  ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked;a=b', 501],
  ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0bchunked', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:', 501],
  ['POST / HTTP/1.0\r\nTransfer-Encoding: chunked', 400],
  ['POST / HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected', 417],
  [`GET / HTTP/1.1\r\nHost: x${'\r\nX: y'.repeat(1_000)}`, 431],
]
for (const [sent, status] of rejected)
  test(`rejected with ${status}: ${JSON.stringify(sent.slice(0, 90))}`, async () => {
    const { peer } = connect(() => Promise.resolve({ status: 200, headers: {}, body: 'understood' }))
    await peer.send(`${sent}\r\n\r\n`)
    equal(peer.written().slice(0, 12), `HTTP/1.1 ${status}`)
    ok(peer.hasEnded)
  })

/** Inputs for which a backtracking regular expression would take minutes. */
const repeats = 300_000
const longHeads: [connection: string, keepsAlive: boolean][] = [
  [' \t'.repeat(repeats), true],
  [`a${' '.repeat(repeats)}b`, true],
  [`${' ,'.repeat(repeats)}close`, false],
  [`a ,\tClose\t`, false],
]
for (const [connection, keepsAlive] of longHeads)
  test(`a Connection header of ${connection.length} characters is read in linear time`, () =>
    equal(parseRequestHead(`GET / HTTP/1.1\r\nHost: x\r\nConnection: ${connection}`).keepsAlive, keepsAlive))

const echo = async (request: WireRequest): Promise<WireResponse> => ({
  status: 200,
  headers: { 'x-is': `${request.method} ${request.target}` },
  body: Buffer.from(await request.body(1_000)).toString(),
})

const ok200 = (is: string, body: string) =>
  `HTTP/1.1 200 OK\r\ndate: D\r\nx-is: ${is}\r\ncontent-length: ${body.length}\r\n\r\n${body}`

const conversation =
  '\r\nPOST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello' +
  'GET /b HTTP/1.1\r\nHost: x\r\n\r\n' +
  'PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n' +
  '3\r\nabc\r\nB;ext="v"\r\ndefghijklmn\r\n000\r\nTrailer: t\r\n\r\n' +
  'HEAD /d HTTP/1.1\r\nHost: x\r\n\r\n'
const responses =
  ok200('POST /a', 'hello') + ok200('GET /b', '') + ok200('PUT /c', 'abcdefghijklmn') + ok200('HEAD /d', '')

test('pipelined requests are handled one after the other', async () => {
  const { peer } = connect(echo)
  await peer.send(conversation)
  equal(peer.written(), responses)
})

test('pipelined requests that take long are started in turns, and more is not read meanwhile', async () => {
  let nowMs = 0
  let handled = 0
  const { peer } = connect(
    () => {
      nowMs += 2
      return { status: 200, headers: {}, body: String(++handled) }
    },
    {},
    () => nowMs,
  )
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  await peer.send(request.repeat(10))
  ok(handled < 10, `${handled} were handled in one turn`)
  await peer.send(request.repeat(4_000))
  equal(peer.isPaused, true)
  while (!peer.written().endsWith('4010')) await peer.settle()
  equal(peer.isPaused, false)
})

test('a connection that is drained ends after its next pipelined request', async () => {
  let nowMs = 0
  const { peer, connection } = connect(
    () => {
      nowMs += 100
      return { status: 200, headers: {}, body: 'done' }
    },
    {},
    () => nowMs,
  )
  const sent = peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(9))
  const before = peer.written().match(/done/g)?.length ?? 0
  ok(before < 9 && connection.isBusy)
  connection.drain()
  equal(peer.hasEnded, false)
  await sent
  ok(peer.hasEnded)
  equal(peer.written().match(/done/g)?.length, before + 1)
})

test('requests may be split at any byte', async () => {
  for (let cut = 1; cut < conversation.length; cut++) {
    const { peer } = connect(echo)
    await peer.send(conversation.slice(0, cut))
    await peer.send(conversation.slice(cut))
    equal(peer.written(), responses, `cut behind ${cut} bytes`)
  }
  const { peer } = connect(echo)
  for (const byte of conversation) await peer.send(byte)
  equal(peer.written(), responses, 'byte by byte')
})

const post = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const brokenBodies: [name: string, body: string][] = [
  ['a size that is not a number', 'x\r\n'],
  ['no size', '\r\n'],
  ['a sign', '+3\r\nabc\r\n'],
  ['a prefix', '0x3\r\nabc\r\n'],
  ['a blank before an extension', '3 ;a\r\nabc\r\n'],
  ['a size beyond the range of numbers', 'fffffffffffff\r\n'],
  ['more data than its size', '3\r\nabcd\r\n'],
  ['less data than its size', '3\r\nab\r\n0\r\n\r\n'],
  ['a bare line feed behind a size', '3\nabc\r\n'],
  ['a bare line feed behind data', '3\r\nabc\n0\r\n\r\n'],
  ['a bare carriage return in an extension', '3;a\rb\r\nabc\r\n'],
  ['a folded trailer', '0\r\nA: b\r\n c\r\n\r\n'],
  ['a trailer without a name', '0\r\n: b\r\n\r\n'],
  ['an endless size', '0'.repeat(5_000)],
  ['an endless extension', `3;${'e'.repeat(5_000)}`],
  ['more framing than data', '1;eeeeeeeeeeeeeeeeeeeeeeeeeeeeee\r\na\r\n'.repeat(1_000)],
]
for (const [name, body] of brokenBodies)
  test(`a chunked body with ${name} is rejected, and the connection is closed`, async () => {
    const { peer } = connect(echo)
    await peer.send(post + body)
    match(
      peer.written(),
      /^HTTP\/1\.1 400 Bad Request\r\ncontent-type: text\/plain; charset=utf-8\r\nconnection: close\r\n/,
    )
    ok(peer.hasEnded)
    await peer.send('GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n')
    ok(!peer.written().includes('smuggled'))
  })

test('too many trailers are rejected', async () => {
  const { peer } = connect(echo)
  await peer.send(`${post}3e8\r\n${'x'.repeat(1_000)}\r\n0\r\n`)
  await peer.send(`X: ${'y'.repeat(2_000)}\r\n`.repeat(10))
  match(peer.written(), /^HTTP\/1\.1 4(00|31) /)
})

test('a head that is too long, or a line without its carriage return, is rejected before the head is complete', async () => {
  const long = connect(echo)
  await long.peer.send(`GET / HTTP/1.1\r\nX: ${'y'.repeat(headBytesMax)}`)
  match(long.peer.written(), /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/)
  const bare = connect(echo)
  await bare.peer.send('GET / HTTP/1.1\nHost: x\n')
  equal(bare.peer.written(), rejectionText(400, 'a line that ends without a carriage return'))
  const lone = connect(echo)
  await lone.peer.send('GET / HTTP/1.1\r')
  await lone.peer.send('Host: x')
  equal(lone.peer.written(), rejectionText(400, 'a carriage return within a line'))
})

test('a body beyond the limit is an error for the handler, and the connection is closed', async () => {
  const reportError = async (request: WireRequest): Promise<WireResponse> => ({
    status: 413,
    headers: {},
    body: await Promise.resolve(request.body(10)).then(String, (error: Error) => error.name),
  })
  for (const framing of ['Content-Length: 11\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n']) {
    const { peer } = connect(reportError)
    await peer.send(`POST / HTTP/1.1\r\nHost: x\r\n${framing}`)
    match(peer.written(), /^HTTP\/1\.1 413 [^]*connection: close\r\n\r\nBodyTooLarge$/)
    ok(peer.hasEnded)
  }
})

test('100 Continue is sent if the client expects it, and only when the handler reads the body', async () => {
  const { peer } = connect(echo)
  await peer.send('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n')
  equal(peer.written(), 'HTTP/1.1 100 Continue\r\n\r\n')
  await peer.send('hi')
  ok(peer.written().endsWith(ok200('PUT /', 'hi')))
  const deaf = connect(() => Promise.resolve({ status: 403, headers: {}, body: 'no' }))
  await deaf.peer.send('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n')
  match(deaf.peer.written(), /^HTTP\/1\.1 403 Forbidden\r\n/)
})

test('a short body that is not read is discarded; after a long one, or one without a length, the connection is closed', async () => {
  const deaf = () => Promise.resolve<WireResponse>({ status: 200, headers: {}, body: 'deaf' })
  const short = connect(deaf)
  await short.peer.send('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nGET /')
  await short.peer.send(' x HGET / HTTP/1.1\r\nHost: x\r\n\r\n')
  equal(short.peer.written().match(/deaf/g)?.length, 2)
  const long = connect(deaf)
  await long.peer.send('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n')
  match(long.peer.written(), /connection: close/)
  const chunked = connect(deaf)
  await chunked.peer.send(`${post}3\r\n`)
  ok(chunked.peer.hasEnded)
})

async function* twoPieces() {
  yield 'one'
  yield 'two'
  await Promise.resolve()
}

const streamed: [request: string, wanted: string, ends: boolean][] = [
  ['GET / HTTP/1.1\r\nHost: x', 'transfer-encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n', false],
  ['GET / HTTP/1.0\r\nConnection: keep-alive', 'connection: close\r\n\r\nonetwo', true],
  ['HEAD / HTTP/1.1\r\nHost: x', '\r\n\r\n', false],
]
for (const [request, wanted, ends] of streamed)
  test(`a streamed response to ${JSON.stringify(request)}`, async () => {
    const { peer } = connect(() => Promise.resolve({ status: 200, headers: {}, body: twoPieces() }))
    await peer.send(`${request}\r\n\r\n`)
    equal(peer.written(), `HTTP/1.1 200 OK\r\ndate: D\r\n${wanted.replace(/^\r\n/, '')}`)
    equal(peer.hasEnded, ends)
  })

test('responses without a body have none, and no length where it is not allowed', async () => {
  for (const status of [204, 304]) {
    const { peer } = connect(() => Promise.resolve({ status, headers: {}, body: 'x' }))
    await peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    match(peer.written(), /^HTTP\/1\.1 \d+ [A-Za-z ]+\r\ndate: D\r\n\r\n$/)
  }
})

test('an HTTP/1.0 client gets keep-alive in the response', async () => {
  const { peer } = connect(echo)
  await peer.send('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
  match(peer.written(), /connection: keep-alive\r\n\r\n$/)
  await peer.send('GET / HTTP/1.0\r\n\r\n')
  match(peer.written(), /connection: close\r\n\r\n$/)
  ok(peer.hasEnded)
})

test('a client that pipelines too much is not read until it has its responses', async () => {
  const gate = Promise.withResolvers<WireResponse>()
  const { peer } = connect(() => gate.promise)
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  await peer.send(request.repeat(4_000))
  equal(peer.isPaused, true)
  gate.resolve({ status: 200, headers: {}, body: 'late' })
  await peer.settle()
  equal(peer.isPaused, false)
  equal(peer.written().match(/late/g)?.length, 4_000)
})

test('a client that does not read gets no further responses until it does', async () => {
  let asked = 0
  const { peer } = connect(() => Promise.resolve({ status: 200, headers: {}, body: `${++asked}` }))
  peer.stopReading()
  await peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3))
  equal(asked, 1)
  await peer.resumeReading()
  equal(asked, 3)
})

test('the request is aborted when its client disconnects', async () => {
  const requests: WireRequest[] = []
  const { peer } = connect((request) => {
    requests.push(request)
    return new Promise(() => {})
  })
  await peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  equal(requests[0]?.signal.aborted, false)
  peer.close()
  equal(requests[0]?.signal.aborted, true)
})

test('a client that ends its side gets the responses to what it has sent, and the connection is closed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { peer } = connect((request) => promise.then(() => echo(request)))
  await peer.send(`${conversation}GET /incomplete HTTP/1.1\r\nHost`)
  await peer.endSending()
  equal(peer.written(), '')
  ok(!peer.hasEnded)
  resolve()
  while (!peer.hasEnded) await peer.settle()
  equal(peer.written(), responses)
})

test('a client that ends its side while it is behind gets the rest when it reads', async () => {
  const { peer } = connect(echo)
  peer.stopReading()
  await peer.send('GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n')
  await peer.endSending()
  ok(!peer.hasEnded)
  await peer.resumeReading()
  while (!peer.hasEnded) await peer.settle()
  equal(peer.written(), ok200('GET /a', '') + ok200('GET /b', ''))
})

test('a client that ends its side without a request is disconnected', async () => {
  const { peer } = connect(echo)
  await peer.send('GET /a HTTP/1.1\r\nHost: x\r\n\r\n')
  await peer.endSending()
  ok(peer.hasEnded && !peer.isDestroyed)
})

const quiet = () => ({ listen() {}, take: () => [], close() {} })

test('a client that ends its side may have gone: a watch is ended, and a body that is incomplete is an error', async () => {
  const watch = connect(() => ({ status: 200, headers: {}, body: quiet() }))
  await watch.peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await watch.peer.endSending()
  ok(watch.peer.isDestroyed)
  const starting = Promise.withResolvers<WireResponse>()
  const later = connect(() => starting.promise)
  await later.peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await later.peer.endSending()
  ok(!later.peer.isDestroyed)
  let closed = 0
  starting.resolve({ status: 200, headers: {}, body: { ...quiet(), close: () => closed++ } })
  await later.peer.settle()
  deepEqual([later.peer.isDestroyed, later.peer.written(), closed], [true, '', 1])
  let failure: unknown
  const body = connect((request) =>
    echo(request).catch((error: unknown) => {
      failure = error
      throw error
    }),
  )
  await body.peer.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel')
  await body.peer.endSending()
  ok(body.peer.isDestroyed && failure instanceof DOMException)
})

test('bytes after an upgrade request belong to the new protocol', async () => {
  const { peer } = connect(({ upgrade }) =>
    Promise.resolve({
      status: 101,
      headers: { connection: 'Upgrade', upgrade: 'echo' },
      body: '',
      onUpgrade: async (stream) => stream.write(Buffer.from(`taken ${upgrade}`)),
    }),
  )
  await peer.send('POST / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nalready here')
  equal(
    peer.written(),
    'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n[already here]taken true',
  )
})

const late: [name: string, sent: string, seconds: number, response: RegExp][] = [
  ['nothing', '', 30, /^$/],
  ['half a head', 'GET / HT', 30, /^HTTP\/1\.1 408 Request Timeout\r\n/],
  ['half a body', 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf', 60, /^$/],
  ['nothing more', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', 90, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/],
]
for (const [name, sent, seconds, response] of late)
  test(`a client that sends ${name} has ${seconds} seconds`, async () => {
    const { peer } = connect(echo)
    await peer.send(sent)
    await peer.wait(seconds - 1)
    ok(!peer.hasEnded)
    await peer.wait(1)
    ok(peer.hasEnded)
    match(peer.written(), response)
  })

test('bytes that trickle do not extend the deadline of a head', async () => {
  const { peer } = connect(echo)
  for (const byte of 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: loris') {
    await peer.send(byte)
    await peer.wait(1)
  }
  match(peer.written(), /^HTTP\/1\.1 408 /)
})

/** Responds with the size of the body, or with the name of its error. */
const sizeOfBody = async (request: WireRequest): Promise<WireResponse> => ({
  status: 200,
  headers: {},
  body: await Promise.resolve(request.body(1 << 20)).then(
    ({ length }) => String(length),
    ({ name }: Error) => name,
  ),
})

test('a body beyond the memory budget is rejected, and the connection is closed after the response', async () => {
  const { peer } = connect(sizeOfBody, { heldBytesPerConnectionMax: 10_000 })
  await peer.send(`PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(9_000)}`)
  equal(peer.written(), '')
  await peer.send('x'.repeat(2_000))
  match(peer.written(), /^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n\r\nOverloaded$/)
  ok(peer.hasEnded && !peer.isDestroyed)
})

test('a request that waits for its body takes memory, however little has arrived', async () => {
  const { peer } = connect(sizeOfBody, { heldBytesPerConnectionMax: 5_000 })
  await peer.send('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\nx')
  equal(peer.written(), '')
  await peer.wait(1)
  match(peer.written(), /Overloaded$/)
})

test('a response that the client does not receive is aborted when memory is short, not before', async () => {
  const body = Buffer.alloc(20_000)
  for (const [limits, isDestroyed] of [
    [{}, false],
    [{ heldBytesPerConnectionMax: 10_000 }, true],
  ] as const) {
    const { peer } = connect(() => ({ status: 200, headers: {}, body }), limits)
    peer.stopReading()
    await peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await peer.wait(2)
    equal(peer.isDestroyed, false)
    await peer.wait(3)
    equal(peer.isDestroyed, isDestroyed)
  }
})

test('the last response may be received as slowly as any other', async () => {
  const { peer } = connect(() => ({ status: 200, headers: {}, body: 'last' }))
  peer.stopReading()
  await peer.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await peer.wait(119)
  ok(peer.hasEnded && !peer.isDestroyed)
  await peer.resumeReading()
  await peer.wait(4)
  ok(!peer.isDestroyed)
  await peer.wait(1)
  ok(peer.isDestroyed)
})

test('a client whose certificate has expired loses its watch, and other requests a little later', async () => {
  const watch = connect(() => ({ status: 200, headers: {}, body: quiet() }))
  await watch.peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  watch.connection.revoke()
  await watch.peer.settle()
  match(watch.peer.written(), /\r\n\r\n0\r\n\r\n$/)
  ok(watch.peer.hasEnded && !watch.peer.isDestroyed)
  const slow = connect(() => new Promise(() => {}))
  await slow.peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  for (let second = 0; second < 4; second++) {
    slow.connection.revoke() // called each second
    await slow.peer.wait(1)
  }
  ok(!slow.peer.isDestroyed)
  await slow.peer.wait(1)
  ok(slow.peer.isDestroyed)
})

test('a draining connection finishes its response, announces the close in it, and closes', async () => {
  const gate = Promise.withResolvers<WireResponse>()
  const { peer, connection } = connect(() => gate.promise)
  await peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  connection.drain()
  ok(connection.isBusy && !peer.hasEnded)
  gate.resolve({ status: 200, headers: {}, body: 'last' })
  await peer.settle()
  match(peer.written(), /connection: close\r\n\r\nlast$/)
  ok(peer.hasEnded && !connection.isBusy)
  const idle = connect(echo)
  idle.connection.drain()
  ok(idle.peer.hasEnded)
})

test('a response that fails closes the connection without the last chunk', async () => {
  async function* broken() {
    yield 'part'
    await Promise.resolve()
    throw new Error('no more')
  }
  const { peer } = connect(() => Promise.resolve({ status: 200, headers: {}, body: broken() }))
  await peer.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  ok(peer.written().endsWith('4\r\npart\r\n'))
  ok(peer.isDestroyed)
})

test('a header value that contains a line break is rejected', () => {
  const framing = { length: 0, connection: undefined } as const
  equal(
    responseHead(
      299,
      { 'x-a': 'b\r\nset-cookie: c\u2028', 'x b': 'c', connection: 'x', warning: ['1', '2'] },
      framing,
      'D',
    ),
    'HTTP/1.1 299 \r\ndate: D\r\nx-a: b  set-cookie: c \r\nwarning: 1\r\nwarning: 2\r\ncontent-length: 0\r\n\r\n',
  )
})

test('the date is in the format of HTTP', async () => {
  const clock = new VirtualClock()
  const date = httpDate(clock)
  equal(date(), 'Tue, 01 Jan 2030 00:00:00 GMT')
  await clock.advance('61s')
  equal(date(), 'Tue, 01 Jan 2030 00:01:01 GMT')
})

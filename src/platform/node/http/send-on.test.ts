// Requests on open connections: framing of requests, framing of responses, and malformed or incomplete responses. All
// other requests use the same client.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import type { ByteStream } from '../../http/byte-stream.ts'
import type { StreamedOutboundRequest } from '../../http/outbound.ts'
import { latin1Bytes, latin1Text } from '../../http1/latin1.ts'
import { nodeSendOn } from './outbound.ts'
import { responseHeadBytesMax } from './undici-exchange.ts'

const { signal } = new AbortController()
const get: StreamedOutboundRequest = { method: 'GET', target: '/x?y', headers: { host: 'web' } }
const crlf = (text: string) => text.replaceAll('\n', '\r\n')

/** A server that sends these pieces. */
function serverOf(...pieces: readonly string[]) {
  const sent = { text: '', isDestroyed: false }
  const stream: ByteStream = {
    pieces: (async function* () {
      for (const piece of pieces) yield latin1Bytes(piece)
    })(),
    write: (piece) => Promise.resolve(void (sent.text += latin1Text(piece, 0, piece.length))),
    end: () => {},
    destroy: () => (sent.isDestroyed = true),
  }
  return { stream, sent }
}

async function bodyOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of body) text += latin1Text(piece, 0, piece.length)
  return text
}

/** What a client gets whose server sends the text in pieces of a length. */
async function received(text: string, { method = 'GET', pieceBytes = Infinity } = {}) {
  const bytes = crlf(text)
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(bytes.slice(at, at + pieceBytes))
  const { stream, sent } = serverOf(...pieces)
  try {
    const { status, headers, body } = await nodeSendOn(stream, { ...get, method }, signal)
    return [status, headers, await bodyOf(body)]
  } finally {
    ok(sent.isDestroyed)
  }
}

const responses: readonly (readonly [name: string, text: string, method: string, expected: readonly unknown[]])[] = [
  ['a length', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', 'GET', [200, { 'content-length': '2' }, 'ok']],
  ['bytes after it', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok, more', 'GET', [200, { 'content-length': '2' }, 'ok']],
  ['no reason', 'HTTP/1.1 200\ncontent-length: 0\n\n', 'GET', [200, { 'content-length': '0' }, '']],
  ['no headers', 'HTTP/1.1 204 No Content\n\n', 'GET', [204, {}, '']],
  [
    'chunks and trailers',
    'HTTP/1.1 200 OK\ntransfer-encoding: Chunked\n\n2\nok\n3;a=b\nyes\n0\nX-A: 1\nx-b: 2\n\n',
    'GET',
    [200, { 'transfer-encoding': 'Chunked' }, 'okyes'],
  ],
  ['the end of the connection', 'HTTP/1.1 200 OK\n\nok', 'GET', [200, {}, 'ok']],
  ['HEAD', 'HTTP/1.1 200 OK\ncontent-length: 99999\n\n', 'HEAD', [200, { 'content-length': '99999' }, '']],
  ['304', 'HTTP/1.1 304 Not Modified\ncontent-length: 9\n\n', 'GET', [304, { 'content-length': '9' }, '']],
  ['an interim response', 'HTTP/1.1 103 Early Hints\nlink: a\n\nHTTP/1.1 204 No Content\n\n', 'GET', [204, {}, '']],
  ['HTTP/1.0', 'HTTP/1.0 200 x\n\nok', 'GET', [200, {}, 'ok']],
  ['repeated headers', 'HTTP/1.1 204 x\na: b\na: c\n\n', 'GET', [204, { a: 'b,c' }, '']],
  ['a header of a prototype', 'HTTP/1.1 204 x\nconstructor: b\n\n', 'GET', [204, { constructor: 'b' }, '']],
]

suite('a response', () => {
  for (const [name, text, method, expected] of responses)
    test(name, async () => {
      for (const pieceBytes of [Infinity, 7, 1]) deepEqual(await received(text, { method, pieceBytes }), expected)
    })
})

const malformed: readonly (readonly [name: string, text: string, error: RegExp])[] = [
  ['nothing', '', /^Error: EOF$/],
  ['half a head', 'HTTP/1.1 200 OK\n', /^Error: unexpected EOF$/],
  ['half a body', 'HTTP/1.1 200 OK\nContent-Length: 5\n\nhel', /^Error: unexpected EOF$/],
  ['half a chunk', 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nh', /^Error: unexpected EOF$/],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\n\n', /^Error: malformed HTTP response "SSH-2.0-OpenSSH_9.2"$/],
  ['HTTP/2', 'HTTP/2 200\n\n', /^Error: malformed HTTP response/],
  ['no status', 'HTTP/1.1 OK\n\n', /^Error: malformed HTTP response/],
  ['a status of two digits', 'HTTP/1.1 20 OK\n\n', /^Error: malformed HTTP response/],
  ['101', 'HTTP/1.1 101 Switching Protocols\nconnection: upgrade\nupgrade: x\n\n', /EOF/],
  ['two lengths', 'HTTP/1.1 200 OK\ncontent-length: 1\ncontent-length: 1\n\n', /content-length/],
  [
    'two encodings',
    'HTTP/1.1 200 OK\ntransfer-encoding: chunked\ntransfer-encoding: chunked\n\n0\n\n',
    /^Error: (malformed|.*transfer-encoding)/,
  ],
  ['a length and an encoding', 'HTTP/1.1 200 OK\ncontent-length: 1\ntransfer-encoding: chunked\n\n', /content-length/],
  ['an encoding and a length', 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\ncontent-length: 1\n\n', /malformed/],
  ['a negative length', 'HTTP/1.1 200 OK\ncontent-length: -1\n\n', /malformed/],
  ['a list of lengths', 'HTTP/1.1 200 OK\ncontent-length: 1, 1\n\n', /content-length/],
  ['another encoding', 'HTTP/1.1 200 OK\ntransfer-encoding: gzip\n\n', /transfer-encoding .* not supported/],
  ['several encodings', 'HTTP/1.1 200 OK\ntransfer-encoding: gzip, chunked\n\n0\n\n', /not supported/],
  ['a header without a colon', 'HTTP/1.1 200 OK\na\n\n', /malformed/],
  ['a control character', 'HTTP/1.1 200 OK\na: \u0000\n\n', /malformed/],
  ['a malformed chunk', 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\nx\n', /malformed/],
  ['a long head', `HTTP/1.1 200 OK\na: ${'x'.repeat(responseHeadBytesMax)}\n\n`, /Headers Overflow/],
  ['a long head that is not complete', `HTTP/1.1 200 OK\na: ${'x'.repeat(responseHeadBytesMax)}`, /Headers Overflow/],
]

suite('a server that sends', () => {
  for (const [name, text, error] of malformed)
    test(`${name} fails the request`, async () => {
      for (const pieceBytes of [Infinity, 999]) await rejects(received(text, { pieceBytes }), error)
    })
})

test('a body of many chunks of one byte is received', async () => {
  const count = 100_000
  const [, , body] = await received(`HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n${'1\nx\n'.repeat(count)}0\n\n`, {
    pieceBytes: 10_000,
  })
  equal((body as string).length, count)
})

test('the request is sent in one write, and asks the server to close the connection', async () => {
  const { stream, sent } = serverOf('HTTP/1.1 204 x\r\n\r\n')
  await nodeSendOn(stream, { ...get, headers: { Host: 'web', 'X-A': ['1', '2'] } }, signal)
  equal(sent.text, 'GET /x?y HTTP/1.1\r\nhost: web\r\nconnection: close\r\nX-A: 1\r\nX-A: 2\r\n\r\n')
})

test('bodies of requests have a length, streams are sent in chunks', async () => {
  const texts: string[] = []
  const stream = async function* () {
    yield latin1Bytes('he')
    yield latin1Bytes('')
    yield latin1Bytes('llo')
  }
  for (const body of ['héllo', latin1Bytes('hello'), stream(), undefined]) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const server = serverOf()
    const pieces = (async function* () {
      await promise
      yield latin1Bytes('HTTP/1.1 204 x\r\n\r\n')
    })()
    const response = nodeSendOn(
      { ...server.stream, pieces },
      { ...get, method: 'PUT', ...(body === undefined ? {} : { body }) },
      signal,
    )
    await eventLoopTurn()
    resolve()
    await response
    texts.push(server.sent.text.split('connection: close\r\n')[1] ?? '')
  }
  deepEqual(texts, [
    'content-length: 6\r\n\r\nh\u00c3\u00a9llo',
    'content-length: 5\r\n\r\nhello',
    'transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n',
    'content-length: 0\r\n\r\n',
  ])
})

const invalid: readonly (readonly [name: string, change: Partial<StreamedOutboundRequest>])[] = [
  ['a header with a line end', { headers: { host: 'web', a: 'x\r\nb: y' } }],
  ['a header with a character that is no byte', { headers: { host: 'web', a: '\u0100' } }],
  ['a name of a header with a colon', { headers: { host: 'web', 'a: b\r\nc': 'd' } }],
  ['a header of the connection', { headers: { host: 'web', 'transfer-encoding': 'chunked' } }],
  ['a method with a blank', { method: 'GET /a' }],
  ['an empty method', { method: '' }],
  ['a target with a blank', { target: '/a b' }],
  ['a target with a line end', { target: '/a\r\nb: c' }],
  ['a target with a control character', { target: '/\u007f' }],
  ['a target with a character that is no byte', { target: '/\u0100' }],
  ['a target with another host', { target: 'http://other/' }],
  ['a target with a backslash in its path', { target: '/\\other/' }],
  ['a target without a slash', { target: 'x' }],
  ['no target', { target: '' }],
]

suite('nothing is sent for', () => {
  for (const [name, change] of invalid)
    test(name, async () => {
      const { stream, sent } = serverOf('HTTP/1.1 204 x\r\n\r\n')
      await rejects(nodeSendOn(stream, { ...get, ...change }, signal))
      deepEqual(sent, { text: '', isDestroyed: true })
    })
})

test('a query may contain any visible character', async () => {
  const { stream, sent } = serverOf('HTTP/1.1 204 x\r\n\r\n')
  await nodeSendOn(stream, { ...get, target: '/a?b=\\?/{}\u00e9' }, signal)
  ok(sent.text.startsWith('GET /a?b=\\?/{}\u00e9 HTTP/1.1\r\n'))
})

test('a server may respond and close the connection before it has read the body', async () => {
  const { stream } = serverOf('HTTP/1.1 413 x\r\ncontent-length: 2\r\n\r\nno')
  const closing = { ...stream, write: () => Promise.reject(new Error('closed')) }
  const { status, body } = await nodeSendOn(closing, { ...get, method: 'PUT', body: 'x'.repeat(100_000) }, signal)
  deepEqual([status, await bodyOf(body)], [413, 'no'])
})

test('the error of a body that cannot be produced is the error of the request', async () => {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const stream: ByteStream = {
    pieces: (async function* () {
      yield await promise
    })(),
    write: () => Promise.resolve(),
    end: () => {},
    destroy: () => reject(new Error('destroyed')),
  }
  const body = (async function* () {
    yield latin1Bytes('x')
    throw new Error('no more')
  })()
  await rejects(nodeSendOn(stream, { ...get, method: 'POST', body }, signal), /^Error: no more$/)
})

test('the signal destroys the connection and is the error, before and during the request', async () => {
  const abort = new AbortController()
  const { promise, resolve } = Promise.withResolvers<Uint8Array>()
  const stream: ByteStream = {
    pieces: (async function* () {
      yield await promise
    })(),
    write: () => Promise.resolve(),
    end: () => {},
    destroy: () => resolve(new Uint8Array(0)),
  }
  const response = nodeSendOn(stream, get, abort.signal)
  abort.abort(new Error('too late'))
  await rejects(response, /^Error: too late$/)
  await promise
  const { stream: unused, sent } = serverOf()
  await rejects(nodeSendOn(unused, get, abort.signal), /^Error: too late$/)
  deepEqual(sent, { text: '', isDestroyed: true })
})

test('a body that is not read to its end destroys the connection', async () => {
  const { stream, sent } = serverOf('HTTP/1.1 200 x\r\n\r\none', 'two')
  const { body } = await nodeSendOn(stream, get, signal)
  for await (const _ of body) break
  equal(sent.isDestroyed, true)
})

test('a server that sends faster than the response is read has to wait', async () => {
  let taken = 0
  const { stream } = serverOf()
  const pieces = (async function* () {
    yield latin1Bytes('HTTP/1.1 200 x\r\n\r\n')
    for (; taken < 100; taken++) yield new Uint8Array(64 << 10)
  })()
  const { body } = await nodeSendOn({ ...stream, pieces }, get, signal)
  await eventLoopTurn()
  ok(taken < 10, `${taken} pieces of 64 KiB were read ahead`)
  equal((await bodyOf(body)).length, 100 * (64 << 10))
})

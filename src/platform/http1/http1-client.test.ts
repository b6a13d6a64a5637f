// The client of HTTP/1.1: framing of requests, framing of responses, and malformed or incomplete responses.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import type { ByteStream } from '../http/byte-stream.ts'
import { http1Exchange, type Http1ClientRequest } from './http1-client.ts'
import { latin1Bytes, latin1Text } from './latin1.ts'

const { signal } = new AbortController()
const get: Http1ClientRequest = { method: 'GET', target: '/x?y', headers: { host: 'web' } }

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

const ok = 'HTTP/1.1 200 OK\r\n'
const responses: readonly (readonly [name: string, pieces: readonly string[], body: string])[] = [
  ['a length', [`${ok}Content-Length: 5\r\n\r\nhello, not read`], 'hello'],
  ['a length in pieces', [`${ok}Content-Le`, 'ngth: 5\r\n\r', '\nhel', 'lo'], 'hello'],
  ['chunks', [`${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r`, '\nlo\r\n0\r\n\r\n'], 'hello'],
  ['the end of the connection', [`${ok}\r\nhel`, 'lo'], 'hello'],
  ['an interim response', ['HTTP/1.1 100 Continue\r\n\r\n', `${ok}Content-Length: 2\r\n\r\nok`], 'ok'],
  ['no body', ['HTTP/1.1 204 No Content\r\n\r\n'], ''],
]
for (const [name, pieces, body] of responses)
  test(`the body of a response with ${name} is read to its end`, async () => {
    const { stream, sent } = serverOf(...pieces)
    const response = await http1Exchange(stream, get, signal)
    equal(await bodyOf(response.body), body)
    equal(sent.isDestroyed, true)
    equal(sent.text, 'GET /x?y HTTP/1.1\r\nhost: web\r\nconnection: close\r\n\r\n')
  })

const failures: readonly (readonly [name: string, pieces: readonly string[], error: RegExp])[] = [
  ['nothing', [], /^Error: EOF$/],
  ['half a head', [ok], /^Error: unexpected EOF$/],
  ['half a body', [`${ok}Content-Length: 5\r\n\r\nhel`], /^Error: unexpected EOF$/],
  ['half a chunk', [`${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nh`], /^Error: unexpected EOF$/],
  ['another protocol', ['SSH-2.0-x\r\n\r\n'], /^Error: malformed HTTP response: "SSH-2.0-x"$/],
  ['too long a head', [`${ok}a: ${'x'.repeat(70_000)}`], /^Error: malformed HTTP response: too long a head$/],
  ['a bad length', [`${ok}Content-Length: x\r\n\r\n`], /^Error: malformed HTTP response: bad Content-Length$/],
]
for (const [name, pieces, error] of failures)
  test(`a server that sends ${name} is an error`, async () => {
    const { stream, sent } = serverOf(...pieces)
    await rejects(
      http1Exchange(stream, get, signal).then(({ body }) => bodyOf(body)),
      error,
    )
    equal(sent.isDestroyed, true)
  })

test('bodies of requests have a length, streams are sent in chunks', async () => {
  const response = `${ok}Content-Length: 0\r\n\r\n`
  const texts: string[] = []
  const stream = async function* () {
    yield latin1Bytes('he')
    yield latin1Bytes('')
    yield latin1Bytes('llo')
  }
  for (const body of ['héllo', latin1Bytes('hello'), stream()]) {
    const server = serverOf(response)
    await http1Exchange(server.stream, { ...get, method: 'PUT', body }, signal).then((each) => bodyOf(each.body))
    await eventLoopTurn()
    texts.push(server.sent.text.split('host: web\r\n')[1] ?? '')
  }
  deepEqual(texts, [
    'content-length: 6\r\nconnection: close\r\n\r\nh\u00c3\u00a9llo',
    'content-length: 5\r\nconnection: close\r\n\r\nhello',
    'transfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n',
  ])
})

test('a header with a line end is rejected, and nothing is sent', async () => {
  const { stream, sent } = serverOf(ok)
  await rejects(http1Exchange(stream, { ...get, headers: { a: 'x\r\nb: y' } }, signal), TypeError)
  equal(sent.text, '')
})

test('the error of a body that cannot be produced is the error of the request', async () => {
  const { promise, reject } = Promise.withResolvers<never>()
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
  await rejects(http1Exchange(stream, { ...get, body }, signal), /^Error: no more$/)
})

test('the signal destroys the connection and is the error', async () => {
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
  const response = http1Exchange(stream, get, abort.signal)
  abort.abort(new Error('too late'))
  await rejects(response, /^Error: too late$/)
})

import { deepEqual, equal, throws } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { latin1Bytes, latin1Text } from './latin1.ts'
import { responseHeadBytesMax, ResponseParser } from './response-parser.ts'

const crlf = (text: string) => text.replaceAll('\n', '\r\n')

/** What a parser reports for the response to a request, whose bytes arrive in pieces of a length. */
function parsed(text: string, { method = 'GET', pieceBytes = Infinity, isClosed = false } = {}) {
  const seen: string[] = []
  let body = ''
  const parser = new ResponseParser(
    {
      head: ({ status, lines, body: framing, keepsAlive, keepAliveSeconds }) => {
        const kept = keepsAlive ? `keep ${keepAliveSeconds ?? ''}`.trim() : 'close'
        seen.push(`${status} ${framing} ${kept}`, ...(lines.length === 0 ? [] : [lines.join(' ')]))
      },
      data: (piece) => (body += latin1Text(piece, 0, piece.length)),
      end: (trailers) => seen.push(`body ${body}`, ...trailers),
    },
    latin1Text,
  )
  parser.begin(method)
  const bytes = latin1Bytes(crlf(text))
  for (let at = 0; at < bytes.length; at += pieceBytes) parser.take(bytes.subarray(at, at + pieceBytes))
  if (isClosed) seen.push(`closed ${parser.close()}`)
  return seen
}

const responses: readonly (readonly [string, string, Parameters<typeof parsed>[1], readonly string[]])[] = [
  ['a length', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', {}, ['200 2 keep', 'content-length 2', 'body ok']],
  ['no reason', 'HTTP/1.1 200\ncontent-length: 0\n\n', {}, ['200 0 keep', 'content-length 0', 'body ']],
  ['no headers', 'HTTP/1.1 204 No Content\n\n', {}, ['204 0 keep', 'body ']],
  [
    'chunks and trailers',
    'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n2\nok\n3;a=b\nyes\n0\nX-A: 1\nx-b: 2\n\n',
    {},
    ['200 chunked keep', 'transfer-encoding chunked', 'body okyes', 'x-a', '1', 'x-b', '2'],
  ],
  ['until the end', 'HTTP/1.1 200 OK\n\nok', { isClosed: true }, ['200 until the end close', 'body ok', 'closed true']],
  [
    'an incomplete body',
    'HTTP/1.1 200 OK\ncontent-length: 3\n\nok',
    { isClosed: true },
    ['200 3 keep', 'content-length 3', 'closed false'],
  ],
  [
    'incomplete chunks',
    'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n2\nok\n',
    { isClosed: true },
    ['200 chunked keep', 'transfer-encoding chunked', 'closed false'],
  ],
  ['HEAD', 'HTTP/1.1 200 OK\ncontent-length: 9\n\n', { method: 'HEAD' }, ['200 0 keep', 'content-length 9', 'body ']],
  ['304', 'HTTP/1.1 304 Not Modified\ncontent-length: 9\n\n', {}, ['304 0 keep', 'content-length 9', 'body ']],
  [
    'interim responses',
    'HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early Hints\nlink: a\n\nHTTP/1.1 204 No Content\n\n',
    {},
    ['204 0 keep', 'body '],
  ],
  [
    'an idle limit of the server',
    'HTTP/1.1 204 x\nkeep-alive: max=3, timeout=5\n\n',
    {},
    ['204 0 keep 5', 'keep-alive max=3, timeout=5', 'body '],
  ],
  ['close', 'HTTP/1.1 204 x\nConnection: x, Close\n\n', {}, ['204 0 close', 'connection x, Close', 'body ']],
  ['HTTP/1.0', 'HTTP/1.0 204 x\n\n', {}, ['204 0 close', 'body ']],
  [
    'HTTP/1.0 that keeps the connection',
    'HTTP/1.0 204 x\nconnection: keep-alive\n\n',
    {},
    ['204 0 keep', 'connection keep-alive', 'body '],
  ],
  [
    'repeated headers',
    'HTTP/1.1 204 x\nset-cookie: a\nset-cookie: b\n\n',
    {},
    ['204 0 keep', 'set-cookie a set-cookie b', 'body '],
  ],
]

suite('a response', () => {
  for (const [name, text, options, expected] of responses)
    test(name, () => {
      deepEqual(parsed(text, options), expected)
      deepEqual(parsed(text, { ...options, pieceBytes: 1 }), expected)
      deepEqual(parsed(text, { ...options, pieceBytes: 7 }), expected)
    })
})

const malformed: readonly (readonly [string, string, RegExp])[] = [
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\n\n', /status line/],
  ['HTTP/2', 'HTTP/2 200\n\n', /status line/],
  ['no status', 'HTTP/1.1 OK\n\n', /status line/],
  ['a status of two digits', 'HTTP/1.1 20 OK\n\n', /status line/],
  ['101', 'HTTP/1.1 101 Switching Protocols\nupgrade: x\n\n', /changed the protocol/],
  ['two lengths', 'HTTP/1.1 200 OK\ncontent-length: 1\ncontent-length: 1\n\n', /repeated/],
  ['two encodings', 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\ntransfer-encoding: chunked\n\n', /repeated/],
  ['a length and an encoding', 'HTTP/1.1 200 OK\ncontent-length: 1\ntransfer-encoding: chunked\n\n', /both/],
  ['a negative length', 'HTTP/1.1 200 OK\ncontent-length: -1\n\n', /content-length/],
  ['a list of lengths', 'HTTP/1.1 200 OK\ncontent-length: 1, 1\n\n', /content-length/],
  ['another encoding', 'HTTP/1.1 200 OK\ntransfer-encoding: gzip\n\n', /not supported/],
  ['a folded header', 'HTTP/1.1 200 OK\na: b\n c\n\n', /malformed header/],
  ['a header without a colon', 'HTTP/1.1 200 OK\na\n\n', /malformed header/],
  ['a control character', 'HTTP/1.1 200 OK\na: \u0000\n\n', /control character/],
  ['a malformed chunk', 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\nx\n', /chunked/],
  ['bytes after the response', 'HTTP/1.1 204 x\n\nHTTP/1.1 204 x\n\n', /belong to no response/],
  ['a long head', `HTTP/1.1 200 OK\na: ${'x'.repeat(responseHeadBytesMax)}\n\n`, /too long/],
  ['a long head that is not complete', `HTTP/1.1 200 OK\na: ${'x'.repeat(responseHeadBytesMax)}`, /too long/],
]

suite('a malformed response', () => {
  for (const [name, text, error] of malformed) test(name, () => throws(() => parsed(text), error))
})

test('a body of many chunks of one byte is not too much framing', () => {
  const count = 100_000
  const seen = parsed(`HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n${'1\nx\n'.repeat(count)}0\n\n`)
  equal(seen[2]?.length, 'body '.length + count)
})

test('bytes that come without a request are an error', () => {
  const parser = new ResponseParser({ head() {}, data() {}, end() {} }, latin1Text)
  throws(() => parser.take(latin1Bytes('x')), /belong to no response/)
  equal(parser.close(), false)
})

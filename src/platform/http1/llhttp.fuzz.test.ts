// Differential fuzzing against llhttp, the HTTP/1.1 parser of Node.js. Whatever our connection accepts llhttp accepts too,
// with the same requests, headers and bodies, so that two servers in a row cannot disagree about where a request ends.
// COXSWAIN_LONG=1 compares 1,000,000 byte streams. Two exceptions, as upstream: methods that llhttp does not know, and
// targets that are not ASCII. Neither has a part in the framing.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz, inPieces, mutatedText, pick } from '../../base/random/fuzz.harness.ts'
import type { Random } from '../../base/random/random.ts'
import { isKnownToLlhttp, readWithLlhttp, readWithOurs, type Reading, type SeenRequest } from './llhttp.harness.ts'

async function compare(bytes: string, pieces: readonly string[] = [bytes]): Promise<Reading> {
  const ours = await readWithOurs(pieces)
  const hasOtherTarget = ours.requests.some(({ target }) => notAscii.test(target))
  const theirs = readWithLlhttp(hasOtherTarget ? asciiOf(bytes) : bytes)
  for (const [index, request] of ours.requests.entries()) {
    const isLast = index === ours.requests.length - 1
    const other = theirs.requests[index]
    if (!isKnownToLlhttp(request.method)) break
    ok(other !== undefined, `llhttp rejects request ${index}: ${JSON.stringify(request)}`)
    deepEqual(framingOf(request, hasOtherTarget), framingOf(other, hasOtherTarget))
    // A body that we reject may be accepted elsewhere; one that we wait for must not be complete elsewhere.
    if (isLast && ours.isRejected && request.body === undefined) continue
    equal(hasOtherTarget ? request.body && asciiOf(request.body) : request.body, other.body)
  }
  return ours
}

const notAscii = /[\x80-\xff]/
const asciiOf = (text: string): string => text.replaceAll(/[\x80-\xff]/g, '~')

const framingOf = ({ method, target, lines }: SeenRequest, isAscii: boolean) => ({
  method,
  target: pathOf(isAscii ? asciiOf(target) : target),
  lines: isAscii ? lines.map(asciiOf) : lines,
})

/** Our connection reduces an absolute target to its path. */
const pathOf = (target: string): string => {
  const path = target.replace(/^https?:\/\/[^/?#]+/i, '')
  return path.startsWith('/') || path === '*' ? path : `/${path}`
}

const request = (...lines: readonly string[]): string =>
  `${['POST / HTTP/1.1', 'Host: x', ...lines].join('\r\n')}\r\n\r\n`
const smuggled = 'GET /admin HTTP/1.1\r\nHost: x\r\n\r\n'
const chunkedLine = 'Transfer-Encoding: chunked'

/** Published request smuggling techniques, and the targets of the requests that we accept. */
const corpus: [name: string, bytes: string, targets: readonly string[]][] = [
  ['CL.TE', `${request('Content-Length: 6', chunkedLine)}0\r\n\r\n${smuggled}`, []],
  ['TE.CL', `${request(chunkedLine, 'Content-Length: 4')}12\r\n${smuggled}0\r\n\r\n`, []],
  ['CL.CL', `${request('Content-Length: 0', 'Content-Length: 35')}${smuggled}`, []],
  ['CL.CL, equal values', `${request('Content-Length: 5', 'Content-Length: 5')}hello`, []],
  ['CL as a list', `${request('Content-Length: 5, 5')}hello`, []],
  ['CL with a sign', `${request('Content-Length: +5')}hello`, []],
  ['CL negative', `${request('Content-Length: -1')}hello`, []],
  ['CL in hexadecimal', `${request('Content-Length: 0x5')}hello`, []],
  ['CL beyond 64 bits', `${request('Content-Length: 18446744073709551621')}hello`, []],
  ['CL empty', request('Content-Length:'), []],
  ['TE.TE with an unknown coding', `${request(chunkedLine, 'Transfer-Encoding: x')}0\r\n\r\n`, []],
  ['TE twice', `${request(chunkedLine, chunkedLine)}0\r\n\r\n`, []],
  ['TE chunked is not last', `${request('Transfer-Encoding: chunked, identity')}0\r\n\r\n`, []],
  ['TE behind another coding', `${request('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`, []],
  ['TE quoted', `${request('Transfer-Encoding: "chunked"')}0\r\n\r\n`, []],
  ['TE with a vertical tab', `${request('Transfer-Encoding: \x0bchunked')}0\r\n\r\n`, []],
  ['TE with a tab behind it', `${request('Transfer-Encoding: chunked\t')}0\r\n\r\n`, []],
  ['CL with a tab before it', `${request('Content-Length:\t5')}hello`, []],
  ['TE with a prefix', `${request('Transfer-Encoding: xchunked')}0\r\n\r\n`, []],
  ['TE with a space before the colon', `${request('Transfer-Encoding : chunked')}0\r\n\r\n`, []],
  ['CL with a space before the colon', `${request('Content-Length : 5')}hello`, []],
  ['TE in another case', `${request('tRANSFER-eNCODING: CHUNKED')}0\r\n\r\n`, ['/']],
  ['TE of HTTP/1.0', `POST / HTTP/1.0\r\nHost: x\r\n${chunkedLine}\r\n\r\n0\r\n\r\n`, []],
  ['obs-fold', `${request('X: y', ' Transfer-Encoding: chunked')}0\r\n\r\n`, []],
  ['obs-fold of the framing', `${request('Transfer-Encoding:', ' chunked')}0\r\n\r\n`, []],
  ['a folded line first', `POST / HTTP/1.1\r\n Host: x\r\n\r\n`, []],
  ['a bare line feed ends a line', `POST / HTTP/1.1\nHost: x\n\n`, []],
  ['a bare line feed hides a header', request('X: y\nTransfer-Encoding: chunked'), []],
  ['a bare carriage return hides a header', request('X: y\rTransfer-Encoding: chunked'), []],
  ['a NUL in a value', request('X: a\0b'), []],
  ['a NUL in a name', request('X\0: a'), []],
  ['a line without a colon', request('Transfer-Encoding chunked'), []],
  ['an empty name', request(': x'), []],
  ['two hosts', request('Host: y'), []],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', []],
  ['a host with a path', 'GET / HTTP/1.1\r\nHost: x/y\r\n\r\n', []],
  ['a space in the target', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n', []],
  ['a tab in the request line', 'GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n', []],
  ['two spaces in the request line', 'GET  / HTTP/1.1\r\nHost: x\r\n\r\n', []],
  ['HTTP/0.9', 'GET /\r\n\r\n', []],
  ['HTTP/1.10', 'GET / HTTP/1.10\r\nHost: x\r\n\r\n', []],
  ['http in lower case', 'GET / http/1.1\r\nHost: x\r\n\r\n', []],
  ['an absolute target with a quote', 'GET http://a"/b HTTP/1.1\r\nHost: x\r\n\r\n', []],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', []],
  ['a response', 'HTTP/1.1 200 OK\r\n\r\n', []],
  ['chunk extensions', `${request(chunkedLine)}5;a=b;c="d"\r\nhello\r\n0;e\r\n\r\n${smuggled}`, ['/', '/admin']],
  ['a chunk extension with a bare line feed', `${request(chunkedLine)}5;a\nb\r\nhello\r\n0\r\n\r\n`, ['/']],
  ['a chunk size with a bare line feed', `${request(chunkedLine)}5\nhello\r\n0\r\n\r\n`, ['/']],
  ['chunk data with a bare line feed', `${request(chunkedLine)}5\r\nhello\n0\r\n\r\n`, ['/']],
  ['a chunk size in 0x', `${request(chunkedLine)}0x5\r\nhello\r\n0\r\n\r\n`, ['/']],
  ['a chunk size with a sign', `${request(chunkedLine)}+5\r\nhello\r\n0\r\n\r\n`, ['/']],
  ['a chunk size with a space', `${request(chunkedLine)}5 \r\nhello\r\n0\r\n\r\n`, ['/']],
  ['a chunk size beyond 64 bits', `${request(chunkedLine)}10000000000000005\r\nhello\r\n0\r\n\r\n`, ['/']],
  ['a chunk that is longer than its size', `${request(chunkedLine)}5\r\nhello!\r\n0\r\n\r\n`, ['/']],
  ['a chunk size in underscores', `${request(chunkedLine)}0_5\r\nhello\r\n0\r\n\r\n`, ['/']],
  ['an empty chunk size', `${request(chunkedLine)}\r\nhello\r\n0\r\n\r\n`, ['/']],
  ['trailers', `${request(chunkedLine)}0\r\nX: y\r\n\r\n${smuggled}`, ['/', '/admin']],
  ['framing in the trailers', `${request(chunkedLine)}0\r\nContent-Length: 35\r\n\r\n${smuggled}`, ['/']],
  ['a folded trailer', `${request(chunkedLine)}0\r\nX: y\r\n z\r\n\r\n${smuggled}`, ['/']],
  ['empty lines between requests', `${request()}\r\n\r\n${smuggled}`, ['/', '/admin']],
  ['a body of GET', `GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello${smuggled}`, ['/', '/admin']],
  ['CONNECT', 'CONNECT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello', []],
  ['a request after Connection: close', `${request('Connection: close')}${smuggled}`, ['/']],
]
for (const [name, bytes, targets] of corpus)
  test(`request smuggling: ${name}`, async () => {
    const { requests, isRejected } = await compare(bytes)
    deepEqual(
      requests.map(({ target }) => target),
      targets,
    )
    const isWhole = requests.every(({ body }) => body !== undefined)
    ok(isRejected || (isWhole && targets.length > 0))
  })

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'CONNECT', 'QUERY', 'get', 'PRI']
const targets = [
  '/',
  '/api/v1/pods?watch=1',
  '*',
  'http://a/b',
  'https://a?b',
  '/a%20b',
  '/\xe4',
  '//a',
  '/a#b',
  'a:1',
  '',
]
const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1']
const lineEnds = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', '\r\n ']
const headerLines = [
  'Host: x',
  'Host: x:6443',
  'Host:',
  'host: y, z',
  'Content-Length: 5',
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: 00005',
  'Content-Length: 5 ',
  'Content-Length:\t5',
  'Content-Length: 5,5',
  'Content-Length: +5',
  'Content-Length: 5e0',
  'Content-Length: 999999999999999999999',
  'Content-Length : 5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: Chunked ',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding:chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer_Encoding: chunked',
  'Transfer-Encoding: chunked;q=1',
  'TE: trailers',
  'Trailer: X',
  'Connection: close',
  'Connection: keep-alive',
  'Connection: Upgrade',
  'Connection: Transfer-Encoding',
  'Upgrade: websocket',
  'Expect: 100-continue',
  'X-Empty:',
  'X: \x80\xff',
  'X: a\tb',
  '__proto__: p',
  'Content-Type: application/json',
]
const bodies = ['', 'hello', 'hello', 'hell', 'hello!', '\r\n', '0\r\n\r\n']
const chunkSizes = [
  '5',
  '5',
  '5',
  '05',
  '0000000005',
  '5;a=b',
  '5;a="b;\\"c"',
  '5;a',
  '5;',
  '5 ',
  '5;a=',
  '6',
  '4',
  '-5',
  '5\t;a',
  '5; a=b',
  '5;a =b',
  '5;a="',
  'fffffffffffffffff',
]
const chunkEnds = [
  '0\r\n\r\n',
  '0\r\n\r\n',
  '0\r\n\r\n',
  '0\r\nX: y\r\n\r\n',
  '0;x=y\r\n\r\n',
  '00\r\n\r\n',
  '0\r\n',
  '0\n\n',
  '0\r\nX\r\n\r\n',
  '0\r\nContent-Length: 3\r\n\r\n',
  '0\r\nTransfer-Encoding: x\r\n\r\n',
  '0\r\n X: y\r\n\r\n',
  '0\r\nX : y\r\n\r\n',
]

function chunkedBody(random: Random): string {
  let body = ''
  for (let chunks = random.below(3); chunks > 0; chunks--)
    body += `${pick(random, chunkSizes)}${pick(random, lineEnds)}hello${pick(random, lineEnds)}`
  return body + pick(random, chunkEnds)
}

const validLines = [
  'Accept: a, b',
  'X-Empty:',
  'X: a\tb',
  'Expect: 100-continue',
  'Connection: keep-alive',
  'Content-Type: a/b',
]
const validBodies: readonly (readonly [line: string | undefined, body: string])[] = [
  [undefined, ''],
  ['Content-Length: 5', 'hello'],
  ['Content-Length:12', '0\r\n\r\nGET / '],
  ['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
  ['transfer-encoding:Chunked', '3;a=b;c="d"\r\nhel\r\n002\r\nlo\r\n0;e\r\nX: y\r\n\r\n'],
]

function validRequest(random: Random): string {
  const [line, body] = pick(random, validBodies)
  const lines = Array.from({ length: random.below(3) }, () => pick(random, validLines))
  if (line !== undefined) lines.splice(random.below(lines.length + 1), 0, line)
  return `${[`${pick(random, methods.slice(0, 6))} /${random.below(10)} HTTP/1.1`, 'Host: x', ...lines].join('\r\n')}\r\n\r\n${body}`
}

function oddRequest(random: Random): string {
  const isOdd = () => random.below(4) === 0
  const end = () => (isOdd() ? pick(random, lineEnds) : '\r\n')
  const method = pick(random, isOdd() ? methods : ['POST'])
  let text = `${method} ${pick(random, isOdd() ? targets : ['/'])} ${pick(random, isOdd() ? versions : ['HTTP/1.1'])}${end()}`
  if (random.below(8) !== 0) text += `Host: x${end()}`
  let isChunked = false
  for (let lines = random.below(4); lines > 0; lines--) {
    const line = pick(random, headerLines)
    isChunked ||= line.includes('chunked')
    text += `${line}${end()}`
  }
  return `${text}${end()}${isChunked ? chunkedBody(random) : pick(random, bodies)}`
}

const randomRequest = (random: Random): string => (random.below(3) === 0 ? oddRequest(random) : validRequest(random))

const dictionary = [
  '\r\n',
  '\n',
  '\r',
  ':',
  ' ',
  '\t',
  ';',
  ',',
  '"',
  '\0',
  '0\r\n\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'HTTP/1.1',
  '5\r\nhello\r\n',
]

const hasSeed = process.env['COXSWAIN_SEED'] !== undefined
let accepted = 0
let complete = 0
fuzz('byte streams as we and llhttp read them', {
  runs: 10_000,
  make(random) {
    const text = Array.from({ length: random.below(3) + 1 }, () => randomRequest(random)).join('')
    return random.below(2) === 0 ? text : mutatedText(text, random, dictionary)
  },
  async check(text, random) {
    const isCut = random.below(4) === 0
    const pieces = isCut
      ? inPieces(Buffer.from(text, 'latin1'), random).map((piece) => Buffer.from(piece).toString('latin1'))
      : [text]
    const { requests } = await compare(text, pieces)
    accepted += requests.length
    complete += requests.filter(({ body }) => body !== undefined && body !== '').length
  },
})
test('the generated streams have enough requests that are accepted', () => {
  ok(
    hasSeed || (accepted > 1_000 && complete > 500),
    `${accepted} requests were accepted, ${complete} of them with a body`,
  )
})

fuzz('the framing of a request does not depend on its method', {
  runs: 500,
  make: (random) => mutatedText(validRequest(random).replace(/^[A-Z]+ /, ''), random, dictionary),
  async check(text) {
    const [known, unknown] = await Promise.all(['POST', 'FROB'].map((method) => readWithOurs([`${method} ${text}`])))
    const bodiesOf = (reading: Reading | undefined) => reading?.requests.map(({ lines, body }) => ({ lines, body }))
    deepEqual(bodiesOf(unknown), bodiesOf(known))
  },
})

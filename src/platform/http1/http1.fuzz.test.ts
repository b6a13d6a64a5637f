// Random bytes as requests: a head is parsed or rejected, and the responses do not depend on how the bytes are split.
import { equal, ok } from 'node:assert/strict'
import { fuzz, inPieces, mutatedText, pick, rejectedOnlyWith } from '../../base/random/fuzz.harness.ts'
import type { WireResponse, WireRequest } from '../http/listener.ts'
import { connect } from './http1-connection.harness.ts'
import { RejectedRequest } from './rejected-request.ts'
import { parseRequestHead } from './request-head.ts'

const heads = [
  'GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: x\r\nAccept: a, b',
  'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5',
  'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue',
  'GET http://a/b HTTP/1.1\r\nHost: a\r\nConnection: close , upgrade\r\nUpgrade: x',
  'GET / HTTP/1.0\r\nConnection: keep-alive\r\n__proto__: p',
]
const dictionary = [
  '\r\n',
  '\n',
  '\r',
  ':',
  ' ',
  '\t',
  ',',
  'HTTP/1.1',
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'Host: y\r\n',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  'ffffffff',
  '\0',
]

fuzz('heads of requests', {
  runs: 4_000,
  make: (random) => mutatedText(pick(random, heads), random, dictionary),
  check(text) {
    const head = rejectedOnlyWith([RejectedRequest], () => parseRequestHead(text))
    if (head === undefined) return
    ok(head.target.startsWith('/') || head.target === '*')
    ok(head.body === 'chunked' || (Number.isSafeInteger(head.body) && head.body >= 0))
    equal(Object.getPrototypeOf(head.headers), null)
  },
})

const bodies = ['', 'hello', '5\r\nhello\r\n0\r\n\r\n', '3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n', '0\r\n\r\n']

const echo = async (request: WireRequest): Promise<WireResponse> => {
  const body = await Promise.resolve(request.body(100)).then(
    (bytes) => Buffer.from(bytes).toString('latin1'),
    (error: Error) => `rejected ${error.name}`,
  )
  return { status: 200, headers: {}, body: `${request.method} ${request.target} ${body}` }
}

fuzz('connections', {
  runs: 1_000,
  make: (random) =>
    mutatedText(
      Array.from({ length: random.below(3) + 1 }, () => `${pick(random, heads)}\r\n\r\n${pick(random, bodies)}`).join(
        '',
      ),
      random,
      dictionary,
    ),
  async check(text, random) {
    const outputOf = async (pieces: readonly string[]) => {
      const { peer } = connect(echo)
      for (const piece of pieces) await peer.send(piece)
      await peer.settle()
      // 100 Continue is sent only when the body has not arrived with the head.
      return peer.written().replaceAll('HTTP/1.1 100 Continue\r\n\r\n', '') + (peer.hasEnded ? ' (ended)' : '')
    }
    const pieces = inPieces(Buffer.from(text, 'latin1'), random).map((piece) => Buffer.from(piece).toString('latin1'))
    equal(await outputOf(pieces), await outputOf([text]))
  },
})

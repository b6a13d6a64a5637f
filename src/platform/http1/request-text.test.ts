import { equal, throws } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { PooledRequest } from '../http/http-pool.ts'
import { requestText } from './request-text.ts'

const body: PooledRequest['body'] = (async function* () {})()
const get: PooledRequest = { method: 'GET', target: '/a?b', headers: { host: 'h' }, body: undefined }

const cases: readonly (readonly [string, Partial<PooledRequest>, string])[] = [
  ['no body', {}, 'GET /a?b HTTP/1.1\r\nhost: h\r\n\r\n'],
  ['several values', { headers: { a: ['1', '2'] } }, 'GET /a?b HTTP/1.1\r\na: 1\r\na: 2\r\n\r\n'],
  [
    'a body of unknown length',
    { method: 'POST', body },
    'POST /a?b HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n',
  ],
  [
    'a body of known length',
    { method: 'POST', body, headers: { 'content-length': '2' } },
    'POST /a?b HTTP/1.1\r\ncontent-length: 2\r\n\r\n',
  ],
  ['no body where one is expected', { method: 'POST' }, 'POST /a?b HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n'],
  ['an end of line in a value', { headers: { a: 'x\r\ny: z' } }, 'GET /a?b HTTP/1.1\r\na: x  y: z\r\n\r\n'],
  ['an end of line in a name', { headers: { 'a\r\nb': 'x' } }, 'GET /a?b HTTP/1.1\r\n\r\n'],
]

suite('the head of a request', () => {
  for (const [name, changes, text] of cases) test(name, () => equal(requestText({ ...get, ...changes }), text))
})

suite('a request that would change the meaning of its head is rejected', () => {
  for (const target of ['', '/a b', '/a\r\nb', '/\t', '/\u0100', '/\x7f'])
    test(`target ${JSON.stringify(target)}`, () => throws(() => requestText({ ...get, target }), /target/))
  for (const method of ['', 'GET /x', 'G\r\n', 'G:'])
    test(`method ${JSON.stringify(method)}`, () => throws(() => requestText({ ...get, method }), /method/))
})

import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isAmbiguousPath } from './ambiguous-path.ts'

const ambiguous = [
  ...['/..', '/.', '/a/../b', '/a/./b', '/a/..', '/a/%2e%2e/b', '/a/.%2E/b', '/a/%2e', '/a/..;/b', '/a/..;x=1/b'],
  ...['/a/..%2fb', '/a/..%2Fb', '/a%2f..%2fb', '/a%2f../b', '/a/%2e%2e%2fb', '/a/..%3b/b'],
  ...[
    '/a\\b',
    '/a\\..\\b',
    '/a%5c..%5cb',
    '/a%5C../b',
    '/a/..%5cb',
    '/a/%252e%252e/b',
    '/a/..%252fb',
    '/a%255c..%255cb',
  ],
  ...['/a%00', '/a/..%00/b', '/a%2500'],
]
const plain = [
  ...['/', '/a', '/a.b', '/a..b', '/.well-known/x', '/..a', '/a../b', '/.../b', '/a/...', '/a%2fb', '/a%5cb', '/a%2eb'],
  ...['/a%252fb', '/a;b', '/a/%2e%2e%2e/b', '/%c3%a4', '/100%25', '/a//b'],
]

suite('a path is', () => {
  for (const path of ambiguous) test(`ambiguous: ${path}`, () => equal(isAmbiguousPath(path), true))
  for (const path of plain) test(`not ambiguous: ${path}`, () => equal(isAmbiguousPath(path), false))
})

// A table of URIs as clients send them and as they are forwarded.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { forwardedUri } from './forwarded-uri.ts'

const cases: readonly [name: string, sent: string, forwarded: string][] = [
  ['a plain path', '/apis/a.io/v1/echoes/x', '/apis/a.io/v1/echoes/x'],
  ['a slash at the end', '/apis/a.io/v1/echoes/', '/apis/a.io/v1/echoes/'],
  ['an escaped slash separates segments', '/apis/a.io/v1/echoes/a%2Fb', '/apis/a.io/v1/echoes/a/b'],
  ['a space', '/apis/a.io/v1/a%20b', '/apis/a.io/v1/a%20b'],
  ['characters that need no escape', '/a%3Ab%40c%3B', '/a:b@c;'],
  ['characters that need one', "/a!'()*%3F%25", '/a%21%27%28%29%2A%3F%25'],
  ['UTF-8', '/%C3%A4', '/%C3%A4'],
  ['the query is sorted by name', '/p?b=2&a=1&b=1', '/p?a=1&b=2&b=1'],
  ['the query is encoded again', '/p?x=%20y~*&z', '/p?x=+y~%2A&z='],
  ['an empty query', '/p?', '/p'],
]

for (const [name, sent, forwarded] of cases) test(name, () => equal(forwardedUri(sent), forwarded))

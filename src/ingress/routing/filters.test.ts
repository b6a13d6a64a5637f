import { deepEqual, equal, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { changedPath, changeHeaders, filtersOf, redirectLocation, type Headers } from './filters.ts'
import { headerChanges } from './header-changes.ts'
import type { PathChange, Redirect } from './route.ts'

test('headers are set, added and removed', () => {
  const headers: Headers = { a: '1', b: '2', c: '3', d: ['4', '5'] }
  const changes = headerChanges({
    set: [{ name: 'a', value: 'x' }],
    add: [
      { name: 'b', value: 'y' },
      { name: 'd', value: '6' },
      { name: 'e', value: '7' },
    ],
    remove: ['c'],
  })
  ok(typeof changes !== 'string')
  changeHeaders(headers, changes)
  deepEqual(headers, { a: 'x', b: ['2', 'y'], d: ['4', '5', '6'], e: '7' })
})

// The examples in the documentation of HTTPPathModifier.
const prefixes: readonly (readonly [path: string, match: string, value: string, changed: string])[] = [
  ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz/', '/xyz/bar'],
  ['/foo', '/foo', '/xyz', '/xyz'],
  ['/foo/', '/foo', '/xyz', '/xyz/'],
  ['/foo/bar', '/foo', '', '/bar'],
  ['/foo/', '/foo', '', '/'],
  ['/foo', '/foo', '', '/'],
  ['/foo/', '/foo', '/', '/'],
  ['/foo', '/foo', '/', '/'],
]

suite('the prefix of a path is replaced', () => {
  for (const [path, match, value, changed] of prefixes)
    test(`${path}, prefix ${match}, by ${JSON.stringify(value)}`, () =>
      equal(changedPath(path, { kind: 'prefix', value }, { kind: 'prefix', value: match }), changed))
})

test('a full path replaces the path; no change keeps it', () => {
  const full: PathChange = { kind: 'full', value: '/new' }
  equal(changedPath('/foo/bar', full, { kind: 'exact', value: '/foo/bar' }), '/new')
  equal(changedPath('/foo', undefined, { kind: 'prefix', value: '/' }), '/foo')
})

const redirects: readonly (readonly [string, Omit<Redirect, 'statusCode'>, string])[] = [
  ['nothing changes', {}, 'http://a.com:8080/p?q=1'],
  ['another host', { hostname: 'b.com' }, 'http://b.com:8080/p?q=1'],
  ['to HTTPS', { scheme: 'https' }, 'https://a.com/p?q=1'],
  ['to HTTPS on a port', { scheme: 'https', port: 8443 }, 'https://a.com:8443/p?q=1'],
  ['to the default port', { port: 80 }, 'http://a.com/p?q=1'],
  ['another path', { path: { kind: 'full', value: '/x' } }, 'http://a.com:8080/x?q=1'],
]

suite('a redirect leads to the right location', () => {
  const request = { scheme: 'http', host: 'a.com', path: '/p', query: 'q=1', port: 8080 } as const
  for (const [name, redirect, location] of redirects)
    test(name, () =>
      equal(redirectLocation({ ...redirect, statusCode: 302 }, request, { kind: 'prefix', value: '/' }), location),
    )
})

test('filters are grouped by kind', () => {
  const changes = { set: [], add: [], remove: [] }
  const redirect = { statusCode: 301 }
  const found = filtersOf([
    { kind: 'request-headers', changes },
    { kind: 'response-headers', changes },
    { kind: 'redirect', redirect },
    { kind: 'rewrite', hostname: 'x' },
  ])
  deepEqual([found.requestHeaders, found.responseHeaders], [[changes], [changes]])
  deepEqual([found.redirect, found.rewrite?.hostname], [redirect, 'x'])
})

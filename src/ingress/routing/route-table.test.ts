import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { lookup } from '../../base/collections/lookup.ts'
import { routeHostOf, type PathMatch, type Route, type RouteMatch } from './route.ts'
import { RouteTable } from './route-table.ts'
import { textPattern, type TextPattern } from './text-pattern.ts'

interface Rule extends Partial<Omit<RouteMatch, 'path'>> {
  readonly host?: string
  readonly labels?: 'one' | 'any'
  readonly exact?: string
  readonly prefix?: string
  readonly regular?: string
  readonly call?: string
  readonly order?: string
}

const patternOf = (source: string): TextPattern => {
  const pattern = textPattern(source)
  if (typeof pattern === 'string') throw new Error(pattern)
  return pattern
}

function pathOf({ exact, prefix = '/', regular, call }: Rule): PathMatch {
  if (regular !== undefined) return { kind: 'pattern', pattern: patternOf(regular) }
  if (call !== undefined) return { kind: 'method', value: call }
  return exact === undefined ? { kind: 'prefix', value: prefix } : { kind: 'exact', value: exact }
}

const route = (name: string, { host = '', labels = 'one', order = '', ...rule }: Rule): Route => ({
  name,
  host: routeHostOf(host, labels),
  match: {
    path: pathOf(rule),
    headers: rule.headers ?? [],
    query: rule.query ?? [],
    ...(rule.method === undefined ? {} : { method: rule.method }),
  },
  order,
  filters: [],
  backends: [],
  emptyStatus: 404,
  requestMsMax: undefined,
  backendMsMax: undefined,
})

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

function found(rules: Readonly<Record<string, Rule>>, url: string, { method = 'GET', headers = {} }: Sent = {}) {
  const table = new RouteTable(Object.entries(rules).map(([name, rule]) => route(name, rule)))
  const { hostname, pathname, search } = new URL(`http://${url}`)
  const header = (name: string) => lookup(headers, name)
  return table.find({ method, host: hostname, path: pathname, query: search.slice(1), header })?.name
}

// The table in the documentation of Ingress.
const pathCases: readonly (readonly ['exact' | 'prefix', string, string, boolean])[] = [
  ['prefix', '/', '/any/path', true],
  ['exact', '/foo', '/foo', true],
  ['exact', '/foo', '/bar', false],
  ['exact', '/foo', '/foo/', false],
  ['exact', '/foo/', '/foo', false],
  ['prefix', '/foo', '/foo', true],
  ['prefix', '/foo', '/foo/', true],
  ['prefix', '/foo/', '/foo', true],
  ['prefix', '/foo/', '/foo/', true],
  ['prefix', '/aaa/bb', '/aaa/bbb', false],
  ['prefix', '/aaa/bbb', '/aaa/bbb', true],
  ['prefix', '/aaa/bbb/', '/aaa/bbb', true],
  ['prefix', '/aaa/bbb', '/aaa/bbb/', true],
  ['prefix', '/aaa/bbb', '/aaa/bbb/ccc', true],
  ['prefix', '/aaa/bbb', '/aaa/bbbxyz', false],
]

suite('paths match as documented for Ingress', () => {
  for (const [kind, value, path, expected] of pathCases)
    test(`${kind} ${value} ${expected ? 'matches' : 'does not match'} ${path}`, () =>
      equal(found({ web: { [kind]: value } }, `h${path}`), expected ? 'web' : undefined))
})

const cases: readonly (readonly [string, Readonly<Record<string, Rule>>, string, Sent, string | undefined])[] = [
  ['no route', {}, 'a.com/', {}, undefined],
  ['a route without a host', { any: {} }, 'a.com/', {}, 'any'],
  ['an exact host before one without', { any: {}, a: { host: 'a.com' } }, 'a.com/', {}, 'a'],
  ['an exact host before a wildcard', { w: { host: '*.a.com' }, e: { host: 'x.a.com' } }, 'x.a.com/', {}, 'e'],
  ['a host in upper case', { a: { host: 'A.com' } }, 'a.com/', {}, 'a'],
  ['a wildcard before no host', { any: {}, w: { host: '*.a.com' } }, 'x.a.com/', {}, 'w'],
  ['a wildcard of Ingress stands for one label', { w: { host: '*.a.com' } }, 'x.y.a.com/', {}, undefined],
  ['a wildcard does not match its suffix', { w: { host: '*.a.com', labels: 'any' } }, 'a.com/', {}, undefined],
  ['a wildcard of a Gateway', { w: { host: '*.a.com', labels: 'any' } }, 'x.y.a.com/', {}, 'w'],
  ['a pattern of the whole path', { r: { regular: '/v[0-9]+/x' } }, 'h/v12/x', {}, 'r'],
  ['a pattern of a part of the path', { r: { regular: '/v[0-9]+' } }, 'h/v12/x', {}, undefined],
  ['a pattern before a prefix', { p: { prefix: '/v1/x' }, r: { regular: '/v.*' } }, 'h/v1/x', {}, 'r'],
  ['an exact path before a pattern', { e: { exact: '/v1/x' }, r: { regular: '/v.*' } }, 'h/v1/x', {}, 'e'],
  ['the longer pattern', { s: { regular: '/v.*' }, l: { regular: '/v1.*' } }, 'h/v1/x', {}, 'l'],
  [
    'a pattern of a header',
    { any: {}, blue: { headers: [{ name: 'team', value: patternOf('blue|green') }] } },
    'h/',
    { headers: { team: 'green' } },
    'blue',
  ],
  [
    'a header that is absent has no pattern',
    { r: { headers: [{ name: 'team', value: patternOf('.*') }] } },
    'h/',
    {},
    undefined,
  ],
  ['a pattern of a parameter', { r: { query: [{ name: 'q', value: patternOf('[0-9]+') }] } }, 'h/?q=12', {}, 'r'],
  ['a method of any service', { c: { call: 'Echo' } }, 'h/a.b/Echo', {}, 'c'],
  ['a method of two elements only', { c: { call: 'Echo' } }, 'h/a/b/Echo', {}, undefined],
  ['a service before a method', { c: { call: 'Echo' }, s: { prefix: '/a.b' } }, 'h/a.b/Echo', {}, 's'],
  ['a method before all paths', { c: { call: 'Echo' }, any: {} }, 'h/a.b/Echo', {}, 'c'],
  [
    'the longer wildcard',
    { short: { host: '*.com', labels: 'any' }, long: { host: '*.a.com', labels: 'any' } },
    'x.a.com/',
    {},
    'long',
  ],
  [
    'paths of less specific hosts do not apply',
    { any: { prefix: '/x' }, a: { host: 'a.com', prefix: '/y' } },
    'a.com/x',
    {},
    undefined,
  ],
  ['the longest prefix', { short: { prefix: '/a' }, long: { prefix: '/a/b' } }, 'h/a/b/c', {}, 'long'],
  ['an exact path before an equal prefix', { p: { prefix: '/a' }, e: { exact: '/a' } }, 'h/a', {}, 'e'],
  ['an exact path before a prefix with a slash', { p: { prefix: '/a/' }, e: { exact: '/a' } }, 'h/a', {}, 'e'],
  ['a method before none', { any: {}, post: { method: 'POST' } }, 'h/', { method: 'POST' }, 'post'],
  ['another method', { any: {}, post: { method: 'POST' } }, 'h/', {}, 'any'],
  [
    'more headers first',
    {
      one: { headers: [{ name: 'a', value: '1' }] },
      two: {
        headers: [
          { name: 'a', value: '1' },
          { name: 'b', value: '2' },
        ],
      },
    },
    'h/',
    { headers: { a: '1', b: '2' } },
    'two',
  ],
  [
    'a header with another value',
    { h: { headers: [{ name: 'a', value: '1' }] } },
    'h/',
    { headers: { a: '2' } },
    undefined,
  ],
  ['a query parameter before none', { any: {}, q: { query: [{ name: 'a', value: '1' }] } }, 'h/?a=1', {}, 'q'],
  [
    'the first value of a query parameter',
    { any: {}, q: { query: [{ name: 'a', value: '1' }] } },
    'h/?a=2&a=1',
    {},
    'any',
  ],
  ['the older of equal routes', { b: { order: '2' }, a: { order: '1' } }, 'h/', {}, 'a'],
]

suite('a request is served by', () => {
  for (const [name, rules, url, sent, expected] of cases) test(name, () => equal(found(rules, url, sent), expected))
})

suite('the routes of an object are replaced', () => {
  const nameAt = (table: RouteTable, path: string, host = 'a.com') =>
    table.find({ method: 'GET', host, path, query: '', header: () => undefined })?.name

  test('without touching those of others', () => {
    const table = new RouteTable()
    table.replace('one', [route('one', { host: 'a.com', prefix: '/x', order: '1' }), route('one', { host: 'b.com' })])
    table.replace('two', [route('two', { host: 'a.com', prefix: '/x', order: '2' }), route('two', { exact: '/y' })])
    equal(nameAt(table, '/x'), 'one')
    table.replace('one', [route('one', { host: 'a.com', prefix: '/z', order: '1' })])
    equal([nameAt(table, '/x'), nameAt(table, '/z'), nameAt(table, '/', 'b.com')].join(), 'two,one,')
    table.replace('one', [])
    equal([nameAt(table, '/x'), nameAt(table, '/z'), nameAt(table, '/y', 'c.com')].join(), 'two,,two')
    table.replace('two', [])
    equal([nameAt(table, '/x'), nameAt(table, '/y', 'c.com')].join(), ',')
  })

  test('host by host: a request sees all of the change of its host, or nothing', () => {
    const table = new RouteTable()
    const hosts = ['a.com', 'b.com', 'c.com', 'd.com']
    const routes = (name: string, present: readonly string[]) =>
      present.flatMap((host) => ['/x', '/y'].map((exact) => route(name, { host, exact })))
    const shown = () => hosts.map((host) => `${nameAt(table, '/x', host) ?? ''}${nameAt(table, '/y', host) ?? ''}`)
    table.replace('one', routes('1', hosts.slice(0, 3)))
    const seen = [shown().join()]
    const steps = table.replaceInSlices('one', routes('2', hosts.slice(1)), { isUsedUp: () => true })
    while (steps.next().done !== true) seen.push(shown().join())
    deepEqual(seen, ['11,11,11,', ',11,11,', ',22,11,', ',22,22,', ',22,22,22'])
  })

  test('a prefix that two objects have stays until both are gone', () => {
    const table = new RouteTable()
    table.replace('one', [route('one', { prefix: '/x/', order: '1' }), route('one', { prefix: '/x', order: '1' })])
    table.replace('two', [route('two', { prefix: '/x', order: '2' })])
    table.replace('one', [])
    equal(nameAt(table, '/x/y'), 'two')
  })
})

test('a request compares only routes with prefixes of its path', () => {
  const compared = new Set<string>()
  const watched = (name: string, prefix: string): Route => {
    const { match, ...rest } = route(name, { prefix })
    return { ...rest, match: { ...match, get headers() { compared.add(name); return [] } } } // prettier-ignore
  }
  const table = new RouteTable(Array.from({ length: 1_000 }, (_, index) => watched(`r${index}`, `/r${index}`)))
  compared.clear()
  equal(table.find({ method: 'GET', host: 'h', path: '/r7/x/y', query: '', header: () => undefined })?.name, 'r7')
  equal([...compared].join(), 'r7')
})

test('a host longer than any name is served only by routes without a host', () => {
  const table = new RouteTable([route('w', { host: '*.com', labels: 'any' }), route('any', {})])
  const nameOf = (host: string) =>
    table.find({ method: 'GET', host, path: '/', query: '', header: () => undefined })?.name
  equal([nameOf('a.b.com'), nameOf(`${'a.'.repeat(200)}com`)].join(), 'w,any')
})

import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { RouteFilter } from '../kinds/route-kinds.ts'
import { unmet } from '../attachment/outcome.ts'
import { compileFilters, type ResolveBackend } from './compile-filters.ts'

const backend = { namespace: 'default', service: 'web', port: 80, protocol: 'http1' } as const
const missing = unmet('BackendNotFound', 'missing')
const resolve: ResolveBackend = ({ name }) =>
  name === 'web' ? { kind: 'backend', backend } : { kind: 'invalid', problem: missing }
const mirrorOf = (more: object = {}) => ({ requestMirror: { backendRef: { name: 'web', port: 80 }, ...more } })
const nothing = { filters: [], unsupported: [], problems: [], mirrorProblems: [] }

type Case = readonly [name: string, filter: Omit<RouteFilter, 'type'>, expected: object]

const full = { type: 'ReplaceFullPath', replaceFullPath: '/new' }
const prefix = { type: 'ReplacePrefixMatch', replacePrefixMatch: '/v2' }
const noHeaders = { set: [], add: [], remove: [] }

const cases: readonly Case[] = [
  [
    'headers of requests, of several entries for a name the first',
    {
      requestHeaderModifier: {
        set: [{ name: 'X-A', value: '1' }, { name: 'x-a', value: '2' }],
        add: [{ name: 'X-B', value: '3' }],
        remove: ['X-C'],
      },
    },
    { kind: 'request-headers', changes: { set: [{ name: 'x-a', value: '1' }], add: [{ name: 'x-b', value: '3' }], remove: ['x-c'] } },
  ],
  ['headers of responses', { responseHeaderModifier: {} }, { kind: 'response-headers', changes: noHeaders }],
  ['a redirect without fields', { requestRedirect: {} }, { kind: 'redirect', redirect: { statusCode: 302 } }],
  [
    'a redirect with all fields',
    { requestRedirect: { scheme: 'https', hostname: 'b.com', port: 8443, path: full, statusCode: 308 } },
    {
      kind: 'redirect',
      redirect: { scheme: 'https', hostname: 'b.com', port: 8443, path: { kind: 'full', value: '/new' }, statusCode: 308 },
    },
  ],
  ['a rewrite of the hostname', { urlRewrite: { hostname: 'b.com' } }, { kind: 'rewrite', hostname: 'b.com' }],
  ['a rewrite of the path', { urlRewrite: { path: full } }, { kind: 'rewrite', path: { kind: 'full', value: '/new' } }],
  [
    'a rewrite of a prefix',
    { urlRewrite: { path: prefix } },
    { kind: 'rewrite', path: { kind: 'prefix', value: '/v2' } },
  ],
  [
    'a rewrite to an empty prefix',
    { urlRewrite: { path: { type: 'ReplacePrefixMatch' } } },
    { kind: 'rewrite', path: { kind: 'prefix', value: '' } },
  ],
  [
    'a rewrite to the root',
    { urlRewrite: { path: { type: 'ReplaceFullPath' } } },
    { kind: 'rewrite', path: { kind: 'full', value: '/' } },
  ],
  [
    'origins',
    { cors: { allowOrigins: ['https://a.com', 'http://*.b.com:81', '*'], allowMethods: ['GET'], exposeHeaders: ['X-A'] } },
    {
      kind: 'cors',
      policy: {
        origins: [
          { kind: 'exact', origin: 'https://a.com:443' },
          { kind: 'wildcard', scheme: 'http', suffix: '.b.com', port: '81' },
          { kind: 'any' },
        ],
        allowsCredentials: false,
        methods: ['GET'],
        headers: [],
        exposedHeaders: ['X-A'],
        maxAgeSeconds: 5,
      },
    },
  ],
  ['a mirror of all requests', mirrorOf(), { kind: 'mirror', mirror: { backend, share: 1 } }],
  ['a mirror of a percentage', mirrorOf({ percent: 20 }), { kind: 'mirror', mirror: { backend, share: 0.2 } }],
  ['a mirror of a percentage as fraction', mirrorOf({ fraction: { numerator: 50 } }), { kind: 'mirror', mirror: { backend, share: 0.5 } }],
  ['a mirror of a fraction', mirrorOf({ fraction: { numerator: 1, denominator: 4 } }), { kind: 'mirror', mirror: { backend, share: 0.25 } }],
] // prettier-ignore

suite('a filter is compiled:', () => {
  for (const [name, filter, expected] of cases)
    test(name, () => deepEqual(compileFilters([{ type: '', ...filter }], resolve), { ...nothing, filters: [expected] }))
})

test('filters that are not supported, and references that cannot be resolved, are separated', () => {
  const filters = [
    { type: 'RequestMirror', requestMirror: { backendRef: { name: 'gone', port: 80 } } },
    { type: 'Other' },
    { type: 'RequestRedirect', requestRedirect: { scheme: 'ftp' } },
    { type: 'ExtensionRef', extensionRef: { group: 'example.com', kind: 'Limit', name: 'x' } },
  ]
  deepEqual(compileFilters(filters, resolve), {
    filters: [],
    unsupported: ['filters of type Other are not supported', 'redirects to ftp are not supported'],
    mirrorProblems: [missing],
    problems: [{ isMet: false, reason: 'InvalidKind', message: 'filters of kind Limit are not supported' }],
  })
})

suite('a rule is left out if a filter', () => {
  const invalidHostname = 'a hostname consists of letters, digits, dashes and dots'
  const invalidPath = 'a path must begin with a slash and contain neither blanks nor control characters'
  const set = [{ name: 'Transfer-Encoding', value: 'chunked' }]
  const rejected: readonly (readonly [string, Omit<RouteFilter, 'type'>, string])[] = [
    ['sets the framing of requests', { requestHeaderModifier: { set } }, 'header Transfer-Encoding cannot be changed by a filter'],
    ['sets the framing of responses', { responseHeaderModifier: { set } }, 'header Transfer-Encoding cannot be changed by a filter'],
    ['adds a request', { urlRewrite: { path: { ...full, replaceFullPath: '/ HTTP/1.1\r\n\r\n' } } }, invalidPath],
    ['names another server', { urlRewrite: { path: { ...full, replaceFullPath: 'http://a/' } } }, invalidPath],
    ['replaces a prefix by a blank', { urlRewrite: { path: { ...prefix, replacePrefixMatch: '/a b' } } }, invalidPath],
    ['names a host with a blank', { urlRewrite: { hostname: 'a b' } }, invalidHostname],
    ['adds a header by its host', { urlRewrite: { hostname: 'a\r\nx: y' } }, invalidHostname],
    ['redirects to another path by its host', { requestRedirect: { hostname: 'a/b?' } }, invalidHostname],
    ['adds headers to a redirect', { requestRedirect: { path: { ...full, replaceFullPath: '/\r\nset-cookie: a' } } }, invalidPath],
  ] // prettier-ignore
  for (const [name, filter, message] of rejected)
    test(name, () =>
      deepEqual(compileFilters([{ type: '', ...filter }], resolve), { ...nothing, unsupported: [message] }),
    )
})

test('a rule without filters has none', () => deepEqual(compileFilters(undefined, resolve), nothing))

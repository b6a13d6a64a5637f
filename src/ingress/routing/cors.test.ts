import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { lookup } from '../../base/collections/lookup.ts'
import { allowedOrigin, applyCors, isPreflight, preflightHeaders, type CorsPolicy } from './cors.ts'

const policyOf = (origins: readonly string[], more: Partial<CorsPolicy> = {}): CorsPolicy => ({
  origins: origins.flatMap((text) => allowedOrigin(text) ?? []),
  allowsCredentials: false,
  methods: [],
  headers: [],
  exposedHeaders: [],
  maxAgeSeconds: 5,
  ...more,
})
const requestOf = (headers: Readonly<Record<string, string>>, method = 'OPTIONS') => ({
  method,
  header: (name: string) => lookup(headers, name),
})
const allowedOf = (allowed: string, origin: string) => {
  const headers = {}
  applyCors(headers, policyOf([allowed]), requestOf({ origin }))
  return lookup<unknown>(headers, 'access-control-allow-origin')
}

const origins: readonly (readonly [allowed: string, origin: string, expected: string | undefined])[] = [
  ['https://www.foo.com', 'https://www.foo.com', 'https://www.foo.com'],
  ['https://www.foo.com', 'https://www.FOO.com:443', 'https://www.FOO.com:443'],
  ['https://www.foo.com:443', 'https://www.foo.com', 'https://www.foo.com'],
  ['https://www.foo.com', 'http://www.foo.com', undefined],
  ['https://www.foo.com', 'https://www.foo.com:8443', undefined],
  ['https://www.foo.com', 'https://www.foo.com.evil.com', undefined],
  ['https://www.foo.com', 'https://www.foo.com/path', undefined],
  ['https://www.foo.com', 'null', undefined],
  ['https://*.bar.com', 'https://www.bar.com', 'https://www.bar.com'],
  ['https://*.bar.com', 'https://xpto.www.bar.com', 'https://xpto.www.bar.com'],
  ['https://*.bar.com', 'https://bar.com', undefined],
  ['https://*.bar.com', 'https://.bar.com', undefined],
  ['https://*.bar.com', 'https://evilbar.com', undefined],
  ['https://*.bar.com', 'http://www.bar.com', undefined],
  ['http://*.bar.com:8080', 'http://www.bar.com:8080', 'http://www.bar.com:8080'],
  ['http://*.bar.com:8080', 'http://www.bar.com', undefined],
  ['https://*', 'https://any.thing', 'https://any.thing'],
  ['https://*', 'http://any.thing', undefined],
  ['*', 'https://any.thing:1234', '*'],
  ['*', 'null', '*'],
]

suite('an origin', () => {
  for (const [allowed, origin, expected] of origins)
    test(`${origin} at ${allowed}`, () => equal(allowedOf(allowed, origin), expected))

  test('is a scheme, a host and perhaps a port', () => {
    for (const text of ['ftp://a.com', 'a.com', 'https://', 'https://a.com/', 'https://a.com:x', ''])
      equal(allowedOrigin(text), undefined, text)
  })
})

const asked = {
  origin: 'https://a.com',
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'x-a, x-b',
}
const preflights: readonly (readonly [name: string, policy: CorsPolicy, expected: object])[] = [
  [
    'an origin that is not allowed',
    policyOf(['https://b.com'], { methods: ['PUT'] }),
    { vary: 'Origin' },
  ],
  [
    'lists',
    policyOf(['https://a.com'], { methods: ['GET', 'PUT'], headers: ['x-a', 'x-c'], exposedHeaders: ['x-d'], maxAgeSeconds: 9 }),
    {
      vary: 'Origin',
      'access-control-allow-origin': 'https://a.com',
      'access-control-allow-methods': 'GET, PUT',
      'access-control-allow-headers': 'x-a, x-c',
      'access-control-expose-headers': 'x-d',
      'access-control-max-age': '9',
    },
  ],
  [
    'wildcards without credentials',
    policyOf(['*'], { methods: ['*'], headers: ['*'], exposedHeaders: ['*'] }),
    {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': '*',
      'access-control-allow-headers': '*',
      'access-control-expose-headers': '*',
      'access-control-max-age': '5',
    },
  ],
  [
    'wildcards with credentials',
    policyOf(['*'], { methods: ['*'], headers: ['*'], exposedHeaders: ['*'], allowsCredentials: true }),
    {
      vary: 'Origin',
      'access-control-allow-origin': 'https://a.com',
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'x-a, x-b',
      'access-control-allow-credentials': 'true',
      'access-control-max-age': '5',
    },
  ],
] // prettier-ignore

suite('a preflight request and', () => {
  for (const [name, policy, expected] of preflights)
    test(name, () => deepEqual(preflightHeaders(policy, requestOf(asked)), expected))

  test('headers that are no names are not granted', () => {
    const policy = policyOf(['*'], { headers: ['*'], allowsCredentials: true })
    for (const text of ['x a', 'x-a,', 'x'.repeat(4_097)]) {
      const headers = preflightHeaders(policy, requestOf({ ...asked, 'access-control-request-headers': text }))
      equal(headers['access-control-allow-headers'], undefined, text)
    }
  })

  test('is an OPTIONS with an origin and a method', () => {
    equal(isPreflight(requestOf(asked)), true)
    equal(isPreflight(requestOf(asked, 'GET')), false)
    equal(isPreflight(requestOf({ origin: 'https://a.com' })), false)
    equal(isPreflight(requestOf({ 'access-control-request-method': 'GET' })), false)
  })
})

test('the route decides, not the endpoint', () => {
  const headers: Record<string, string> = { 'access-control-allow-origin': '*', vary: 'Accept', 'x-other': '1' }
  applyCors(headers, policyOf(['https://a.com']), requestOf({ origin: 'https://b.com' }, 'GET'))
  deepEqual(headers, { vary: 'Accept, Origin', 'x-other': '1' })
  const named = { vary: 'accept, origin' }
  applyCors(named, policyOf(['https://a.com']), requestOf({}, 'GET'))
  deepEqual(named, { vary: 'accept, origin' })
})

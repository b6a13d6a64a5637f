// Filters of routes that answer requests themselves or for a backend alone: each test has the name of a conformance test of the
// Gateway API, and checks the behaviour that it is about.
import { deepEqual, equal } from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { startStage, to, type Stage } from './gateway.harness.ts'

let stage: Stage
before(async () => (stage = await startStage()))
after(() => stage[Symbol.asyncDispose]())

const path = (value: string) => [{ path: { type: 'PathPrefix', value } }]
const corsNames = ['origin', 'methods', 'headers', 'credentials'].map((name) => `access-control-allow-${name}`)

test('HTTPRouteCORS', async () => {
  const rule = (value: string, cors: object, service = 'one') => ({
    matches: path(value),
    filters: [{ type: 'CORS', cors }],
    backendRefs: [to(service)],
  })
  await stage.addSimple('cors', 3001, [
    rule('/named', {
      allowOrigins: ['https://www.foo.com', 'https://*.bar.com'],
      allowMethods: ['GET', 'OPTIONS'],
      allowHeaders: ['x-header-1', 'x-header-2'],
      exposeHeaders: ['x-header-3'],
      allowCredentials: true,
      maxAge: 3600,
    }),
    rule('/any', { allowOrigins: ['*'], allowMethods: ['*'], allowHeaders: ['*'] }),
    rule('/empty', { allowOrigins: ['*'] }, 'empty'),
  ])
  const preflight = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-header-1' }
  const asked = async (target: string, origin: string, method = 'OPTIONS') => {
    const headers = { origin, ...(method === 'OPTIONS' ? preflight : {}) }
    const response = await stage.get(3001, target, { method, headers })
    return { status: response.status, endpoint: response.headers['x-endpoint'], headers: response.headers }
  }
  const granted = async (...[target, origin, method]: Parameters<typeof asked>) => {
    const { status, headers } = await asked(target, origin, method)
    return [status, ...corsNames.map((name) => headers[name])]
  }
  const named = ['GET, OPTIONS', 'x-header-1, x-header-2', 'true']
  for (const origin of ['https://www.foo.com', 'https://xpto.www.bar.com'])
    deepEqual(await granted('/named', origin), [204, origin, ...named])
  deepEqual(await granted('/named', 'https://foobar.com'), [204, undefined, undefined, undefined, undefined])
  deepEqual(await granted('/any', 'https://foobar.com:12345'), [204, '*', '*', '*', undefined])
  const preflightResponse = await asked('/named', 'https://www.foo.com')
  deepEqual([preflightResponse.headers['access-control-max-age'], preflightResponse.endpoint], ['3600', undefined])

  const simple = await asked('/named', 'https://www.foo.com', 'GET')
  deepEqual([simple.status, simple.endpoint], [200, 'one'])
  equal(simple.headers['access-control-allow-origin'], 'https://www.foo.com')
  equal(simple.headers['access-control-expose-headers'], 'x-header-3')
  const other = await asked('/named', 'https://foobar.com', 'GET')
  deepEqual([other.status, other.headers['access-control-allow-origin'], other.headers['vary']], [200, undefined, 'Origin']) // prettier-ignore
  // A page can read that there is no endpoint.
  deepEqual((await granted('/empty', 'https://a.com', 'GET')).slice(0, 2), [503, '*'])
  // OPTIONS without a request for permission is forwarded.
  equal((await stage.get(3001, '/named', { method: 'OPTIONS' })).headers['x-endpoint'], 'one')
})

const changes = [
  ['/full', { type: 'ReplaceFullPath', replaceFullPath: '/changed-full' }, '/changed-full'],
  ['/prefix', { type: 'ReplacePrefixMatch', replacePrefixMatch: '/changed-prefix' }, '/changed-prefix/original'],
] as const
const rulesWith = (filterOf: (change: object) => object & { readonly type: string }) =>
  changes.map(([value, change]) => ({
    matches: path(value),
    backendRefs: [to('one', { filters: [filterOf(change)] })],
  }))

suite('filters of a backend', () => {
  test('HTTPRouteBackendURLRewrite', async () => {
    const rules = rulesWith((change) => ({ type: 'URLRewrite', urlRewrite: { path: change } }))
    await stage.addSimple('backend-rewrite', 3002, rules)
    for (const [value, , expected] of changes)
      equal((await stage.echoed(3002, `${value}/original`)).url, expected, value)
  })

  test('HTTPRouteBackendRequestRedirect', async () => {
    const rules = rulesWith((change) => ({ type: 'RequestRedirect', requestRedirect: { path: change } }))
    await stage.addSimple('backend-redirect', 3003, rules)
    for (const [value, , expected] of changes) {
      const { status, headers } = await stage.get(3003, `${value}/original`)
      deepEqual([status, new URL(headers.location ?? '').pathname], [302, expected])
    }
  })
})

import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import type { ApiRequest, Target, Verb } from '../request/request.ts'
import { sessionCookie, sessionMisuse, sessionTokenOf, sessionUseOf } from './session-requests.ts'

const host = '127.0.0.1:6443'
const origin = `https://${host}`
const cookie = (port: number) => `__Host-coxswain-ui-${port}`

const tokens: [headers: Record<string, string>, token: string | undefined][] = [
  [{ host }, undefined],
  [{ host, cookie: 'a=b' }, undefined],
  [{ host, cookie: `a=b; ${cookie(6443)}=secret; c=d` }, 'secret'],
  [{ ':authority': host, cookie: `${cookie(6443)}=secret` }, 'secret'],
  [{ host, cookie: `${cookie(7443)}=other` }, undefined],
  [{ host: '[::1]:7443', cookie: `${cookie(6443)}=x;${cookie(7443)}=secret` }, 'secret'],
  [{ host: 'cluster.example', cookie: `${cookie(443)}=secret` }, 'secret'],
  [{ host, cookie: `x${cookie(6443)}=secret` }, undefined],
]

test('the session cookie of a server is found by its port', () => {
  for (const [headers, token] of tokens) equal(sessionTokenOf(headers), token, JSON.stringify(headers))
})

test('the cookie is bound to this server and not readable by scripts', () => {
  const attributes = 'Secure; HttpOnly; SameSite=Strict'
  equal(sessionCookie({ host }, 'secret', 60_000), `${cookie(6443)}=secret; Path=/; Max-Age=60; ${attributes}`)
  equal(sessionCookie({ host }, '', 60_000), `${cookie(6443)}=; Path=/; Max-Age=0; ${attributes}`)
})

const request = (target: Target, isUpgrade = false): ApiRequest => ({
  context: context(new AbortController().signal),
  credentials: { kind: 'presented', certificate: undefined, headers: {}, headerValues: () => [] },
  user: undefined,
  sender: 'x',
  agent: 'x',
  target,
  query: new URLSearchParams(),
  body: { kind: 'none' },
  ...(isUpgrade ? { upgrade: { headers: {} } } : {}),
})
const on = (verb: Verb, subresource = ''): Target => ({
  kind: 'resource',
  verb,
  resource: pod,
  subresource,
  namespace: 'default',
  name: 'a',
})
const path = (verb: string): Target => ({ kind: 'path', verb, path: '/ui/api/stream', accept: '' })
const page = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }

const uses: [name: string, request: ApiRequest, headers: Record<string, string>, misuse: string | undefined][] = [
  ['a read of the page', request(on('get')), page, undefined],
  ['a read of a browser without these headers', request(on('list')), {}, undefined],
  ['a stream of the page', request(path('get')), page, undefined],
  ['a read of another site', request(on('get')), { 'sec-fetch-site': 'cross-site' }, 'it comes from another site'],
  ['a read of another port', request(on('get')), { 'sec-fetch-site': 'same-site' }, 'it comes from another site'],
  ['a read of another origin', request(on('get')), { origin: 'https://127.0.0.1:1' }, 'it comes from another origin'],
  ['plain HTTP', request(on('get')), { origin: `http://${host}` }, 'it comes from another origin'],
  ['an opaque origin', request(on('get')), { origin: 'null' }, 'it comes from another origin'],
  ['a navigation', request(on('get')), { ...page, 'sec-fetch-mode': 'navigate' }, 'it is a navigation'],
  ['a link typed by the user', request(on('get')), { 'sec-fetch-site': 'none' }, 'it comes from another site'],
  ['a proxied page', request(on('get', 'proxy')), page, 'proxied servers share its origin'],
  ['a terminal of the page', request(on('get', 'exec'), true), { origin }, undefined],
  ['a terminal without an origin', request(on('get', 'exec'), true), {}, 'a WebSocket needs the header Origin'],
  ['a change of the page', request(on('patch')), { ...page, 'x-coxswain-ui': '1' }, undefined],
  ['a change with an origin', request(on('create')), { origin, 'x-coxswain-ui': '1' }, undefined],
  [
    'a change without an origin',
    request(on('delete')),
    { 'x-coxswain-ui': '1' },
    'a change needs the header Origin or Sec-Fetch-Site',
  ],
  ['a form', request(on('create')), { origin }, 'a change needs the header X-Coxswain-UI: 1'],
  ['a post to a path', request(path('post')), { origin }, 'a change needs the header X-Coxswain-UI: 1'],
]

for (const [name, sent, headers, misuse] of uses)
  test(`session: ${name} is ${misuse === undefined ? 'accepted' : 'rejected'}`, () => {
    const all = { host, ...headers }
    equal(sessionMisuse(sessionUseOf(sent, all), all), misuse)
  })

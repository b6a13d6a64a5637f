// Logging in to the web UI: from a one-time code to requests with the session cookie, through the whole handler chain.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startGuarded, type GuardedHarness } from '../server-policies.harness.ts'

const host = '127.0.0.1:6443'
const origin = `https://${host}`
const page = { anonymous: '1', host, origin, 'sec-fetch-site': 'same-origin' }

const openSession = (server: GuardedHarness, code: unknown, headers: Record<string, string> = {}) => {
  const length = String(JSON.stringify({ code }).length)
  return server.call('POST', '/ui/session', { code }, { ...page, 'content-length': length, ...headers })
}

async function logIn(server: GuardedHarness, as: string) {
  const { body } = await server.call('POST', '/ui/login', undefined, { as })
  const { headers } = await openSession(server, body.code)
  const cookie = String(headers['set-cookie']).split(';')[0] ?? ''
  const call = (method: string, target: string, sent?: unknown, more: Record<string, string> = {}) =>
    server.call(method, target, sent, { ...page, cookie, ...more })
  return { cookie, call }
}

test('a session has the permissions of the user who requested the code, and ends with the logout', async () => {
  await using server = await startGuarded()
  const admin = await logIn(server, 'root,system:masters')
  const jane = await logIn(server, 'jane,developers')
  equal((await admin.call('GET', '/api/v1/namespaces')).status, 200)
  const refused = await jane.call('GET', '/api/v1/namespaces')
  equal(refused.status, 403)
  match(refused.body.message, /User "jane" cannot list resource "namespaces"/)
  const review = { spec: {}, apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  equal((await jane.call('POST', path, review)).status, 403)
  equal((await jane.call('POST', path, review, { 'x-coxswain-ui': '1' })).body.message, undefined)
  const { status, headers } = await jane.call('POST', '/ui/logout', undefined, { 'x-coxswain-ui': '1' })
  equal(status, 200)
  match(String(headers['set-cookie']), /^__Host-coxswain-ui-6443=; Path=\/; Max-Age=0/)
  equal((await jane.call('GET', '/version')).status, 401)
  equal((await admin.call('GET', '/version')).status, 200)
})

test('a code works once, within a minute, and only for the page of this server', async () => {
  await using server = await startGuarded()
  const login = async () => (await server.call('POST', '/ui/login', undefined, { as: 'jane' })).body.code as string
  const code = await login()
  equal((await openSession(server, code, { origin: 'https://evil.example' })).status, 403)
  equal((await openSession(server, code, { 'sec-fetch-site': 'cross-site' })).status, 403)
  equal((await openSession(server, 1)).status, 400)
  equal((await openSession(server, code, { 'content-length': '1000000' })).status, 400)
  const { status, body, headers } = await openSession(server, code)
  deepEqual([status, body], [200, { user: 'jane' }])
  match(String(headers['set-cookie']), /; Path=\/; Max-Age=28800; Secure; HttpOnly; SameSite=Strict$/)
  equal((await openSession(server, code)).status, 401)
  const late = await login()
  await server.clock.advance('60s')
  equal((await openSession(server, late)).status, 401)
})

test('anonymous users get no code, and other paths and methods are not found', async () => {
  await using server = await startGuarded()
  equal((await server.call('POST', '/ui/login', undefined, { anonymous: '1' })).status, 403)
  equal((await server.call('GET', '/ui/api/unknown', undefined, { as: 'jane' })).status, 404)
  equal((await server.call('PUT', '/ui/session', undefined, { as: 'root,system:masters' })).status, 405)
  equal((await server.call('GET', '/ui/api/stream', undefined, { anonymous: '1' })).status, 403)
})

test('without files the page is served with instructions, for everyone', async () => {
  await using server = await startGuarded()
  const { status, headers, body } = await server.call('GET', '/ui/', undefined, { anonymous: '1' })
  equal(status, 503)
  match(body, /has not been built/)
  match(String(headers['content-security-policy']), /frame-ancestors 'none'/)
})

test('codes and sessions are not part of flow events', async () => {
  await using server = await startGuarded()
  const { cookie, call } = await logIn(server, 'root,system:masters')
  await call('GET', '/api/v1/namespaces/default')
  const secret = cookie.split('=')[1] ?? ''
  equal(secret.length, 43)
  equal(JSON.stringify([...server.flow.events()]).includes(secret), false)
})

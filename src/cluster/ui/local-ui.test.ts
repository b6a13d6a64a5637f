// The web UI on localhost, in front of the API server of a test's cluster: sessions, and which requests reach the cluster.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { startCluster, type TestCluster } from '../index.ts'
import { openLocalUi, type LocalUi } from './local-ui.ts'

let cluster: TestCluster
let page: LocalUi
let host = ''
let cookie = ''

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

/** Sends what the page sends; headers that are undefined are left out. */
const send = (
  method: string,
  path: string,
  more: Readonly<Record<string, string | undefined>> = {},
  body = '',
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const usual = { host, cookie, origin: `http://${host}`, 'sec-fetch-site': 'same-origin', 'x-coxswain-ui': '1' }
    const headers = Object.fromEntries(
      Object.entries({ ...usual, ...more }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
    const port = Number(host.split(':')[1])
    const sent = request({ host: '127.0.0.1', port, method, path, headers, setHost: false }, (response) => {
      let text = ''
      response.on('data', (piece: Buffer) => {
        text += piece.toString()
        // A watch does not end by itself.
        if (path.includes('watch=1')) response.destroy()
      })
      response.on('close', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    sent.on('upgrade', ({ statusCode = 0, headers: given }, socket) => {
      socket.destroy()
      resolve({ status: statusCode, headers: given, text: '' })
    })
    sent.on('error', reject)
    sent.end(body)
  })

const codeIn = (link: string): string => new URL(link).hash.slice(1)
const open = (code: string, more: Readonly<Record<string, string | undefined>> = {}): Promise<Answer> =>
  send('POST', '/ui/session', { cookie: undefined, ...more }, JSON.stringify({ code }))

before(async () => {
  cluster = await startCluster({ https: true })
  page = await openLocalUi(cluster.kubeconfig, 0, new AbortController().signal)
  host = new URL(page.link()).host
  match(host, /^localhost:\d+$/)
  const [given = ''] = (await open(codeIn(page.link()))).headers['set-cookie'] ?? []
  match(given, /^coxswain-ui-\d+=[\w-]{43}; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/)
  cookie = given.split(';')[0] ?? ''
})
after(async () => {
  await page[Symbol.asyncDispose]()
  await cluster.stop()
})

const pods = '/api/v1/namespaces/default/pods'

test('a link opens one session', async () => {
  const code = codeIn(page.link())
  equal((await open(code)).status, 200)
  const { status, text } = await open(code)
  deepEqual(
    [status, JSON.parse(text).message],
    [401, 'the link has been used or is older than a minute; run: coxswain ui'],
  )
})

const rejectedCodes: readonly (readonly [what: string, body: string])[] = [
  ['no JSON', 'code'],
  ['no code', '{}'],
  ['null', 'null'],
]
for (const [what, body] of rejectedCodes)
  test(`a session is not opened with ${what}`, async () => {
    const { status, text } = await send('POST', '/ui/session', {}, body)
    deepEqual([status, JSON.parse(text).message], [400, 'code: must be the code of the link'])
  })

test('a session is opened by the page alone', async () => {
  equal((await open(codeIn(page.link()), { origin: undefined })).status, 403)
  equal((await open(codeIn(page.link()), { origin: 'http://evil.example' })).status, 403)
  equal((await open(codeIn(page.link()), { 'sec-fetch-site': 'cross-site' })).status, 403)
})

test('requests of the session are those of the user of the kubeconfig', async () => {
  const created = await send(
    'POST',
    pods,
    { 'content-type': 'application/json' },
    JSON.stringify({ metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'web' }] } }),
  )
  equal(created.status, 201)
  equal(JSON.parse((await send('GET', pods)).text).items.length, 1)
  const review = await send(
    'POST',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { 'content-type': 'application/json' },
    '{}',
  )
  equal(JSON.parse(review.text).status.userInfo.username, 'kubernetes-admin')
  equal((await send('GET', '/ui/api/revisions')).status, 200)
  equal((await send('GET', `${pods}/none`)).status, 404)
})

test('a stream and a terminal pass through', async () => {
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const socket = {
    ...upgrade,
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  }
  await cluster.clock.advance('10s')
  const exec = `${pods}/a/exec?container=c&command=x&stdout=true`
  equal((await send('GET', exec, socket)).status, 101)
  equal((await send('GET', exec, { ...socket, origin: undefined })).status, 403)
  const watched = await send('GET', `${pods}?watch=1`)
  deepEqual([watched.status, JSON.parse(watched.text.split('\n')[0] ?? '').type], [200, 'ADDED'])
})

const rejected: readonly (readonly [
  what: string,
  status: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string | undefined>>,
])[] = [
  ['without a session', 401, 'GET', pods, { cookie: undefined }],
  ['without a session, of an endpoint in an encoded path', 401, 'GET', '/ui/%61pi/revisions', { cookie: undefined }],
  ['without a session, of an endpoint', 401, 'GET', '/ui/api/revisions', { cookie: undefined }],
  ['without a session, that leaves the page', 401, 'GET', `/ui/..${pods}`, { cookie: undefined }],
  ['without a session, that leaves the page, encoded', 401, 'GET', `/ui/%2e%2e${pods}`, { cookie: undefined }],
  ['without a session, above the page', 401, 'GET', '/ui/..', { cookie: undefined }],
  ['for a link of the API server, encoded', 404, 'POST', '/ui/%6cogin', {}],
  ['with the session of another port', 401, 'GET', pods, { cookie: 'coxswain-ui-1=x' }],
  ['of another name of this machine', 403, 'GET', pods, { host: 'evil.example' }],
  ['of another name of this machine, for the page', 403, 'GET', '/ui/', { host: '127.0.0.1' }],
  ['of another origin', 403, 'GET', pods, { origin: 'https://evil.example' }],
  ['of another port', 403, 'GET', pods, { origin: undefined, 'sec-fetch-site': 'same-site' }],
  ['that is a navigation', 403, 'GET', pods, { 'sec-fetch-mode': 'navigate' }],
  ['of a form', 403, 'POST', pods, { 'x-coxswain-ui': undefined }],
  ['to a proxied server', 403, 'GET', '/api/v1/namespaces/default/services/a/proxy/', {}],
  ['to a proxied server, encoded', 403, 'GET', '/api/v1/namespaces/default/services/a/%70roxy/', {}],
  ['to a proxied server, by the verb', 403, 'GET', '/api/v1/proxy/nodes/a', {}],
  ['with a path that is not valid', 400, 'GET', '/api/%zz', {}],
  ['for a link of the API server', 404, 'POST', '/ui/login', {}],
]
for (const [what, status, method, path, headers] of rejected)
  test(`a request ${what} is answered ${status}`, async () => equal((await send(method, path, headers)).status, status))

test('a body that is too large is rejected with its limit', async () => {
  const { status, text } = await send('POST', pods, { 'content-type': 'application/json' }, ' '.repeat(3_200_000))
  deepEqual([status, JSON.parse(text).reason], [413, 'RequestEntityTooLarge'])
})

test('the page needs no session, and is protected by its headers', async () => {
  for (const path of ['/ui/', '/ui/login']) {
    const { status, headers } = await send('GET', path, { cookie: undefined })
    ok([200, 503].includes(status)) // 503: the page has not been built
    match(String(headers['content-security-policy']), /^default-src 'none'; script-src 'self'/)
  }
  const { status, headers } = await send('GET', '/', { cookie: undefined })
  deepEqual([status, headers['location']], [302, '/ui/'])
})

test('headers of the browser do not change the user', async () => {
  const more = { 'impersonate-user': 'mallory', authorization: 'Bearer none', 'content-type': 'application/json' }
  const { text } = await send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', more, '{}')
  equal(JSON.parse(text).status.userInfo.username, 'kubernetes-admin')
})

test('a logout ends the session', async () => {
  const [given = ''] = (await open(codeIn(page.link()))).headers['set-cookie'] ?? []
  const own = { cookie: given.split(';')[0] ?? '' }
  notEqual(own.cookie, cookie)
  equal((await send('GET', pods, own)).status, 200)
  const [removed = ''] = (await send('POST', '/ui/logout', own)).headers['set-cookie'] ?? []
  match(removed, /^coxswain-ui-\d+=; Path=\/; Max-Age=0;/)
  equal((await send('GET', pods, own)).status, 401)
  equal((await send('GET', pods)).status, 200)
})

test('a cluster that has gone is reported with its reason', async () => {
  const gone = await startCluster({ https: true })
  const other = await openLocalUi(gone.kubeconfig, 0, new AbortController().signal)
  await gone.stop()
  const used = [host, cookie] as const
  host = new URL(other.link()).host
  const [given = ''] = (await open(codeIn(other.link()))).headers['set-cookie'] ?? []
  const { status, text } = await send('GET', pods, { cookie: given.split(';')[0] })
  ;[host, cookie] = used
  await other[Symbol.asyncDispose]()
  equal(status, 502)
  match(JSON.parse(text).message, /^the API server cannot be reached: .*ECONNREFUSED/)
})

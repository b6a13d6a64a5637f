import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { assetResponse, type UiFile, type UiFiles } from './ui-assets.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const file = (contentType: string, text: string): UiFile => ({
  contentType,
  bytes: bytesOf(text),
  tag: 'abc',
  encodings: [
    { name: 'br', bytes: bytesOf('br') },
    { name: 'gzip', bytes: bytesOf('gzip') },
  ],
})
const files: UiFiles = new Map([
  ['index.html', file('text/html; charset=utf-8', 'page')],
  ['app-3Fk29xQa.js', file('text/javascript; charset=utf-8', 'script')],
])

const served: [path: string, headers: Record<string, string>, status: number, body: string, shown: object][] = [
  ['/ui', {}, 308, '', { location: '/ui/' }],
  ['/ui/', {}, 200, 'page', { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' }],
  ['/ui/login', {}, 200, 'page', { etag: '"abc"', vary: 'Accept-Encoding' }],
  ['/ui/index.html', {}, 200, 'page', {}],
  ['/ui/', { 'if-none-match': '"abc"' }, 304, '', { etag: '"abc"' }],
  ['/ui/', { 'if-none-match': '"abc"', 'accept-encoding': 'br' }, 200, 'br', { 'content-encoding': 'br' }],
  ['/ui/app-3Fk29xQa.js', {}, 200, 'script', { 'cache-control': 'public, max-age=31536000, immutable' }],
  ['/ui/app-3Fk29xQa.js', { 'accept-encoding': 'gzip, deflate, br' }, 200, 'br', { etag: '"abc-br"' }],
  ['/ui/app-3Fk29xQa.js', { 'accept-encoding': 'deflate, gzip' }, 200, 'gzip', { 'content-encoding': 'gzip' }],
]

test('files are served with their encodings and cache headers', () => {
  for (const [path, headers, status, body, shown] of served) {
    const response = assetResponse(path, headers, files)
    const text =
      typeof response.body === 'string' ? response.body : new TextDecoder().decode(response.body as Uint8Array)
    deepEqual([response.status, text], [status, body], path)
    deepEqual({ ...response.headers, ...shown }, response.headers, path)
  }
})

test('every response has the security headers', () => {
  for (const path of ['/ui', '/ui/', '/ui/app-3Fk29xQa.js']) {
    const { headers } = assetResponse(path, {}, files)
    match(String(headers['content-security-policy']), /^default-src 'none'; script-src 'self';/)
    equal(headers['x-content-type-options'], 'nosniff')
    equal(headers['referrer-policy'], 'no-referrer')
  }
})

test('other paths are not found', () => {
  for (const path of ['/ui/x', '/ui/../package.json', '/ui/..%2fpackage.json', '/ui//etc/passwd', '/ui/constructor'])
    throws(() => assetResponse(path, {}, files), { code: 404 }, path)
})

test('without files the page says how to build them', () => {
  const { status, body } = assetResponse('/ui/login', {}, new Map())
  equal(status, 503)
  match(String(body), /npm run build/)
})

// Calls of webhooks: where they go, what they send, and upstream's messages when they fail.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Outbound, OutboundOptions, OutboundRequest, OutboundResponse } from '../../platform/http/outbound.ts'
import type { ObjectLister } from '../watch-cache/object-caches.ts'
import { WebhookConnections, type WebhookEndpoint } from './webhook-connections.ts'

const { signal } = new AbortController()
const reads: ObjectLister = { get: () => undefined, list: () => [] }

async function* body(text: string): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(new TextEncoder().encode(text))
}

/** Connections that answer without a network, and what they were asked. */
function connectionsWith(answer: (options: OutboundOptions) => Promise<OutboundResponse>, clock = new VirtualClock()) {
  const opened: OutboundOptions[] = []
  const closed: string[] = []
  const sent: OutboundRequest[] = []
  const connect = (options: OutboundOptions): Outbound => {
    opened.push(options)
    return {
      send(request, until) {
        sent.push(request)
        const aborted = new Promise<never>((_, reject) =>
          until.addEventListener('abort', () => reject(until.reason as Error)),
        )
        return Promise.race([answer(options), aborted])
      },
      close: () => Promise.resolve(void closed.push(options.origin)),
    }
  }
  const outbound = { connect, exchange: () => Promise.reject(new Error('not used')) }
  const connections = new WebhookConnections({ outbound, clock, serviceAddress: () => '10.0.0.7:8443' })
  return { connections, opened, closed, sent }
}

const accepted = () =>
  Promise.resolve({ status: 200, headers: { 'content-type': 'application/json' }, body: body('{"ok":true}') })
const byUrl = (url: string): WebhookEndpoint => ({ clientConfig: { url }, timeoutSeconds: 5 })

test('a URL is called with the timeout, over one connection', async () => {
  const { connections, opened, sent } = connectionsWith(accepted)
  const endpoint = byUrl('https://hook.example.com/convert')
  deepEqual(await connections.post(endpoint, '{}', reads, signal), { ok: true })
  await connections.post(endpoint, '{}', reads, signal)
  equal(opened.length, 1)
  equal(opened[0]?.origin, 'https://hook.example.com')
  deepEqual(sent[0], {
    method: 'POST',
    target: '/convert?timeout=5s',
    headers: { 'content-type': 'application/json', accept: 'application/json, */*', host: 'hook.example.com' },
    body: '{}',
  })
})

test('a Service is called at an endpoint, under the name that its certificate must have', async () => {
  const { connections, opened, sent } = connectionsWith(accepted)
  const service = { namespace: 'ns', name: 'hook', port: 443, path: '/mutate' }
  const caBundle = new TextEncoder().encode('the CA').toBase64()
  const endpoint = { clientConfig: { service, caBundle } as never, timeoutSeconds: 10 }
  await connections.post(endpoint, '{}', reads, signal)
  deepEqual(opened, [
    { origin: 'https://10.0.0.7:8443', tls: { authority: 'the CA', serverName: 'hook.ns.svc' }, http2: true },
  ])
  equal(sent[0]?.target, '/mutate?timeout=10s')
  equal(sent[0]?.headers['host'], 'hook.ns.svc:443')
})

const failures: readonly (readonly [error: object, message: string])[] = [
  [{ code: 'ECONNREFUSED', address: '10.0.0.1', port: 443 }, 'dial tcp 10.0.0.1:443: connect: connection refused'],
  [
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: 'wrong name' },
    'tls: failed to verify certificate: x509: wrong name',
  ],
  [
    { code: 'SELF_SIGNED_CERT_IN_CHAIN' },
    'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  ],
  [
    { code: 'CERT_SIGNATURE_FAILURE' },
    'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  ],
  [{ code: 'ECONNRESET' }, 'EOF'],
  [{ code: 'UND_ERR_SOCKET' }, 'EOF'],
  [{ message: 'something else' }, 'something else'],
]
for (const [error, message] of failures)
  test(`a call that fails with ${JSON.stringify(error)}`, async () => {
    const { connections } = connectionsWith(() => Promise.reject(Object.assign(new Error('failed'), error)))
    await rejects(connections.post(byUrl('https://hook/x'), '{}', reads, signal), {
      message: `Post "https://hook/x?timeout=5s": ${message}`,
    })
  })

test('a webhook that does not answer within its timeout fails with the deadline', async () => {
  const clock = new VirtualClock()
  const { connections } = connectionsWith(() => new Promise(() => {}), clock)
  const failing = rejects(connections.post(byUrl('https://hook/x'), '{}', reads, signal), {
    message: 'Post "https://hook/x?timeout=5s": context deadline exceeded',
  })
  await clock.advance(5_000)
  await failing
})

test('the oldest connection is closed beyond the limit, and all when the server ends', async () => {
  const { connections, opened, closed } = connectionsWith(accepted)
  for (let index = 0; index < 257; index++)
    await connections.post(byUrl(`https://hook-${index}/x`), '{}', reads, signal)
  deepEqual(closed, ['https://hook-0'])
  await connections.close()
  equal(closed.length, opened.length)
})

import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { forwardedHeaders, lengthOf, returnedHeaders } from './forwarded-request.ts'
import { simulatedRequest } from './simulated-connections.harness.ts'

const arrival = { scheme: 'https', port: 443, authority: 'web.example.com' } as const
const options = { protocol: 'http1', hostname: undefined, changes: [], traceparent: 't', upgrade: undefined } as const

test('headers of the connection and assertions of the client are not forwarded', () => {
  const sent = {
    connection: 'close, x-private',
    'x-private': '1',
    te: 'trailers',
    'transfer-encoding': 'chunked',
    forwarded: 'for=1',
    'x-forwarded-for': '1',
    'x-real-ip': '1',
    ':authority': 'a',
    accept: 'text/html',
  }
  const request = simulatedRequest({ host: 'web.example.com', target: '/', headers: sent })
  deepEqual(forwardedHeaders(request, arrival, options), {
    host: 'web.example.com',
    accept: 'text/html',
    forwarded: 'for=192.0.2.99;host=web.example.com;proto=https',
    traceparent: 't',
    'x-forwarded-for': '192.0.2.99',
    'x-forwarded-host': 'web.example.com',
    'x-forwarded-port': '443',
    'x-forwarded-proto': 'https',
    'x-real-ip': '192.0.2.99',
  })
})

test('other spellings of headers that the proxy sets or interprets are not forwarded', () => {
  const reserved = ['x_forwarded_for', 'x_forwarded-host', 'x.real.ip', 'x_forwarded_proto', 'transfer_encoding']
  const sent = Object.fromEntries([...reserved, 'content_length', 'x_private'].map((name) => [name, '1']))
  const request = simulatedRequest({ host: 'web.example.com', target: '/', headers: sent })
  const forwarded = Object.keys(forwardedHeaders(request, arrival, options))
  deepEqual(forwarded.filter((name) => Object.hasOwn(sent, name)), ['x_private']) // prettier-ignore
})

test('trailers are requested over HTTP/2, and upgrades are kept', () => {
  const request = simulatedRequest({ host: 'a', target: '/', headers: { te: 'trailers' } })
  const headers = forwardedHeaders(
    { ...request, remoteAddress: '2001:db8::1' },
    { ...arrival, authority: 'a:1' },
    {
      ...options,
      protocol: 'h2c',
      hostname: 'inner',
      upgrade: 'websocket',
    },
  )
  deepEqual([headers['te'], headers['connection'], headers['upgrade']], ['trailers', 'upgrade', 'websocket'])
  deepEqual([headers['host'], headers['forwarded']], ['inner', 'for="[2001:db8::1]";host="a:1";proto=https'])
})

test('a response loses the headers of its connection and keeps its length', () => {
  const headers = {
    connection: ['x-a'],
    'x-a': '1',
    'content-length': '12',
    'set-cookie': ['a', 'b'],
    ':status': '200',
  }
  deepEqual(returnedHeaders({ headers }, []), { 'set-cookie': ['a', 'b'] })
  equal(lengthOf({ headers }), 12)
  equal(lengthOf({ headers: { 'content-length': 'x' } }), undefined)
})

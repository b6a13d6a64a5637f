import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { NotSent } from '../../platform/http/http-pool.ts'
import { Unreachable, type OutboundExchange } from '../../platform/http/outbound.ts'
import { forwardUpgrade } from './upgrade.ts'

const { signal } = new AbortController()
const request = { method: 'GET', target: '/', headers: {} }
const changes = { set: [{ name: 'x', value: '1' }], add: [], remove: [] }

const forwarded = (exchange: () => Promise<OutboundExchange>) =>
  forwardUpgrade(
    { outbound: { exchange }, endpoint: { address: '2001:db8::1', port: 80 }, responseHeaders: [changes] },
    request,
    signal,
  )

/** A stream that sends these pieces, or fails. */
function streamOf(pieces: readonly string[], failure?: Error) {
  const log: string[] = []
  const stream: ByteStream = {
    pieces: (async function* () {
      for (const piece of pieces) yield new TextEncoder().encode(piece)
      if (failure !== undefined) throw failure
    })(),
    write: async (piece) => void log.push(new TextDecoder().decode(piece)),
    end: () => void log.push('end'),
    destroy: () => void log.push('destroy'),
  }
  return { stream, log }
}

test('bytes of both directions are copied until both sides end', async () => {
  const [client, endpoint] = [streamOf(['a', 'b']), streamOf(['c'])]
  const headers = { upgrade: 'websocket', connection: 'upgrade' }
  const response = await forwarded(async () => ({ kind: 'upgraded', headers, stream: endpoint.stream }))
  deepEqual([response.status, { ...response.headers }], [101, { x: '1', ...headers }])
  await response.onUpgrade?.(client.stream)
  deepEqual(
    [client.log, endpoint.log],
    [
      ['c', 'end'],
      ['a', 'b', 'end'],
    ],
  )
})

test('both sides are closed when one fails', async () => {
  const [client, endpoint] = [streamOf([], new Error('reset')), streamOf([])]
  const response = await forwarded(async () => ({ kind: 'upgraded', headers: {}, stream: endpoint.stream }))
  await response.onUpgrade?.(client.stream)
  equal(client.log.includes('destroy') && endpoint.log.includes('destroy'), true)
})

test('an endpoint may refuse the upgrade, or be unreachable', async () => {
  const body = (async function* () {})()
  const { status, headers } = await forwarded(async () => ({ kind: 'answer', status: 400, headers: {}, body }))
  deepEqual([status, { ...headers }], [400, { x: '1' }])
  await rejects(forwarded(() => Promise.reject(new Unreachable('dial tcp'))), NotSent) // prettier-ignore
  await rejects(forwarded(() => Promise.reject(new Error('other'))), { name: 'Error', message: 'other' }) // prettier-ignore
})

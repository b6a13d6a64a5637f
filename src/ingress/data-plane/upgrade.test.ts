import assert, { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { NotSent } from '../../platform/http/http-pool.ts'
import { Unreachable, type OutboundExchange } from '../../platform/http/outbound.ts'
import { headerChanges } from '../routing/header-changes.ts'
import { forwardUpgrade } from './upgrade.ts'

const { signal } = new AbortController()
const request = { method: 'GET', target: '/', headers: {} }
const changes = headerChanges({ set: [{ name: 'x', value: '1' }] })
assert(typeof changes !== 'string')

const forwarded = (exchange: () => Promise<OutboundExchange>, clock = new VirtualClock()) => {
  const endpoint = { address: '2001:db8::1', port: 80 }
  const deps = { clock, outbound: { exchange }, endpoint, responseHeaders: [changes], idleMsMax: 10_000 }
  return forwardUpgrade(deps, request, signal)
}

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
  const client = streamOf(['a', 'b'])
  const endpoint = streamOf(['c'])
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
  const client = streamOf([], new Error('reset'))
  const endpoint = streamOf([])
  const response = await forwarded(async () => ({ kind: 'upgraded', headers: {}, stream: endpoint.stream }))
  await response.onUpgrade?.(client.stream)
  equal(client.log.includes('destroy') && endpoint.log.includes('destroy'), true)
})

test('a connection is closed when neither side has sent bytes for a while', async () => {
  const clock = new VirtualClock()
  const silent = () => {
    const ended = Promise.withResolvers<never>()
    const sent: ((piece: Uint8Array) => void)[] = []
    const log: string[] = []
    const stream: ByteStream = {
      pieces: (async function* () {
        for (;;) yield await Promise.race([new Promise<Uint8Array>((resolve) => sent.push(resolve)), ended.promise])
      })(),
      write: async () => void log.push(`written at ${clock.monotonicMs()}`),
      end: () => {},
      destroy() {
        log.push(`closed at ${clock.monotonicMs()}`)
        ended.reject(new Error('closed'))
      },
    }
    return { stream, log, send: () => sent.at(-1)?.(new Uint8Array(1)) }
  }
  const client = silent()
  const endpoint = silent()
  const response = await forwarded(async () => ({ kind: 'upgraded', headers: {}, stream: endpoint.stream }), clock)
  const startMs = clock.monotonicMs()
  const joined = response.onUpgrade?.(client.stream)
  await clock.advance(6_000)
  client.send()
  await clock.advance(20_000)
  await joined
  deepEqual(endpoint.log.slice(0, 2), [`written at ${startMs + 6_000}`, `closed at ${startMs + 16_000}`])
  equal(client.log[0], `closed at ${startMs + 16_000}`)
})

test('an endpoint may refuse the upgrade, or be unreachable', async () => {
  const body = (async function* () {})()
  const { status, headers } = await forwarded(async () => ({ kind: 'answer', status: 400, headers: {}, body }))
  deepEqual([status, { ...headers }], [400, { x: '1' }])
  await rejects(forwarded(() => Promise.reject(new Unreachable('dial tcp'))), NotSent) // prettier-ignore
  await rejects(forwarded(() => Promise.reject(new Error('other'))), { name: 'Error', message: 'other' }) // prettier-ignore
})

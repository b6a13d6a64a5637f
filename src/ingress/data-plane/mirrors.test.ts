import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { HttpPool, PooledRequest, PooledResponse } from '../../platform/http/http-pool.ts'
import { mirroredMax, mirroredMsMax, Mirrors } from './mirrors.ts'

const backend = { namespace: 'default', service: 'copy', port: 80, protocol: 'http1' } as const
const request: PooledRequest = { method: 'GET', target: '/', headers: {}, body: undefined }

function stage(send: HttpPool['send'], endpoints = [{ address: '192.0.2.1', port: 80 }]) {
  const clock = new VirtualClock()
  let sent = 0
  const pool = {
    send: (...args: Parameters<HttpPool['send']>) => {
      sent++
      return send(...args)
    },
  } as unknown as HttpPool
  const mirrors = new Mirrors({ clock, endpoints: { of: () => ({ endpoints, next: 0 }) }, pools: { of: () => pool } })
  return { clock, mirrors, sent: () => sent }
}

const response = (body: PooledResponse['body']): PooledResponse => ({
  status: 200,
  headers: {},
  body,
  trailers: () => undefined,
})

test('responses are read to their end and discarded', async () => {
  let isRead = false
  const { clock, mirrors } = stage(async () =>
    response(
      (async function* () {
        yield new Uint8Array(1)
        isRead = true
      })(),
    ),
  )
  mirrors.send(backend, request)
  await clock.settle()
  equal(isRead, true)
})

test('without an endpoint nothing is sent', () => {
  const { mirrors, sent } = stage(async () => response(new Uint8Array(0)), [])
  mirrors.send(backend, request)
  equal(sent(), 0)
})

test('requests in progress are bounded in number and in time, and failures are ignored', async () => {
  const { clock, mirrors, sent } = stage(
    (_request, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  )
  for (let count = 0; count < mirroredMax + 5; count++) mirrors.send(backend, request)
  const before = sent()
  await clock.advance(mirroredMsMax)
  mirrors.send(backend, request)
  deepEqual([before, sent()], [mirroredMax, mirroredMax + 1])
})

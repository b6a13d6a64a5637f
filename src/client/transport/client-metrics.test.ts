import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Outbound, OutboundResponse } from '../../platform/http/outbound.ts'
import { ClientMetrics } from './client-metrics.ts'

const { signal } = new AbortController()

async function readAll(sending: Promise<OutboundResponse>): Promise<void> {
  for await (const piece of (await sending).body) void piece
}

/** A server that responds after a second, in two pieces with a second between them. */
function start() {
  const clock = new VirtualClock()
  const metrics = new Metrics()
  async function* body() {
    yield new Uint8Array(300)
    await clock.sleep(1_000, signal)
    yield new Uint8Array(700)
  }
  const outbound: Outbound = {
    async send({ target }) {
      await clock.sleep(1_000, signal)
      if (target === '/lost') throw new Error('lost')
      return { status: target === '/absent' ? 404 : 200, headers: {}, body: body() }
    },
    close: () => Promise.resolve(),
  }
  const own = new ClientMetrics(metrics, clock)
  const origin = 'https://127.0.0.1:6443'
  return {
    calls: own.measured(outbound, { origin }),
    streams: own.measured(outbound, { origin, isForStreams: true }),
    /** Sends the request and reads the response. */
    async exchange(to: Outbound, method: string, target: string, sent?: string) {
      const request = { method, target, headers: {}, ...(sent === undefined ? {} : { body: sent }) }
      const sending = Promise.allSettled([readAll(to.send(request, signal))])
      await clock.advance(3_000)
      const [result] = await sending
      if (result.status === 'rejected') throw result.reason
    },
    shown: () =>
      metrics
        .text()
        .split('\n')
        .filter((line) => /^rest_client_\w+(total|sum|count)\{/.test(line))
        .map((line) => line.replace('rest_client_', '').replace('host="127.0.0.1:6443",', '')),
  }
}

test('requests are measured by method, until their response has been read', async () => {
  const { calls, exchange, shown } = start()
  await exchange(calls, 'GET', '/a')
  await exchange(calls, 'GET', '/absent')
  await exchange(calls, 'POST', '/a', 'ä')
  deepEqual(shown(), [
    'request_duration_seconds_sum{verb="GET"} 4',
    'request_duration_seconds_count{verb="GET"} 2',
    'request_duration_seconds_sum{verb="POST"} 2',
    'request_duration_seconds_count{verb="POST"} 1',
    'request_size_bytes_sum{verb="GET"} 0',
    'request_size_bytes_count{verb="GET"} 2',
    'request_size_bytes_sum{verb="POST"} 2',
    'request_size_bytes_count{verb="POST"} 1',
    'requests_total{code="200",method="GET"} 1',
    'requests_total{code="404",method="GET"} 1',
    'requests_total{code="200",method="POST"} 1',
    'response_size_bytes_sum{verb="GET"} 2000',
    'response_size_bytes_count{verb="GET"} 2',
    'response_size_bytes_sum{verb="POST"} 1000',
    'response_size_bytes_count{verb="POST"} 1',
  ])
})

test('watches are only counted', async () => {
  const { calls, streams, exchange, shown } = start()
  await exchange(streams, 'GET', '/stream')
  await exchange(calls, 'GET', '/api/v1/pods?allowWatchBookmarks=true&watch=true')
  deepEqual(shown(), ['requests_total{code="200",method="GET"} 2'])
})

test('a request without a response has the code of upstream', async () => {
  const { calls, exchange, shown } = start()
  await rejects(exchange(calls, 'GET', '/lost'), /lost/)
  deepEqual(shown(), [
    'request_duration_seconds_sum{verb="GET"} 1',
    'request_duration_seconds_count{verb="GET"} 1',
    'request_size_bytes_sum{verb="GET"} 0',
    'request_size_bytes_count{verb="GET"} 1',
    'requests_total{code="<error>",method="GET"} 1',
    'response_size_bytes_sum{verb="GET"} 0',
    'response_size_bytes_count{verb="GET"} 0',
  ])
})

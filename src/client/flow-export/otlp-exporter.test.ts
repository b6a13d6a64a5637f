// Exported spans: parents, links and outcomes; and what happens when the collector is slow, busy or rejects them.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import {
  causeOf,
  FlowRecorder,
  noCause,
  type Cause,
  type FlowId,
  type Span,
} from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { OutboundProvider, OutboundRequest } from '../../platform/http/outbound.ts'
import type { OtlpSpan } from './otlp-span.ts'
import { exportSpans } from './otlp-exporter.ts'

const record = '0af7651916cd43dd8448eb211c80319c'

interface Response {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A collector that gives these responses, and then accepts everything. */
function newExport(...responses: (Response | Error)[]) {
  const clock = new VirtualClock(1_000)
  const flow = new FlowRecorder(clock)
  const warnings: string[] = []
  const requests: OutboundRequest[] = []
  const outbound = {
    exchange(_: unknown, request: OutboundRequest) {
      requests.push(request)
      const response = responses.shift() ?? { status: 200 }
      if (response instanceof Error) return Promise.reject(response)
      return Promise.resolve({ kind: 'answer', headers: {}, body: pieces(), ...response })
    },
  } as unknown as OutboundProvider
  const stop = new AbortController()
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) }
  const endpoint = new URL('http://127.0.0.1:4318/otlp/')
  const done = exportSpans({ flow, record, endpoint, outbound, clock, log }, stop.signal)
  const spans = () =>
    requests.flatMap(({ body }) => {
      const sent = JSON.parse(String(body)) as { resourceSpans: [{ scopeSpans: [{ spans: OtlpSpan[] }] }] }
      return sent.resourceSpans[0].scopeSpans[0].spans
    })
  const end = async () => {
    stop.abort()
    await done
  }
  return { clock, flow, requests, spans, warnings, end }
}

async function* pieces(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new Uint8Array())
}

const pod = { resource: 'pods', namespace: 'default', name: 'a' }
const idOf = (id: number) => id.toString(16).padStart(16, '0')

test('a request, its write and what it causes are one trace', async () => {
  const { clock, flow, spans, requests, end } = newExport()
  const call = flow.record('call', 'kubectl', 'API Server', 'create pods', pod)
  const write = flow.record('persist', 'API Server', 'Store', 'create pods', pod, 7, causeOf(call))
  await clock.advance('2s')
  flow.finish(call, '201')
  const seen = flow.record('watch', 'API Server', 'scheduler', 'ADDED', pod, 7)
  const bind = flow.record('call', 'scheduler', 'API Server', 'create pods/binding', pod, 0, causeOf(seen))
  flow.finish(bind, '409 Conflict')
  await clock.advance('2s')
  await end()
  deepEqual(
    spans().map(({ spanId, parentSpanId }) => [spanId, parentSpanId]),
    [
      [idOf(write), idOf(call)],
      [idOf(call), undefined],
      [idOf(seen), idOf(write)],
      [idOf(bind), idOf(seen)],
    ],
  )
  deepEqual([...new Set(spans().map(({ traceId }) => traceId))], [record.slice(0, 16) + idOf(call)])
  const [, created, , bound] = spans()
  deepEqual([created?.startTimeUnixNano, created?.endTimeUnixNano], ['1000000000', '3000000000'])
  deepEqual([created?.kind, created?.status], [3, { code: 0 }])
  deepEqual(bound?.status, { code: 2, message: '409 Conflict' })
  equal(JSON.stringify(bound?.attributes).includes('"k8s.object.name","value":{"stringValue":"a"}'), true)
  equal(requests[0]?.target, '/otlp/v1/traces')
})

const outside = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` as Span
const causes: [name: string, cause: (events: FlowId[]) => Cause, links: string[]][] = [
  ['further causes', ([one, two]) => ({ ...noCause, event: one as FlowId, also: [two as FlowId] }), [idOf(2)]],
  ['the trace of an instrumented client', () => ({ ...noCause, span: outside }), ['2'.repeat(16)]],
  ['no other cause', ([one]) => causeOf(one as FlowId), []],
]

for (const [name, cause, links] of causes)
  test(`links of ${name}`, async () => {
    const { clock, flow, spans, end } = newExport()
    const events = [flow.record('step', 'a', 'a', 'one'), flow.record('step', 'a', 'a', 'two')]
    flow.record('reconcile', 'a', 'a', 'three', undefined, 0, cause(events))
    await clock.advance('2s')
    await end()
    deepEqual(
      spans()
        .at(-1)
        ?.links.map(({ spanId }) => spanId),
      links,
    )
  })

const busy = { status: 503 }
const responses: [
  name: string,
  responses: (Response | Error)[],
  requests: number,
  afterSeconds: number,
  warning: RegExp,
][] = [
  ['is sent again with backoff', [busy, new Error('refused'), busy], 4, 8, /^$/],
  ['waits as long as the collector demands', [{ status: 429, headers: { 'retry-after': '20' } }], 2, 21, /^$/],
  ['that is invalid is dropped', [{ status: 400 }], 1, 60, /^spans could not be exported$/],
  ['is dropped after five attempts', [busy, busy, busy, busy, busy], 5, 60, /^spans could not be exported$/],
]

for (const [name, given, count, seconds, warning] of responses)
  test(`a batch ${name}`, async () => {
    const { clock, flow, requests, warnings, end } = newExport(...given)
    flow.record('step', 'a', 'a', 'one')
    await clock.advance((seconds - 1) * 1_000)
    const before = requests.length
    await clock.advance('1s')
    equal(requests.length, count)
    if (seconds < 60) equal(before, count - 1)
    match(warnings.join(), warning)
    await end()
  })

test('events that a slow collector misses are reported, and open calls are not exported', async () => {
  const { clock, flow, warnings, requests, end } = newExport()
  for (let index = 0; index < 20_001; index++) flow.record('call', 'a', 'b', 'open')
  await clock.advance('2s')
  deepEqual(warnings, ['flow events were not exported, because the collector is too slow'])
  equal(requests.length, 0)
  await end()
})

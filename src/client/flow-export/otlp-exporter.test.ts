// Exported spans: parents, links and outcomes; and what happens when the collector is slow, busy or rejects them.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import {
  causeOf,
  FlowRecorder,
  noCause,
  type Cause,
  type FlowEvent,
  type FlowId,
} from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Span } from '../../base/observability/span.ts'
import type { OutboundProvider, OutboundRequest } from '../../platform/http/outbound.ts'
import type { OtlpSpan } from './otlp-span.ts'
import { exportSpans } from './otlp-exporter.ts'

const record = '0af7651916cd43dd8448eb211c80319c'

interface Response {
  readonly status: number
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A collector that gives these responses, or none, and then accepts everything. */
function newExport(...responses: (Response | Error | 'none')[]) {
  const clock = new VirtualClock(1_000)
  const flow = new FlowRecorder(clock)
  const warnings: string[] = []
  const requests: OutboundRequest[] = []
  const outbound = {
    exchange(_: unknown, request: OutboundRequest, signal: AbortSignal) {
      requests.push(request)
      const response = responses.shift() ?? { status: 200 }
      if (response === 'none')
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      if (response instanceof Error) return Promise.reject(response)
      return Promise.resolve({ kind: 'answer', headers: {}, ...response, body: pieces(response.text) })
    },
  } as unknown as OutboundProvider
  const stop = new AbortController()
  const log = {
    ...silentLog,
    warn: (message: string, fields: object = {}) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  }
  const endpoint = new URL('http://127.0.0.1:4318/otlp/')
  const random = { ...seededRandom(1), fraction: () => 0 }
  const hasFailed = ({ outcome }: FlowEvent) => outcome === '409 Conflict'
  const done = exportSpans({ flow, record, endpoint, outbound, hasFailed, random, clock, log }, stop.signal)
  const resources = () =>
    requests.flatMap(({ body }) => (JSON.parse(String(body)) as { resourceSpans: ResourceSpans[] }).resourceSpans)
  /** In the order in which they were recorded. */
  const spans = () =>
    resources()
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans))
      .toSorted((a, b) => a.spanId.localeCompare(b.spanId))
  const end = async () => {
    stop.abort()
    await done
  }
  return { clock, flow, requests, resources, spans, warnings, end }
}

interface ResourceSpans {
  readonly resource: { readonly attributes: readonly { key: string; value: { stringValue: string } }[] }
  readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
}

async function* pieces(text = ''): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new TextEncoder().encode(text))
}

const pod = { resource: 'pods', namespace: 'default', name: 'a' }
const idOf = (id: number) => id.toString(16).padStart(16, '0')

test('a request, its write and what it causes are one trace', async () => {
  const { clock, flow, spans, resources, requests, end } = newExport()
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
      [idOf(call), undefined],
      [idOf(write), idOf(call)],
      [idOf(seen), idOf(write)],
      [idOf(bind), idOf(seen)],
    ],
  )
  deepEqual([...new Set(spans().map(({ traceId }) => traceId))], [record.slice(0, 16) + idOf(call)])
  const [created, , , bound] = spans()
  deepEqual([created?.startTimeUnixNano, created?.endTimeUnixNano], ['1000000000', '3000000000'])
  deepEqual([created?.kind, created?.status], [3, { code: 0 }])
  deepEqual(bound?.status, { code: 2, message: '409 Conflict' })
  const attributes = new Map(bound?.attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
  deepEqual(
    ['k8s.resource', 'k8s.namespace.name', 'k8s.pod.name', 'coxswain.outcome'].map((key) => attributes.get(key)),
    ['pods', 'default', 'a', '409 Conflict'],
  )
  equal(requests[0]?.target, '/otlp/v1/traces')
  // A watch event belongs to its receiver, everything else to its sender.
  deepEqual(
    resources().map(({ resource, scopeSpans }) => [
      resource.attributes.map(({ value }) => value.stringValue),
      scopeSpans[0]?.spans.length,
    ]),
    [
      [['API Server', 'coxswain', record], 1],
      [['kubectl', 'coxswain', record], 1],
      [['scheduler', 'coxswain', record], 2],
    ],
  )
})

test('the stages of a request are events of its span; an object without a namespace has none', async () => {
  const { clock, flow, spans, end } = newExport()
  const node = { resource: 'nodes', namespace: '', name: 'n' }
  const call = flow.record('call', 'kubectl', 'API Server', 'get nodes', node)
  flow.startStages(call, clock.monotonicMs())
  await clock.advance(2)
  flow.passStage(call, 'authentication')
  flow.finish(call, '200')
  await clock.advance('2s')
  await end()
  deepEqual(spans()[0]?.events, [{ timeUnixNano: '1002000000', name: 'authentication' }])
  const keys = spans()[0]?.attributes.map(({ key }) => key) ?? []
  deepEqual(
    ['k8s.namespace.name', 'k8s.node.name'].map((key) => keys.includes(key)),
    [false, true],
  )
})

const outside = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` as Span
const causes: [name: string, cause: (events: FlowId[]) => Cause, links: string[]][] = [
  ['further causes', ([one, two]) => ({ ...noCause, event: one as FlowId, also: [two as FlowId] }), [idOf(2)]],
  ['the writes of further revisions', () => ({ ...noCause, revisions: [11, 12] }), [idOf(1)]],
  ['a write that is an ancestor', ([one]) => ({ ...noCause, event: one as FlowId, revisions: [11] }), []],
  ['the trace of an instrumented client', () => ({ ...noCause, span: outside }), ['2'.repeat(16)]],
  ['no other cause', ([one]) => causeOf(one as FlowId), []],
]

for (const [name, cause, links] of causes)
  test(`links of ${name}`, async () => {
    const { clock, flow, spans, end } = newExport()
    const events = [
      flow.record('persist', 'a', 'Store', 'one', undefined, 11),
      flow.record('persist', 'a', 'Store', 'two', undefined, 12),
    ]
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
  [
    'waits until the time that the collector demands',
    [{ status: 503, headers: { 'retry-after': 'Thu, 01 Jan 1970 00:00:12 GMT' } }],
    ...([2, 11, /^$/] as const),
  ],
  ['that is invalid is dropped', [{ status: 400 }], 1, 60, /^spans could not be exported .*"spans":1/],
  ['is dropped after five attempts', [busy, busy, busy, busy, busy], 5, 60, /^spans could not be exported /],
  [
    'of which the collector drops a part is not sent again',
    [{ status: 200, text: '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}' }],
    ...([1, 60, /^the collector has not accepted all spans {"reason":"1 rejected: too old"}$/] as const),
  ],
  ['with a response that is no JSON is accepted', [{ status: 200, text: 'ok' }], 1, 60, /^$/],
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
  deepEqual(warnings, ['flow events were not exported, because the collector is too slow {"missed":1}'])
  equal(requests.length, 0)
  await end()
})

for (const [name, response, requestsAtEnd] of [
  ['are sent at the end', { status: 200 }, 2],
  ['are not sent again at the end', { status: 503 }, 1],
] as const)
  test(`spans that wait for their batch ${name}`, async () => {
    const { flow, requests, end } = newExport(response)
    for (let index = 0; index < 600; index++) flow.record('step', 'a', 'a', 'one')
    await end()
    equal(requests.length, requestsAtEnd)
  })

test('the process ends although the collector does not respond', async () => {
  const { clock, flow, requests, end } = newExport('none')
  flow.record('step', 'a', 'a', 'one')
  const ended = end()
  await clock.advance('2s')
  await ended
  equal(requests.length, 1)
})

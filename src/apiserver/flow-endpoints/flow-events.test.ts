import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { FlowRecorder, type FlowId } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { readSpan, spanOf } from '../../base/observability/span.ts'
import { flowEventsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import { handleFlowEvents } from './flow-events.ts'
import { ownRecord } from './flow-records.ts'
import { userWithName, type ApiRequest } from '../request/request.ts'

const record = '0af7651916cd43dd8448eb211c80319c'
const reported = {
  arrow: 'call',
  from: 'kubelet/a',
  to: 'Runtime',
  what: 'run sandbox',
  atMs: 5,
  revision: 0,
  span: spanOf(record, 7),
  cause: { revisions: [12], span: spanOf(record, 6) },
}

const requestOf = (verb: string, user: string, body: ApiRequest['body']): ApiRequest => ({
  context: context(new AbortController().signal),
  credentials: { kind: 'asserted', user: userWithName(user) },
  user: userWithName(user),
  sender: 'x',
  agent: 'x',
  target: { kind: 'path', verb, path: flowEventsPath, accept: '' },
  query: new URLSearchParams(),
  body,
})

const depsOf = (flow: FlowRecorder) => ({ flow, records: ownRecord(flow), clock: new VirtualClock() })

function post(value: unknown, user = 'system:node:a'): FlowRecorder {
  const flow = new FlowRecorder(new VirtualClock())
  void handleFlowEvents(requestOf('post', user, { kind: 'value', value }), depsOf(flow))
  return flow
}

const responsePieces = async (flow: FlowRecorder): Promise<string[]> => {
  const response = await handleFlowEvents(requestOf('get', 'admin', { kind: 'none' }), depsOf(flow))
  ok(response.kind === 'wire' && response.response.body !== undefined)
  return Array.fromAsync(response.response.body as AsyncIterable<string>)
}

test('the record is encoded in pieces of at most 500 events, without those that are recorded meanwhile', async () => {
  const flow = new FlowRecorder(new VirtualClock(), 2_048)
  deepEqual(JSON.parse((await responsePieces(flow)).join('')), { events: [] })
  for (let index = 0; index < 2_600; index++) flow.record('call', 'a', 'b', `event ${index}`)
  const expected = JSON.parse(JSON.stringify([...flow.events()])) as unknown[]
  const pieces = await responsePieces(flow)
  deepEqual(JSON.parse(pieces.join('')), { events: expected })
  equal(expected.length, 2_048)
  ok(pieces.every((piece) => piece.split('"arrow"').length <= 501))
})

test('the record of all servers is read, with those that are missing; a server asks another one for its own', async () => {
  const [own, all] = [new FlowRecorder(new VirtualClock()), new FlowRecorder(new VirtualClock())]
  own.record('step', 'a', 'a', 'own')
  all.record('step', 'b', 'b', 'of all')
  const missing = ['b on machine-b: connect ECONNREFUSED']
  const read = async (query: string) => {
    const request = { ...requestOf('get', 'admin', { kind: 'none' }), query: new URLSearchParams(query) }
    const deps = { flow: own, records: { read: async () => ({ flow: all, missing }) }, clock: new VirtualClock() }
    const response = await handleFlowEvents(request, deps)
    ok(response.kind === 'wire' && response.response.body !== undefined)
    const text = (await Array.fromAsync(response.response.body as AsyncIterable<string>)).join('')
    const { events, ...rest } = JSON.parse(text) as { events: { what: string }[] }
    return [events.map(({ what }) => what), rest]
  }
  deepEqual(await read(''), [['of all'], { missing }])
  deepEqual(await read('own=true'), [['own'], {}])
})

test('a reported event keeps its name, its time and its cause', () => {
  const [event] = post({ events: [{ ...reported, endMs: 9, outcome: 'ok' }] }).events()
  equal(event?.span, `00-${record}-0000000000000007-01`)
  equal(event?.cause.span, `00-${record}-0000000000000006-01`)
  equal(`${event?.atMs} ${event?.endMs} ${event?.outcome} ${event?.cause.revisions.join()}`, '5 9 ok 12')
})

test('a node that joined reports the events of its kubelet together with those of its proxy and its policies', () => {
  const froms = ['kubelet/a', 'proxy/a', 'network-policy/a']
  const flow = post({
    events: froms.map((from, index) => ({ ...reported, from, span: spanOf(record, (7 + index) as FlowId) })),
  })
  deepEqual(
    [...flow.events()].map(({ from }) => from),
    froms,
  )
})

const refusals: [events: unknown, error: RegExp, user?: string][] = [
  [undefined, /^StatusError: events: must be a list/],
  ['x', /events: must be a list/],
  [Array.from({ length: 1_001 }, () => reported), /events: must have at most 1000 items/],
  [[reported, null], /events\[1\]\.from: must be a string/],
  [[{ ...reported, what: 1 }], /events\[0\]\.what: must be a string/],
  [[{ ...reported, span: 'x' }], /events\[0\]\.span: must be a traceparent/],
  [[{ ...reported, arrow: 'shout' }], /events\[0\]\.arrow: must be one of call, watch/],
  [[{ ...reported, arrow: 'persist' }], /events\[0\]\.arrow: may only be recorded by the API server/],
  [[{ ...reported, object: {} }], /events\[0\]\.object\.resource: must be a string/],
  [[{ ...reported, from: 'scheduler' }], /system:node:a does not speak as "scheduler"/],
  [[reported, { ...reported, from: 'proxy/b' }], /events\[1\]\.from: system:node:a does not speak as "proxy\/b"/],
  [[reported], /system:node:b does not speak as "kubelet\/a"/, 'system:node:b'],
]

test('an invalid report is rejected with the name of its field, and nothing of it is stored', () => {
  for (const [events, error, user] of refusals) throws(() => post({ events }, user), error)
})

test('a span is parsed from a traceparent and from nothing else', () => {
  equal(readSpan(`00-${record}-00f067aa0ba902b7-00`), `00-${record}-00f067aa0ba902b7-01`)
  for (const text of [
    undefined,
    '',
    'x',
    `00-${record}-00f067aa0ba902b7`,
    `00-${record.toUpperCase()}-00f067aa0ba902b7-01`,
  ])
    equal(readSpan(text), undefined)
})

// Golden frames: RECORD_FRAMES=1 writes them again.
import { deepEqual, equal, match } from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { causeOf, FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { flowTreesOf } from '../../../flows/flow-graph.ts'
import { messagesOf, type FlowMessage } from '../../../flows/flow-messages.ts'
import { after, initialState, nowMs, podRow, withRows } from '../state/state.harness.ts'
import type { Input, State } from '../state/state.ts'
import { render } from './render.ts'

const rows = [
  podRow('api-6d8f7c5b9-2xk4q'),
  podRow('api-6d8f7c5b9-7hzvw', { ready: '0/1', status: 'CrashLoopBackOff', restarts: '7 (2m ago)', ageMs: 900_000 }),
  podRow('migrate-x7k2p', { ready: '0/1', status: 'Completed', ageMs: 7_200_000 }),
  podRow('web-0', { ageMs: 260_000_000 }),
  podRow('web-1', { ready: '0/1', status: 'Pending', ageMs: 3_000 }),
  podRow('web-2', { status: 'Terminating', ageMs: 40_000 }),
  podRow('a-pod-with-a-name-that-is-as-long-as-names-may-be-in-this-list-of-pods-at-least'),
]

const describe = ['Name:       web-0', 'Namespace:  default', 'Labels:     app=web', '', 'Conditions:', '  Ready  True']

function messages(): readonly FlowMessage[] {
  const flow = new FlowRecorder(new VirtualClock())
  const web = { resource: 'deployments', namespace: 'default', name: 'web' }
  const call = flow.record('call', 'kubectl', 'API Server', 'create deployments', web)
  flow.record('persist', 'API Server', 'Store', 'put deployment', web, 10, causeOf(call))
  flow.finish(call, '201')
  const delivery = flow.record('watch', 'API Server', 'controllers', 'ADDED', web, 10)
  const from = 'controller/deployment'
  const cause = causeOf(delivery, 10)
  const run = flow.record('reconcile', from, from, 'reconcile default/web', web, 0, cause)
  const made = flow.record('call', from, 'API Server', 'create replicasets', web, 0, causeOf(run))
  flow.finish(made, '403 forbidden: exceeded quota')
  return messagesOf(flowTreesOf(flow.events(), web), { fold: true })
}

const map: Input = {
  kind: 'map',
  id: 2,
  columns: [['kubectl'], ['API Server', 'Store'], ['scheduler', 'deployment', 'replica-set'], ['kubelet/node-0']],
  lines: [
    { id: 'API Server>Store', from: 'API Server', to: 'Store', perSecond: 24.2, errorsPerSecond: 0 },
    { id: 'API Server>scheduler', from: 'API Server', to: 'scheduler', perSecond: 6.4, errorsPerSecond: 0.4 },
    { id: 'API Server>kubelet/node-0', from: 'API Server', to: 'kubelet/node-0', perSecond: 1, errorsPerSecond: 0 },
    { id: 'API Server>kubectl', from: 'API Server', to: 'kubectl', perSecond: 0, errorsPerSecond: 0 },
  ],
}

const scenes: [name: string, inputs: (Input | string)[]][] = [
  ['pods', ['j']],
  ['pods-wide-filtered', ['<ctrl-w>', 'A', '/web|api']],
  ['command', [':dep']],
  ['delete', ['G', '<ctrl-d>']],
  ['describe', ['d', { kind: 'text', id: 2, lines: describe }]],
  ['flow', ['f', { kind: 'messages', id: 2, messages: messages() }]],
  ['map', ['m', map, 'j']],
  ['help', ['?']],
  ['failed', [{ kind: 'failed', id: 1, reason: 'connection refused' }]],
  ['contexts', [':ctx<enter>']],
  ['forward', ['F8080:80']],
  [
    'notice',
    [
      {
        kind: 'notice',
        notice: {
          text: 'kubectl scale deployment/web --replicas=3 -n default: deployments.apps "web" is forbidden: User "me" cannot patch resource "deployments/scale" in API group "apps" in the namespace "default"',
          isError: true,
        },
      },
    ],
  ],
]

for (const [width, height] of [
  [40, 12],
  [80, 24],
  [120, 40],
] as const)
  for (const [name, inputs] of scenes)
    test(`the frame of ${name} at ${width}×${height}`, async () => {
      const { state } = after(withRows(initialState(width, height), rows), ...inputs)
      const text = `${render(state, nowMs).lines().join('\n')}\n`
      const path = new URL(`frames/${name}-${width}x${height}.txt`, import.meta.url)
      if (process.env['RECORD_FRAMES'] !== undefined) await writeFile(path, text)
      equal(text, await readFile(path, 'utf8'))
    })

const texts = (state: State): string => render(state, nowMs).lines().join('\n')

test('only the rows on the screen are drawn, and the selected one is among them', () => {
  const many = withRows(
    initialState(),
    Array.from({ length: 5_000 }, (_, index) => podRow(`web-${String(index).padStart(4, '0')}`)),
  )
  const { state } = after(many, 'G')
  match(texts(state), /pods\(default\)\[5000\]/)
  match(texts(state), /web-4999/)
  equal(texts(state).includes('web-4900'), false)
})

test('control characters in names are drawn as text', () => {
  const state = withRows(initialState(), [podRow('evil\x1b[2J\u202e日本')])
  match(texts(state), /evil\^\[\[2J\ufffd日本/)
})

test('rows have the colour of their state', () => {
  const frame = render(withRows(initialState(), [podRow('0-selected'), ...rows]), nowMs)
  const styles = frame.lines().flatMap((line, y) => {
    const [name = ''] = /^ (\S+)/.exec(line) ?? []
    return /^ (api|migrate|web|0-)/.test(name) ? [`${name.trim().slice(0, 9)} ${frame.styleAt(1, y)}`] : []
  })
  deepEqual(styles, [
    '0-selecte selected',
    'api-6d8f7 plain',
    'api-6d8f7 failure',
    'migrate-x dim',
    'web-0 plain',
    'web-1 warning',
    'web-2 dim',
  ])
})

test('lists say when they are empty, and why nothing matches', () => {
  match(texts(withRows(initialState(), [])), /there are no pods in default; 0 shows all namespaces/)
  match(texts(after(withRows(initialState(), rows), '/nothing').state), /none of 7 rows matches nothing/)
  match(texts(initialState()), /loading…/)
  match(texts(after(initialState(), { kind: 'failed', id: 1, reason: 'forbidden' }).state), /cannot be read: forbidden/)
})

test('texts and diagrams say when they are empty', () => {
  const pods = withRows(initialState(), rows)
  match(texts(after(pods, 'l', { kind: 'text', id: 2, lines: [] }).state), /nothing has been logged/)
  match(texts(after(pods, 'y', { kind: 'text', id: 2, lines: [] }).state), /nothing to show/)
  match(texts(after(pods, 'f', { kind: 'messages', id: 2, messages: [] }).state), /nothing is recorded about it yet/)
  match(texts(after(pods, 'm', { kind: 'map', id: 2, columns: [], lines: [] }).state), /no messages yet/)
  match(
    texts(after(pods, '<enter>', { kind: 'rows', id: 2, change: { kind: 'replace', columns: [], rows: [] } }).state),
    /does not exist any more/,
  )
})

test('a text is moved sideways, and a search is highlighted', () => {
  const text = after(withRows(initialState(), rows), 'y', {
    kind: 'text',
    id: 2,
    lines: ['0123456789 image: 日本 image'],
  })
  match(texts(after(text.state, '<right>').state), /^89 image/m)
  const frame = render(after(text.state, '/image<enter>').state, nowMs)
  const y = frame.lines().findIndex((line) => line.startsWith('0123'))
  deepEqual([frame.styleAt(10, y), frame.styleAt(11, y), frame.styleAt(23, y)], ['plain', 'warning', 'warning'])
})

test('the last line has notices, previous logs and containers have titles', () => {
  const pods = withRows(initialState(), rows)
  match(texts(after(pods, { kind: 'notice', notice: { text: 'deleted', isError: false } }).state), /^ deleted$/m)
  match(texts(after(pods, 'p').state), /previous logs pod default\/a-pod/)
  match(texts(after(pods, 'G<enter>').state), /containers\(default\/web-2\)\[0\]/)
  match(texts(after(pods, '<ctrl-a>').state), /^NAME +SHORTNAMES/m)
  match(texts(after(pods, 'd').state), /pods › describe/)
})

test('a map with many participants names those that fit', () => {
  const columns = [[], [], Array.from({ length: 30 }, (_, index) => `controller-${index}`), []]
  match(texts(after(initialState(), 'm', { kind: 'map', id: 2, columns, lines: [] }).state), /and 26 more/)
})

test('a small terminal has no header, and a tiny one only a message', () => {
  const pods = withRows(initialState(80, 12), rows)
  equal(texts(pods).includes('Context'), false)
  match(texts(pods), /^ NAME/m)
  match(texts(after(pods, 'm', map).state), /^ FROM/m)
  match(texts(withRows(initialState(39, 24), rows)), /smaller than 40×8/)
})

test('ages advance', () => {
  const state = withRows(initialState(), [podRow('web-0', { ageMs: 5_000 })])
  match(texts(state), / 5s/)
  match(
    render(state, nowMs + 60_000)
      .lines()
      .join('\n'),
    / 65s/,
  )
})

test('columns that have no room are shown with the right arrow', () => {
  const pods = withRows(initialState(40, 12), rows)
  match(texts(pods), /^ NAME +READY +STATUS +›$/m)
  match(texts(after(pods, '<right><right>').state), /^ NAME +RESTARTS +AGE/m)
})

test('the column that decides the order is shown', () => {
  match(texts(after(withRows(initialState(), rows), 'O').state), /^ NAME +READY +STATUS +RESTARTS +AGE +NODE↑/m)
})

test('the way to a view is cut at its start, and not covered', () => {
  const { state } = after(withRows(initialState(40, 12), rows), ':no<enter>:cm<enter>:po<enter>m')
  match(render(state, nowMs).lines().at(-1) ?? '', /^ … › pods › map {2}<esc> back +loading…$/)
})

test('the keys of namespaces are in the header of lists that have them', () => {
  const start = withRows(initialState(160, 24), rows)
  const { state } = after(
    start,
    ...['shop', 'a-namespace-with-a-long-name', 'late'].map((each) => `:po ${each}<enter>`),
  )
  const head = texts(state).split('\n').slice(0, 3).join('\n')
  for (const hint of ['<0> all', '<1> default', '<2> shop', '<3> a-namespace-wit…', '<4> late'])
    match(head, new RegExp(hint))
  equal(texts(after(state, ':no<enter>').state).includes('<1> default'), false)
})

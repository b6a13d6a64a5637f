import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../base/random/random.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import type { Resource } from '../state/resources.ts'
import { deployments, nowMs, pods, resources } from '../state/state.harness.ts'
import type { Data } from '../state/state.ts'
import { flowView, tableView, textView, type View } from '../state/views.ts'
import { FakeApi } from './fake-api.harness.ts'
import { subscribe } from './subscribe.ts'

const events: Resource = { ...pods, kind: 'Event', plural: 'events', singular: 'event', shortNames: ['ev'] }
const object = { resource: pods, namespace: 'default', name: 'web-0' }
const web = (phase: string, resourceVersion = '5') => ({
  metadata: { name: 'web-0', namespace: 'default', resourceVersion, managedFields: [{}] },
  spec: { containers: [{ name: 'main', image: 'nginx' }] },
  status: { phase },
})
const listOf = (...items: readonly object[]) => ({ metadata: { resourceVersion: '5' }, items })

function open(
  view: View,
  document: FakeApi['document'],
  known: readonly Resource[] = resources,
  explanation: FakeApi['explanation'] = () => [],
) {
  const api = Object.assign(new FakeApi(), { document, explanation })
  const clock = new VirtualClock(nowMs)
  const stop = new AbortController()
  const reports: Data[] = []
  const deps = { api, clock, random: seededRandom(1) }
  const ended = subscribe(view, known, deps, (data) => void reports.push(data), stop.signal)
  const last = (): Data | undefined => reports.at(-1)
  const lines = (): readonly string[] => {
    const data = last()
    return data?.kind === 'text' ? data.lines : []
  }
  return { api, clock, stop, ended, reports, last, lines }
}

test('a table is listed with the selector and changed by its watch', async () => {
  const selector = { text: 'deployment/web', labelSelector: 'app=web' }
  const view = tableView(3, { kind: 'list', resource: pods, namespace: 'default', selector })
  const table = (name: string) => ({
    kind: 'Table',
    columnDefinitions: [{ name: 'Name' }],
    metadata: { resourceVersion: '5' },
    rows: [{ cells: [name], object: { metadata: { name, namespace: 'default' } } }],
  })
  const { api, clock, stop, ended, reports } = open(view, () => table('a'))
  await clock.settle()
  deepEqual(api.reads, ['/api/v1/namespaces/default/pods?labelSelector=app%3Dweb&limit=500'])
  equal(api.newest.accept, 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json')
  api.newest.lines({ type: 'ADDED', object: table('b') }, { type: 'DELETED', object: table('a') })
  await clock.settle()
  deepEqual(
    reports.map((data) => data.kind === 'rows' && [data.id, data.change.kind]),
    [
      [3, 'replace'],
      [3, 'change'],
    ],
  )
  const [, change] = reports
  deepEqual(change?.kind === 'rows' && change.change.kind === 'change' && change.change.removed, ['default/a'])
  api.newest.fail(new Error('socket hang up'))
  await clock.settle()
  deepEqual(reports.at(-1), { kind: 'failed', id: 3, reason: 'socket hang up' })
  stop.abort()
  await ended
})

test('the containers of a pod follow the pod until it is deleted', async () => {
  const { api, clock, stop, ended, last } = open(tableView(3, { kind: 'containers', pod: object }), () =>
    listOf(web('Pending')),
  )
  const rows = (): unknown => {
    const data = last()
    return data?.kind === 'rows' && data.change.kind === 'replace' && data.change.rows.map(({ name }) => name)
  }
  await clock.settle()
  deepEqual(api.reads, ['/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dweb-0&limit=500'])
  deepEqual(rows(), ['main'])
  api.newest.lines({ type: 'DELETED', object: web('Running', '6') })
  await clock.settle()
  deepEqual(rows(), [])
  api.newest.fail(new Error('socket hang up'))
  await clock.settle()
  equal(last()?.kind, 'failed')
  stop.abort()
  await ended
})

test('YAML has the type, has no managed fields, and follows the object', async () => {
  const { api, clock, stop, ended, lines, last } = open(textView(3, { kind: 'yaml', object }), () =>
    listOf(web('Pending')),
  )
  const yaml = (phase: string, revision: string): string[] => [
    'apiVersion: v1',
    'kind: Pod',
    'metadata:',
    '  name: web-0',
    '  namespace: default',
    `  resourceVersion: "${revision}"`,
    'spec:',
    '  containers:',
    '  - image: nginx',
    '    name: main',
    'status:',
    `  phase: ${phase}`,
  ]
  await clock.settle()
  deepEqual(lines(), yaml('Pending', '5'))
  api.newest.lines({ type: 'MODIFIED', object: web('Running', '6') })
  await clock.settle()
  deepEqual(lines(), yaml('Running', '6'))
  api.newest.lines({ type: 'DELETED', object: web('Running', '7') })
  await clock.settle()
  deepEqual(lines(), ['pod web-0 does not exist any more'])
  api.newest.fail(new Error('socket hang up'))
  await clock.settle()
  equal(last()?.kind, 'failed')
  stop.abort()
  await ended
})

test('YAML of a group has its version', async () => {
  const of = { resource: { ...deployments, verbs: ['list'] }, namespace: 'default', name: 'web' }
  const { lines, ended } = open(textView(3, { kind: 'yaml', object: of }), () => listOf({ metadata: { name: 'web' } }))
  await ended
  deepEqual(lines().slice(0, 2), ['apiVersion: apps/v1', 'kind: Deployment'])
})

test('a description follows the object and its events', async () => {
  const event = (name: string, reason: string) => ({ metadata: { name, resourceVersion: '6' }, reason, message: '' })
  const { api, clock, stop, ended, lines } = open(
    textView(3, { kind: 'describe', object }),
    (target) => (target.includes('/events') ? listOf(event('a', 'Scheduled')) : listOf(web('Pending'))),
    [...resources, events],
  )
  const reasons = (): string[] => {
    const shown = lines()
    return shown.slice(shown.indexOf('Events:') + 2).map((line) => line.trim().split(' ')[0] ?? '')
  }
  await clock.settle()
  equal(
    api.reads[1],
    '/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DPod%2CinvolvedObject.name%3Dweb-0&limit=500',
  )
  deepEqual(reasons(), ['Scheduled'])
  const [ofPod, ofEvents] = ['/pods', '/events'].map((part) => api.streams.find(({ target }) => target.includes(part)))
  ofEvents?.lines({ type: 'ADDED', object: event('b', 'Pulled') }, { type: 'DELETED', object: event('a', 'Scheduled') })
  ofPod?.lines({ type: 'MODIFIED', object: web('Running', '6') })
  await clock.settle()
  deepEqual(reasons(), ['Pulled'])
  equal(lines().includes('Phase:       Running'), true)
  ofEvents?.fail(new Error('forbidden'))
  await clock.settle()
  equal(lines().includes('Phase:       Running'), true, 'the description remains without events')
  ofPod?.lines({ type: 'DELETED', object: web('Running', '7') })
  await clock.settle()
  deepEqual(lines(), ['pod web-0 does not exist any more'])
  stop.abort()
  await ended
})

test('a description without events is shown where they cannot be listed', async () => {
  const { clock, stop, ended, lines } = open(textView(3, { kind: 'describe', object }), () => listOf(web('Pending')))
  await clock.settle()
  equal(lines().at(-1), 'Events:      <none>')
  stop.abort()
  await ended
})

test('the explanation of an object, or its failure', async () => {
  const view = textView(3, { kind: 'why', object })
  for (const [explanation, wanted] of [
    [() => ['pod/web-0', '  it is running'], { kind: 'text', id: 3, lines: ['pod/web-0', '  it is running'] }],
    [
      () => {
        throw new Error('pod "web-0" was not found')
      },
      { kind: 'failed', id: 3, reason: 'pod "web-0" was not found' },
    ],
  ] as const) {
    const { ended, last } = open(view, () => ({}), resources, explanation)
    await ended
    deepEqual(last(), wanted)
  }
})

test('logs and flows are streams; help and kinds need no data', async () => {
  for (const [view, targets] of [
    [
      textView(3, { kind: 'logs', object, container: 'main', isPrevious: true }),
      ['/api/v1/namespaces/default/pods/web-0/log?container=main&tailLines=500&previous=true'],
    ],
    [flowView(3, { object, between: '' }), ['/ui/api/stream?past=10000']],
    [textView(3, { kind: 'help' }), []],
    [textView(3, { kind: 'kinds' }), []],
  ] as const) {
    const { api, clock, stop, ended } = open(view, () => ({}))
    await clock.settle()
    deepEqual(
      api.streams.map(({ target }) => target),
      targets,
    )
    stop.abort()
    await ended
  }
})

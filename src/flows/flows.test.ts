import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf, FlowRecorder, type FlowId } from '../base/observability/flow-recorder.ts'
import type { RequestStage } from '../base/observability/stage-passages.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { flowTreesOf } from './flow-graph.ts'
import { messagesOf } from './flow-messages.ts'
import { sequenceDiagram } from './sequence-diagram.ts'
import { mermaidDiagram } from './mermaid-diagram.ts'
import { textDiagram } from './text-diagram.ts'

const object = (resource: string, name: string) => ({ resource, namespace: 'default', name })
const web = object('deployments', 'web')

function recorded(): FlowRecorder {
  const flow = new FlowRecorder(new VirtualClock())
  const call = flow.record('call', 'kubectl', 'API Server', 'create deployments', web)
  flow.record('persist', 'API Server', 'Store', 'put deployment', web, 10, causeOf(call))
  flow.finish(call, '201')
  const delivery = flow.record('watch', 'API Server', 'controllers', 'ADDED', web, 10)
  flow.record('watch', 'API Server', 'idle watcher', 'ADDED', web, 10)
  const run = flow.record(
    'reconcile',
    'controller/deployment',
    'controller/deployment',
    'reconcile default/web',
    web,
    0,
    causeOf(delivery, 10),
  )
  for (const name of ['web-aaaaa', 'web-bbbbb']) {
    const made = flow.record(
      'call',
      'controller/deployment',
      'API Server',
      'create pods',
      object('pods', name),
      0,
      causeOf(run),
    )
    flow.record(
      'persist',
      'API Server',
      'Store',
      'put pod',
      object('pods', name),
      name === 'web-aaaaa' ? 11 : 12,
      causeOf(made),
    )
    flow.finish(made, '201')
  }
  flow.record('call', 'kubectl', 'API Server', 'create pods', object('pods', 'foreign'))
  // A component in another process names only the revision that it reacts to.
  flow.record('call', 'remote', 'API Server', 'update deployments', web, 0, {
    event: 0 as FlowId,
    also: [],
    revisions: [10],
  })
  return flow
}

test('the flow of an object: causes linked by id and by revision, similar branches folded, unrelated events left out', () => {
  equal(
    textDiagram(flowTreesOf(recorded().events(), web)),
    `     +0ms  kubectl ──► API Server: create deployments web → 201
     +0ms    API Server ══► Store: put deployment web @10
     +0ms      API Server --► controller/deployment: ADDED deployments web
     +0ms        controller/deployment ···►: reconcile default/web
     +0ms          controller/deployment ──► API Server: create pods web-aaaaa → 201  ×2 similar
     +0ms            API Server ══► Store: put pod web-aaaaa @11
     +0ms      remote ──► API Server: update deployments web
`,
  )
})

test('without folding every branch is shown', () => {
  const text = textDiagram(flowTreesOf(recorded().events(), web), { fold: false })
  equal(text.split('\n').filter((line) => line.includes('create pods')).length, 2)
})

test('the pods of one set are merged, although one of them triggered another component', () => {
  const flow = new FlowRecorder(new VirtualClock())
  const from = 'controller/replica-set'
  const set = object('replicasets', 'web')
  const run = flow.record('reconcile', from, from, 'reconcile default/web', set)
  for (const [index, name] of ['web-aaaaa', 'web-bbbbb', 'web-ccccc'].entries()) {
    const made = flow.record('call', from, 'API Server', 'create pods', object('pods', 'web-*'), 0, causeOf(run))
    for (const turn of [0, 1])
      flow.record(
        'persist',
        'API Server',
        'Store',
        'put pod',
        object('pods', name),
        10 * turn + index + 1,
        causeOf(made),
      )
    const delivered = flow.record('watch', 'API Server', 'controllers', 'ADDED', object('pods', name), index + 1)
    const node = `node-${index % 2}`
    const bound = flow.record(
      'call',
      'scheduler',
      'API Server',
      `bind to ${node}`,
      object('pods', name),
      0,
      causeOf(made),
    )
    if (index === 1) flow.record('call', from, 'API Server', 'update replicasets/status', set, 0, causeOf(delivered))
    flow.finish(bound, '201')
  }
  equal(
    textDiagram(flowTreesOf(flow.events(), set)),
    `     +0ms  ${from} ···►: reconcile default/web
     +0ms    ${from} ──► API Server: create pods web-*  ×3 similar
     +0ms      API Server ══► Store: put pod web-aaaaa @1
     +0ms        API Server --► ${from}: ADDED pods web-bbbbb  once
     +0ms          ${from} ──► API Server: update replicasets/status web
     +0ms      API Server ══► Store: put pod web-aaaaa @11
     +0ms      scheduler ──► API Server: bind to node-0 web-aaaaa → 201  ×2 similar
     +0ms      scheduler ──► API Server: bind to node-1 web-bbbbb → 201  once
`,
  )
})

test('a bookmark is not a delivery of the object whose revision it has', () => {
  const flow = new FlowRecorder(new VirtualClock())
  const call = flow.record('call', 'kubectl', 'API Server', 'create deployments', web)
  flow.record('persist', 'API Server', 'Store', 'put deployment', web, 10, causeOf(call))
  flow.record('watch', 'API Server', 'operator', 'ADDED', web, 10)
  const kind = { resource: 'deployments', namespace: '', name: '' }
  flow.record('watch', 'API Server', 'operator', 'BOOKMARK', kind, 10)
  // One call that names the revision, and one without a cause and without an object name.
  flow.record('call', 'operator', 'API Server', 'update deployments', web, 0, {
    event: 0 as FlowId,
    also: [],
    revisions: [10],
  })
  flow.record('call', 'operator', 'API Server', 'deletecollection deployments', { ...kind, namespace: 'default' })
  equal(
    textDiagram(flowTreesOf(flow.events(), web)),
    `     +0ms  kubectl ──► API Server: create deployments web
     +0ms    API Server ══► Store: put deployment web @10
     +0ms      API Server --► operator: ADDED deployments web
     +0ms        operator ──► API Server: update deployments web
`,
  )
})

test('an unknown object has no flow', () => {
  equal(textDiagram(flowTreesOf(recorded().events(), object('pods', 'none'))), '')
})

test('the same flow as a sequence diagram, in order of time', () => {
  equal(
    sequenceDiagram(flowTreesOf(recorded().events(), web)),
    [
      '           kubectl',
      '           │    API Server',
      '           │    │    Store',
      '           │    │    │    controller/deployment',
      '           │    │    │    │    remote',
      '     +0ms  │───►│    │    │    │  create deployments web → 201',
      '     +0ms  │    │═══►│    │    │  put deployment web @10',
      '     +0ms  │    │--------►│    │  ADDED deployments web',
      '     +0ms  │    │    │ ···►    │  reconcile default/web',
      '     +0ms  │    │◄────────│    │  create pods web-aaaaa → 201  ×2',
      '     +0ms  │    │═══►│    │    │  put pod web-aaaaa @11  ×2',
      '     +0ms  │    │◄─────────────│  update deployments web',
      '',
    ].join('\n'),
  )
})

test('the same flow for Mermaid', () => {
  equal(
    mermaidDiagram(flowTreesOf(recorded().events(), web)),
    [
      'sequenceDiagram',
      '  participant p0 as kubectl',
      '  participant p1 as API Server',
      '  participant p2 as Store',
      '  participant p3 as controller/deployment',
      '  participant p4 as remote',
      '  p0->>p1: create deployments web → 201',
      '  p1-)p2: put deployment web @10',
      '  p1-->>p3: ADDED deployments web',
      '  p3-->>p3: reconcile default/web',
      '  p3->>p1: create pods web-aaaaa → 201 ×2',
      '  p1-)p2: put pod web-aaaaa @11 ×2',
      '  p4->>p1: update deployments web',
      '',
    ].join('\n'),
  )
})

test('a call without a cause: the cause is inferred from deliveries to the client, and drawn differently', () => {
  const flow = new FlowRecorder(new VirtualClock())
  const made = flow.record('call', 'kubectl', 'API Server', 'create deployments', web)
  flow.record('persist', 'API Server', 'Store', 'put deployment', web, 10, causeOf(made))
  for (const watcher of ['operator', 'kubectl']) flow.record('watch', 'API Server', watcher, 'ADDED', web, 10)
  const named = ['web-config', 'website', 'web']
  for (const name of named)
    flow.record('call', 'operator', 'API Server', 'create configmaps', object('configmaps', name))
  flow.record('call', 'kubectl', 'API Server', 'create configmaps', object('configmaps', 'web-typed'))
  const roots = flowTreesOf(flow.events(), web)
  equal(
    textDiagram(roots, { fold: false }),
    [
      '     +0ms  kubectl ──► API Server: create deployments web',
      '     +0ms    API Server ══► Store: put deployment web @10',
      '     +0ms      API Server --► operator: ADDED deployments web',
      '     +0ms        operator ╌╌► API Server: create configmaps web-config',
      '     +0ms        operator ╌╌► API Server: create configmaps web',
      '',
    ].join('\n'),
  )
  equal(sequenceDiagram(roots).includes('◄╌'), true)
  equal(mermaidDiagram(roots).includes('--)'), true)
})

test('no cause is inferred from a delivery that is too old', async () => {
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock)
  flow.record('persist', 'API Server', 'Store', 'put deployment', web, 10)
  flow.record('watch', 'API Server', 'operator', 'ADDED', web, 10)
  await clock.advance('11s')
  flow.record('call', 'operator', 'API Server', 'create configmaps', object('configmaps', 'web-late'))
  flow.record('call', 'operator', 'API Server', 'update deployments', web, 0, {
    event: 0 as FlowId,
    also: [],
    revisions: [10],
  })
  equal(
    textDiagram(flowTreesOf(flow.events(), web)),
    [
      '     +0ms  API Server ══► Store: put deployment web @10',
      '     +0ms    API Server --► operator: ADDED deployments web',
      ' +11000ms      operator ──► API Server: update deployments web',
      '',
    ].join('\n'),
  )
})

test('the stages of a call are shown below it with their durations, between its other events', async () => {
  const clock = new VirtualClock()
  const flow = new FlowRecorder(clock)
  const call = (what: string, ...passed: RequestStage[]) => {
    const id = flow.record('call', 'kubectl', 'API Server', what, web)
    flow.startStages(id, clock.monotonicMs())
    for (const stage of passed) flow.passStage(id, stage)
    return id
  }
  const made = call('create deployments', 'authentication', 'fairness', 'authorization', 'reading')
  const review = flow.record('call', 'API Server', 'Webhook/w', 'review create deployments', web, 0, causeOf(made))
  await clock.advance(1500)
  flow.finish(review, 'allowed')
  for (const stage of ['mutating', 'validation', 'validating', 'store'] as const) flow.passStage(made, stage)
  flow.record('persist', 'API Server', 'Store', 'put deployment', web, 10, causeOf(made))
  flow.finish(made, '201')
  flow.finish(call('delete deployments', 'authentication', 'fairness', 'authorization', 'reading'), '403 Forbidden')
  flow.finish(call('update deployments'), '401 Unauthorized')
  const own = 'API Server ··· API Server:'
  equal(
    textDiagram(flowTreesOf(flow.events(), web), { fold: true, stages: true }),
    `     +0ms  kubectl ──► API Server: create deployments web → 201
     +0ms    ${own} authentication 0ms
     +0ms    ${own} priority and fairness 0ms
     +0ms    ${own} authorization 0ms
     +0ms    ${own} reading 0ms
     +0ms    API Server ──► Webhook/w: review create deployments web → allowed
  +1500ms    ${own} mutating admission 1500ms
  +1500ms    ${own} schema validation 0ms
  +1500ms    ${own} validating admission 0ms
  +1500ms    ${own} store 0ms
  +1500ms    API Server ══► Store: put deployment web @10
  +1500ms  kubectl ──► API Server: delete deployments web → 403 Forbidden
  +1500ms    ${own} authentication 0ms
  +1500ms    ${own} priority and fairness 0ms
  +1500ms    ${own} authorization 0ms
  +1500ms    ${own} reading 0ms
  +1500ms    ${own} mutating admission 0ms → refused
  +1500ms  kubectl ──► API Server: update deployments web → 401 Unauthorized
  +1500ms    ${own} authentication 0ms → refused
`,
  )
})

test('a folded message expands: its similar messages are drawn separately, others stay folded', () => {
  const trees = flowTreesOf(recorded().events(), web)
  const folded = messagesOf(trees, { fold: true })
  const created = folded.filter(({ event }) => event.what === 'create pods')
  equal(created.map(({ count }) => count).join(), '2')
  const expanded = new Set(created.map(({ event }) => event.id))
  const texts = messagesOf(trees, { fold: true, expanded }).map(
    ({ event, count }) => `${event.what} ${event.object?.name} ${count}`,
  )
  equal(
    texts.filter((text) => text.startsWith('create pods')).join(', '),
    'create pods web-aaaaa 1, create pods web-bbbbb 1',
  )
})

test('messages that are repeated many times expand too', () => {
  const flow = new FlowRecorder(new VirtualClock())
  for (let at = 0; at < 6; at++)
    flow.record(
      'persist',
      'API Server',
      'Store',
      'put deployment',
      web,
      at + 1,
      causeOf(flow.record('call', `client-${at}`, 'API Server', 'update deployments', web)),
    )
  const trees = flowTreesOf(flow.events(), web)
  const writes = (expanded?: ReadonlySet<FlowId>) =>
    messagesOf(trees, { fold: true, expanded }).filter(({ event }) => event.arrow === 'persist')
  equal(
    writes()
      .map(({ count }) => count)
      .join(),
    '1,1,4',
  )
  equal(writes(new Set([writes()[2]?.event.id as FlowId])).length, 6)
})

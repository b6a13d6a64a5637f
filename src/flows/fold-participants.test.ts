import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf, FlowRecorder } from '../base/observability/flow-recorder.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { flowTreesOf } from './flow-graph.ts'
import { foldLateKubelets, foldParticipants } from './fold-participants.ts'
import { sequenceDiagram } from './sequence-diagram.ts'

const set = { resource: 'replicasets', namespace: 'default', name: 'web' }

/** A ReplicaSet creates a pod on each node, whose kubelet starts it; then the set is reconciled `looks` times. */
function recorded(nodes: number, reconciles = 0): FlowRecorder {
  const flow = new FlowRecorder(new VirtualClock())
  const from = 'controller/replica-set'
  let cause = causeOf(flow.record('reconcile', from, from, 'reconcile default/web', set))
  const run = cause
  for (let index = 0; index < nodes; index++) {
    const pod = { resource: 'pods', namespace: 'default', name: `web-${String(index).padStart(5, 'a')}` }
    const made = flow.record('call', from, 'API Server', 'create pods', pod, 0, run)
    const bound = flow.record('call', 'scheduler', 'API Server', `bind to node-${index}`, pod, 0, causeOf(made))
    flow.record('reconcile', `kubelet/node-${index}`, `kubelet/node-${index}`, 'sync pod', pod, 0, causeOf(bound))
    flow.record('call', `kubelet/node-${index}`, 'Runtime', 'run sandbox', pod, 0, causeOf(bound))
  }
  for (let reconcile = 0; reconcile < reconciles; reconcile++) {
    const updated = flow.record('call', from, 'API Server', 'update replicasets/status', set, 0, cause)
    cause = causeOf(flow.record('reconcile', from, from, 'reconcile default/web', set, 0, causeOf(updated)))
  }
  flow.record('call', from, 'API Server', 'update replicasets/status', set, 0, cause)
  return flow
}

const linesOf = (flow: FlowRecorder, columns?: number): string[] =>
  sequenceDiagram(flowTreesOf(flow.events(), set), { fold: true, columns }).trimEnd().split('\n')

test('three kubelets have their own lifelines; more share one, and their events are drawn once', () => {
  deepEqual(
    linesOf(recorded(3))
      .filter((line) => line.includes('kubelet/'))
      .map((line) => line.replace(/^.* /, '')),
    ['kubelet/node-0', 'kubelet/node-1', 'kubelet/node-2'],
  )
  deepEqual(linesOf(recorded(50)), [
    '           controller/replica-set',
    '           │    API Server',
    '           │    │    scheduler',
    '           │    │    │    50 kubelets',
    '           │    │    │    │    Runtime',
    '     +0ms  ►    │    │    │    │  reconcile default/web',
    '     +0ms  │───►│    │    │    │  create pods web-aaaa0  ×50',
    '     +0ms  │    │◄───│    │    │  bind to <node> web-aaaa0  ×50',
    '     +0ms  │    │    │    │───►│  run sandbox web-aaaa0  ×50',
    '     +0ms  │───►│    │    │    │  update replicasets/status web',
  ])
})

test('a repeated message is drawn three times, the last with a count', () => {
  const updates = linesOf(recorded(1, 20)).filter((line) => line.includes('update replicasets/status'))
  deepEqual(
    updates.map((line) => line.replace(/^.*update/, 'update')),
    ['update replicasets/status web', 'update replicasets/status web', 'update replicasets/status web  ×19'],
  )
})

test('in a narrow terminal lifelines are closer and texts truncated; a very narrow one gets a tree', () => {
  for (const columns of [120, 80, 60, 50, 40]) {
    const lines = linesOf(recorded(50), columns)
    deepEqual(
      lines.filter((line) => line.length > columns),
      [],
      `${columns} columns`,
    )
  }
  equal(linesOf(recorded(50), 56).includes('           │  │  │  50 kubelets'), true)
  const tree = linesOf(recorded(50), 30)
  equal(tree[0], '     +0ms  controller/replica…')
  equal(
    tree.some((line) => line.includes('│')),
    false,
    'a tree has no lifelines',
  )
})

test('a truncated text keeps its count', () => {
  const cutTo = linesOf(recorded(50), 52).filter((line) => line.includes('×50'))
  equal(cutTo.length, 3)
  equal(
    cutTo.some((line) => line.includes('…  ×50')),
    true,
  )
})

test('events about a node keep its name', () => {
  const flow = recorded(10)
  const node = { resource: 'nodes', namespace: '', name: 'node-7' }
  flow.record('call', 'kubectl', 'API Server', 'patch nodes node-7', node)
  const [root] = foldParticipants(flowTreesOf(flow.events(), node))
  equal(root?.event.what, 'patch nodes node-7')
})

test('in a live diagram kubelets after the third share a lifeline, and the text names the node', () => {
  const fold = foldLateKubelets()
  const events = [...recorded(5).events()].filter(({ what }) => what.endsWith('run sandbox')).map(fold)
  deepEqual(
    events.map(({ from, what }) => `${from}: ${what}`),
    [
      'kubelet/node-0: run sandbox',
      'kubelet/node-1: run sandbox',
      'kubelet/node-2: run sandbox',
      'other kubelets: [node-3] run sandbox',
      'other kubelets: [node-4] run sandbox',
    ],
  )
})

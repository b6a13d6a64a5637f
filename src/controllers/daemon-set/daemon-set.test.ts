// Tables for the plans of DaemonSets: nodes, taints, rolling updates with and without surge.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { controllerRevision } from '../../api/apps/v1/controller-revision.ts'
import { daemonSet, type DaemonSet } from '../../api/apps/v1/daemon-set.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Plan, PlanController, PlanView } from '../runtime/controller.ts'
import {
  aPod,
  firstObject,
  labels,
  made,
  nowMs,
  planOf,
  type PodDetails,
  shown,
  template,
  viewOf,
} from '../runtime/plan.harness.ts'
import { daemonSetController } from './daemon-set.ts'
import { isRelevantChange, targetNode } from './node-placement.ts'

const aSet = (spec: object = {}, image = '2') =>
  made(daemonSet, 'ds', {
    metadata: { annotations: { 'deprecated.daemonset.template.generation': image } },
    spec: { selector: { matchLabels: labels }, template: template(image, spec), ...spec },
  })
const planFrom = (view: PlanView): Plan => (daemonSetController as PlanController).plan(aSet(), view)
const withStrategy = (updateStrategy: object) => aSet({ updateStrategy })

const { metadata, data } = firstObject<{
  metadata: { name: string; labels: Record<string, string> }
  data: object
}>(planOf(daemonSetController, aSet()))
const revision = made(controllerRevision, metadata.name, { metadata, data, revision: 1 })
/** The revision that the first plan of the set creates. */
const revisionOf = (set: DaemonSet) => {
  const change = firstObject<{ metadata: { name: string } }>(planOf(daemonSetController, set))
  return made(controllerRevision, change.metadata.name, change)
}
const hash = metadata.labels['controller-revision-hash'] ?? ''

const aNode = (name: string, spec: object = {}, nodeLabels: object = {}) =>
  made(node, name, { metadata: { labels: nodeLabels }, spec })
const taint = (key: string, effect: string) => ({ taints: [{ key, effect }] })
const daemon = (
  nodeName: string,
  isNew: boolean,
  details: PodDetails & Record<string, unknown> = {},
  suffix = '',
): Pod =>
  aPod(`ds-${nodeName}${isNew ? '-new' : '-old'}${suffix}`, {
    nodeName,
    labels: { ...labels, 'controller-revision-hash': isNew ? hash : 'old' },
    ...details,
  })
const unready = { ready: false }
const surge = withStrategy({ rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } })
const surgeRevision = revisionOf(surge)
const three = [aNode('a'), aNode('b'), aNode('c')]

const plans: [why: string, set: DaemonSet, others: ApiObject[], changes: string[]][] = [
  ['runs on every node', aSet(), [revision, aNode('a'), aNode('b')], ['create pod ds-', 'create pod ds-']],
  ['with a pod on every node changes nothing', aSet(), [revision, aNode('a'), daemon('a', true)], []],
  [
    'deletes a duplicate pod',
    aSet(),
    [revision, aNode('a'), daemon('a', true), daemon('a', true, {}, '-x')],
    ['delete pod ds-a-new-x'],
  ],
  ['deletes pods of nodes that no longer exist', aSet(), [revision, daemon('z', true)], ['delete pod ds-z-new']],
  ['creates no pod on a node with a NoSchedule taint', aSet(), [revision, aNode('a', taint('k', 'NoSchedule'))], []],
  [
    'keeps its pod on a node with a new NoSchedule taint',
    aSet(),
    [revision, aNode('a', taint('k', 'NoSchedule')), daemon('a', true)],
    [],
  ],
  [
    'deletes its pod from a node with a NoExecute taint',
    aSet(),
    [revision, aNode('a', taint('k', 'NoExecute')), daemon('a', true)],
    ['delete pod ds-a-new'],
  ],
  [
    'runs on nodes that are not ready',
    aSet(),
    [revision, aNode('a', taint('node.kubernetes.io/not-ready', 'NoExecute'))],
    ['create pod ds-'],
  ],
  ['runs on cordoned nodes', aSet(), [revision, aNode('a', { unschedulable: true })], ['create pod ds-']],
  [
    'deletes a finished pod',
    aSet(),
    [revision, aNode('a'), daemon('a', true, { phase: 'Succeeded' })],
    ['delete pod ds-a-new'],
  ],
  [
    'deletes a failed pod',
    aSet(),
    [revision, aNode('a'), daemon('a', true, { phase: 'Failed' })],
    ['delete pod ds-a-new'],
  ],
  [
    'updates one at a time',
    aSet(),
    [revision, ...three, daemon('a', false), daemon('b', false), daemon('c', false)],
    ['delete pod ds-a-old'],
  ],
  [
    'waits until the new pod is ready',
    aSet(),
    [revision, ...three, daemon('a', true, unready), daemon('b', false), daemon('c', false)],
    [],
  ],
  [
    'replaces an unavailable pod at once',
    aSet(),
    [revision, ...three, daemon('a', true, unready), daemon('b', false, unready), daemon('c', false)],
    ['delete pod ds-b-old'],
  ],
  [
    'updates as many pods as may be unavailable',
    withStrategy({ rollingUpdate: { maxUnavailable: '50%' } }),
    [
      revisionOf(withStrategy({ rollingUpdate: { maxUnavailable: '50%' } })),
      ...three,
      daemon('a', false),
      daemon('b', false),
      daemon('c', false),
    ],
    ['delete pod ds-a-old', 'delete pod ds-b-old'],
  ],
  [
    'does not update with the strategy OnDelete',
    withStrategy({ type: 'OnDelete' }),
    [
      revisionOf(withStrategy({ type: 'OnDelete' })),
      ...three,
      daemon('a', false),
      daemon('b', false),
      daemon('c', false),
    ],
    [],
  ],
  [
    'creates a new pod before it deletes the old one when a surge is allowed',
    surge,
    [surgeRevision, ...three, daemon('a', false), daemon('b', false), daemon('c', false)],
    ['create pod ds-'],
  ],
]
for (const [why, set, others, changes] of plans)
  test(`a DaemonSet ${why}`, () => deepEqual(shown(planOf(daemonSetController, set, ...others).changes), changes))

test('the backoff for replacing a failing pod doubles, separately for each node', () => {
  const failed = [revision, aNode('a'), daemon('a', true, { phase: 'Failed' })]
  let atMs = nowMs
  let state = undefined as unknown
  const waits: number[] = []
  for (let failures = 0; failures < 13; failures++) {
    let plan: Plan
    for (const startedMs = atMs; ; atMs += plan.requeueAfterMs ?? 0) {
      plan = planFrom({ ...viewOf(failed, atMs), state })
      state = plan.nextState
      if (plan.changes.length === 0) continue
      deepEqual(plan.events, [
        {
          type: 'Warning',
          reason: 'FailedDaemonPod',
          message: 'Found failed daemon pod default/ds-a-new on node a, will try to kill it',
        },
      ])
      waits.push((atMs - startedMs) / 1000)
      break
    }
  }
  deepEqual(waits, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
  const elsewhere = [revision, aNode('b'), daemon('b', true, { phase: 'Failed' })]
  equal(planFrom({ ...viewOf(elsewhere, atMs), state }).changes.length, 1, 'the backoff of another node is separate')
  equal(planFrom({ ...viewOf(failed, atMs + 1_800_001), state }).changes.length, 1)
})

test('with a surge the old pod is deleted when the new one is available', () => {
  const fresh = (ready: boolean) =>
    daemon('a', true, {
      ready,
      labels: { ...labels, 'controller-revision-hash': surgeRevision.metadata.name.slice(3) },
    })
  const steps = (ready: boolean) =>
    shown(planOf(daemonSetController, surge, surgeRevision, aNode('a'), daemon('a', false), fresh(ready)).changes)
  deepEqual(steps(false), [])
  deepEqual(steps(true), ['delete pod ds-a-old'])
})

test('node affinity and selectors choose the nodes', () => {
  const zoned = aSet({ nodeSelector: { zone: 'x' } })
  const chosen = planOf(
    daemonSetController,
    zoned,
    revisionOf(zoned),
    aNode('a', {}, { zone: 'x' }),
    aNode('b'),
  ).changes
  deepEqual(
    chosen.map(({ object }) => targetNode(object as Pod)),
    ['a'],
  )
  const affinity = (operator: string, values: string[]) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'size', operator, values }] }],
        },
      },
    },
  })
  for (const [operator, values, count] of [
    ['Gt', ['3'], 1],
    ['Lt', ['3'], 0],
    ['NotIn', ['5'], 0],
    ['Exists', [], 1],
    ['DoesNotExist', [], 0],
  ] as [string, string[], number][]) {
    const set = aSet(affinity(operator, values))
    equal(
      planOf(daemonSetController, set, revisionOf(set), aNode('a', {}, { size: '5' })).changes.length,
      count,
      operator,
    )
  }
})

test('a daemon pod has the node affinity, tolerations and revision labels', () => {
  const {
    metadata: { labels: podLabels },
    spec,
  } = firstObject<Pod>(planOf(daemonSetController, aSet(), revision, aNode('a')))
  deepEqual(podLabels, { ...labels, 'controller-revision-hash': hash, 'pod-template-generation': '2' })
  deepEqual(spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms, [
    { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] },
  ])
  deepEqual(
    spec.tolerations?.map(({ key, effect }) => `${key?.split('/')[1]} ${effect}`),
    [
      'not-ready NoExecute',
      'unreachable NoExecute',
      'disk-pressure NoSchedule',
      'memory-pressure NoSchedule',
      'pid-pressure NoSchedule',
      'unschedulable NoSchedule',
    ],
  )
})

test('the status counts nodes; heartbeats of nodes are ignored', () => {
  const others = [
    revision,
    ...three,
    aNode('d', taint('k', 'NoSchedule')),
    daemon('a', true),
    daemon('b', false),
    daemon('d', true),
  ]
  deepEqual(planOf(daemonSetController, aSet(), ...others).status, {
    currentNumberScheduled: 2,
    numberMisscheduled: 1,
    desiredNumberScheduled: 3,
    numberReady: 2,
    observedGeneration: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 2,
    numberUnavailable: 1,
  })
  const before = aNode('a')
  equal(isRelevantChange({ ...before, status: { phase: 'x' } } as unknown as Node, before), false)
  equal(isRelevantChange(aNode('a', { unschedulable: true }), before), true)
})

test('the data of a revision has sorted keys, as clients compare its bytes', () => {
  const { template: revised } = (data as { spec: { template: Record<string, object> } }).spec
  const namesOf = (value: object) => Object.keys(value)
  deepEqual(namesOf(revised), ['$patch', 'metadata', 'spec'])
  deepEqual(namesOf(revised['spec'] ?? {}), namesOf(revised['spec'] ?? {}).toSorted())
})

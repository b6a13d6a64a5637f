import { deepEqual, match, doesNotMatch } from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../../../api/core/v1/event.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { nowMs } from '../state/state.harness.ts'
import { describeLines } from './describe.ts'

const at = (agoMs: number): string => new Date(nowMs - agoMs).toISOString()
const described = (object: object, events: readonly object[] = []): string[] =>
  describeLines(object as ApiObject, events as readonly Event[], nowMs)

test('a pod has metadata, containers, conditions, fields and events', () => {
  const lines = described(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web-0',
        namespace: 'shop',
        creationTimestamp: '2026-03-01T11:58:00Z',
        deletionTimestamp: '2026-03-01T11:59:00Z',
        finalizers: ['example.com/hold'],
        labels: { app: 'web', tier: 'front' },
        annotations: { note: 'x'.repeat(201) },
        ownerReferences: [{ kind: 'ReplicaSet', name: 'web', uid: '1', apiVersion: 'apps/v1' }],
      },
      spec: { nodeName: 'node-0', containers: [{ name: 'main', image: 'nginx' }] },
      status: {
        phase: 'Failed',
        podIP: '10.0.0.1',
        reason: 'Evicted',
        message: 'The node was low on memory.',
        conditions: [{ type: 'Ready', status: 'False', reason: 'PodFailed' }],
      },
    },
    [
      {
        metadata: { name: 'b' },
        type: 'Warning',
        reason: 'BackOff',
        message: 'again',
        lastTimestamp: at(10_000),
        count: 3,
        source: { component: 'kubelet' },
      },
      {
        metadata: { name: 'a' },
        type: 'Normal',
        reason: 'Scheduled',
        message: 'to node-0',
        eventTime: at(60_000),
        reportingComponent: 'scheduler',
      },
      { metadata: { name: 'c', creationTimestamp: at(5_000) } },
      { metadata: { name: 'd' }, reason: 'Series', series: { count: 4, lastObservedTime: at(1_000) } },
    ],
  )
  deepEqual(lines, [
    'Name:        web-0',
    'Namespace:   shop',
    'Kind:        Pod (v1)',
    'Created:     2026-03-01T11:58:00Z (2m ago)',
    'Deleting:    since 2026-03-01T11:59:00Z',
    'Labels:      app=web',
    '             tier=front',
    `Annotations: note: ${'x'.repeat(200)}…`,
    'Owner:       ReplicaSet/web',
    'Finalizer:   example.com/hold',
    'Node:        node-0',
    'Phase:       Failed',
    'IP:          10.0.0.1',
    'Reason:      Evicted',
    'Message:     The node was low on memory.',
    '',
    'Containers:',
    '  NAME  TYPE  READY  STATE    RESTARTS  IMAGE',
    '  main  main  0/1    Waiting  0         nginx',
    '',
    'Conditions:',
    '  TYPE   STATUS  REASON     MESSAGE',
    '  Ready  False   PodFailed',
    '',
    'Spec:',
    '  containers:',
    '  - image: nginx',
    '    name: main',
    '  nodeName: node-0',
    '',
    'Events:',
    '  TYPE     REASON     AGE       FROM       MESSAGE',
    '  Normal   Scheduled  60s       scheduler  to node-0',
    '  Warning  BackOff    10s (x3)  kubelet    again',
    '                      5s',
    '           Series     1s (x4)',
  ])
})

test('an object without a namespace has its status, and fields of one value are in one line', () => {
  const lines = described({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    provisioner: 'disk',
    parameters: {},
    mounts: null,
    metadata: { name: 'fast', creationTimestamp: '2026-03-01T11:00:00Z' },
    status: { phase: 'Active' },
  })
  deepEqual(lines.slice(1), [
    'Kind:        StorageClass (storage.k8s.io/v1)',
    'Created:     2026-03-01T11:00:00Z (60m ago)',
    '',
    'Status:',
    '  phase: Active',
    'Provisioner: "disk"',
    'Mounts:      null',
    '',
    'Events:      <none>',
  ])
})

test('the values of a Secret are not shown', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { name: 'login' } }
  const data = { password: btoa('swordfish') }
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ data }) }
  const metadata = { name: 'login', annotations }
  const text = described({ ...secret, metadata, data }).join('\n')
  match(text, /^Data: +password: 9 bytes$/m)
  doesNotMatch(text, new RegExp(btoa('swordfish')))
  match(described(secret).join('\n'), /Type: +"Opaque"/)
})

// Tables for the kinds: defaults, validation, update rules and columns as users see them.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from '../schema/decoding/decode.ts'
import { withDefaults } from '../schema/decoding/defaults.ts'
import { fieldErrorText } from '../schema/validation/field-error.ts'
import { validateFields } from '../schema/validation/validate.ts'
import { deployment, type Deployment } from './apps/v1/deployment.ts'
import { replicaSet } from './apps/v1/replica-set.ts'
import { scale } from './autoscaling/v1/scale.ts'
import { lease } from './coordination/v1/lease.ts'
import { bindingMessage } from './core/v1/binding.ts'
import { configMap } from './core/v1/config-map.ts'
import { event } from './core/v1/event.ts'
import { namespace } from './core/v1/namespace.ts'
import { isNodeReady, node } from './core/v1/node/node.ts'
import { isPodAvailable, isPodFinished, isPodReady, podRestarts } from './core/v1/pod/pod-readiness.ts'
import { isBound, pod, type Pod } from './core/v1/pod/pod.ts'
import { qosClassOf } from './core/v1/pod-spec/qos.ts'
import { podRequests } from './core/v1/pod/pod-requests.ts'
import { tolerates, untoleratedTaint } from './core/v1/node/tolerations.ts'
import { groupVersions, kinds } from './kinds.ts'
import { deleteOptions } from './meta/v1/delete-options.ts'
import type { Kind } from './kind/kind.ts'
import type { ApiObject } from './meta/object.ts'
import { type Int64 } from '../schema/scalar/int64.ts'

const nowMs = Date.UTC(2030, 0, 1, 0, 1)
const meta = {
  name: 'x',
  namespace: 'default',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2030-01-01T00:00:00Z',
}

/** The object as it is in the API server before validation. */
function made<T extends ApiObject>(kind: Kind<T>, body: object): T {
  const { value } = decode(kind.message, { metadata: meta, ...body })
  return kind.applyDefaults(
    withDefaults(kind.message, { ...value, apiVersion: kind.apiVersion, kind: kind.kind } as unknown as T),
  )
}

const errorsOf = <T extends ApiObject>(kind: Kind<T>, body: object): string[] => {
  const object = made(kind, body)
  return [...validateFields(kind.message, object), ...kind.validate(object)].map(fieldErrorText)
}

const cells = <T extends ApiObject>(kind: Kind<T>, object: T): (string | Int64 | boolean | null)[] =>
  kind.columns.filter(({ priority }) => priority === 0).map((column) => column.cell(object, nowMs))

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'busybox' }] } }
const spec = { selector: { matchLabels: { a: 'b' } }, template }

test('every kind is served in a listed group and version, once', () => {
  equal(new Set(kinds.map(({ apiVersion, plural }) => `${apiVersion}/${plural}`)).size, kinds.length)
  for (const { group, version } of kinds)
    equal(
      groupVersions.some((entry) => entry.group === group && entry.version === version),
      true,
    )
})

test('a minimal Deployment gets the defaults that upstream gives it', () => {
  deepEqual(made(deployment, { spec }).spec, {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'busybox',
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
            imagePullPolicy: 'Always',
          },
        ],
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        securityContext: {},
        schedulerName: 'default-scheduler',
      },
    },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  })
  equal(made(deployment, { spec: { ...spec, strategy: { type: 'Recreate' } } }).spec.strategy.rollingUpdate, undefined)
})

// Upstream v1.36's responses to the same errors.
const invalidCases: [why: string, spec: object, errors: (string | RegExp)[]][] = [
  ['valid', spec, []],
  [
    'negative replicas',
    { ...spec, replicas: -1 },
    ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'another label',
    { ...spec, selector: { matchLabels: { x: 'y' } } },
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  [
    'no containers',
    { ...spec, template: { ...template, spec: { containers: [] } } },
    ['spec.template.spec.containers: Required value'],
  ],
  [
    'an empty selector',
    { ...spec, selector: {} },
    ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  ],
  [
    'no spec',
    {},
    [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
      'spec.template.spec.containers: Required value',
    ],
  ],
  [
    'a container without name and image',
    { ...spec, template: { ...template, spec: { containers: [{}] } } },
    ['spec.template.spec.containers[0].name: Required value', 'spec.template.spec.containers[0].image: Required value'],
  ],
  [
    'a duplicate container name',
    {
      ...spec,
      template: {
        ...template,
        spec: {
          containers: [
            { name: 'c', image: 'i' },
            { name: 'c', image: 'i' },
          ],
        },
      },
    },
    ['spec.template.spec.containers[1].name: Duplicate value: "c"'],
  ],
  [
    'a bad container name',
    { ...spec, template: { ...template, spec: { containers: [{ name: 'Bad Value!', image: 'i' }] } } },
    [/^spec\.template\.spec\.containers\[0\]\.name: Invalid value: "Bad Value!": a lowercase RFC 1123 label must/],
  ],
  [
    'a deadline of zero',
    { ...spec, progressDeadlineSeconds: 0 },
    ['spec.progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds'],
  ],
  [
    'a surge that is not a percentage',
    { ...spec, strategy: { rollingUpdate: { maxSurge: 'x' } } },
    [/^spec\.strategy\.rollingUpdate\.maxSurge: Invalid value: "x": a valid percent string must be/],
  ],
  [
    'maxSurge and maxUnavailable are both 0',
    { ...spec, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
  ],
  [
    'an operator without values',
    { ...spec, selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    [
      /^spec\.selector\.matchExpressions\[0\]\.values: Required value: must be specified when `operator` is 'In' or 'NotIn'/,
      /^spec\.selector: Invalid value: .*: invalid label selector$/,
    ],
  ],
  [
    'Recreate with rolling update parameters',
    { ...spec, strategy: { type: 'Recreate', rollingUpdate: {} } },
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    'restartPolicy Never',
    { ...spec, template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ],
]
for (const [why, body, expected] of invalidCases)
  test(`a Deployment with ${why}`, () => {
    const errors = errorsOf(deployment, { spec: body })
    equal(errors.length, expected.length, errors.join('\n'))
    for (const [index, wanted] of expected.entries())
      if (wanted instanceof RegExp) match(errors[index] ?? '', wanted)
      else equal(errors[index], wanted)
  })

test('the selector of a Deployment or ReplicaSet is immutable', () => {
  for (const kind of [deployment, replicaSet] as Kind<Deployment>[]) {
    const old = made(kind, { spec })
    const changed = { ...old, spec: { ...old.spec, selector: { matchLabels: { x: 'y' } } } }
    deepEqual(kind.validateUpdate(old, old), [])
    deepEqual(kind.validateUpdate(changed, old).map(fieldErrorText), [
      'spec.selector: Invalid value: {"matchLabels":{"x":"y"}}: field is immutable',
    ])
    equal(kind.scale?.withReplicas(old, 4).spec.replicas, 4)
    deepEqual([kind.scale?.replicas(old), kind.scale?.statusReplicas(old), kind.scale?.selector(old)], [1, 0, 'a=b'])
  }
})

test('ConfigMaps: keys, size and immutability', () => {
  deepEqual(errorsOf(configMap, { data: { 'a.b-C_d': 'x' } }), [])
  match(
    errorsOf(configMap, { data: { 'a b': 'x' } })[0] ?? '',
    /^data\[a b\]: Invalid value: "a b": a valid config key must/,
  )
  match(
    errorsOf(configMap, { data: { a: 'x' }, binaryData: { a: 'eA==' } })[0] ?? '',
    /duplicate of key present in binaryData/,
  )
  equal(errorsOf(configMap, { data: { a: 'x'.repeat(1_100_000) } }).length, 1)
  const old = made(configMap, { immutable: true, data: { a: '1' } })
  deepEqual(
    configMap.validateUpdate(made(configMap, { data: { a: '2' } }), old).map(({ field }) => field),
    ['immutable', 'data'],
  )
})

test('other kinds: defaults and validation', () => {
  match(errorsOf(lease, { spec: { leaseDurationSeconds: 0 } })[0] ?? '', /must be greater than 0/)
  match(errorsOf(lease, { spec: { leaseTransitions: -1 } })[0] ?? '', /must be greater than or equal to 0/)
  deepEqual(errorsOf(event, { involvedObject: { namespace: 'other' } }), [
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ])
  deepEqual(made(namespace, { metadata: { ...meta, name: 'n' } }).metadata.labels, {
    'kubernetes.io/metadata.name': 'n',
  })
  const known = made(node, { spec: { podCIDR: '10.0.0.0/24' } })
  match(
    node
      .validateUpdate({ ...known, spec: { podCIDR: '10.1.0.0/24' } }, known)
      .map(fieldErrorText)
      .join(),
    /node updates may not change podCIDR/,
  )
})

const running = (ready: boolean): Pod =>
  made(pod, {
    spec: { containers: [{ name: 'c', image: 'i:1' }], nodeName: 'n' },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2030-01-01T00:00:30Z' }],
      containerStatuses: [{ name: 'c', ready, restartCount: 2, image: 'i', imageID: '', state: { running: {} } }],
    },
  })

test('pods: readiness, availability', () => {
  const good = running(true)
  deepEqual(
    [
      isPodReady(good),
      isPodAvailable(good, 30, nowMs),
      isPodAvailable(good, 31, nowMs),
      isPodFinished(good),
      isBound(good),
    ],
    [true, true, false, false, true],
  )
  equal(podRestarts(good), 2)
})

test('pods: limits are requests, QoS follows from both, images without a tag are always pulled', () => {
  const withResources = (resources: object) =>
    made(pod, { spec: { containers: [{ name: 'c', image: 'i:1', resources }] } }).spec
  deepEqual(withResources({ limits: { cpu: '1' } }).containers[0]?.resources.requests, { cpu: '1' })
  equal(qosClassOf(withResources({})), 'BestEffort')
  equal(qosClassOf(withResources({ requests: { cpu: '1' } })), 'Burstable')
  equal(qosClassOf(withResources({ limits: { cpu: '1', memory: '1Gi' } })), 'Guaranteed')
  const policies = ['i', 'i:latest', 'i:1', 'host:5000/i', 'i@sha256:0'].map(
    (image) => made(pod, { spec: { containers: [{ name: 'c', image }] } }).spec.containers[0]?.imagePullPolicy,
  )
  deepEqual(policies, ['Always', 'Always', 'IfNotPresent', 'Always', 'IfNotPresent'])
  const onHost = made(pod, {
    spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] },
  })
  deepEqual(onHost.spec.containers[0]?.ports, [{ containerPort: 80, protocol: 'TCP', hostPort: 80 }])
})

test('pods: init containers count by their peak, sidecars throughout', () => {
  const of = (cpu: string, restartPolicy?: string) => ({
    name: 'x',
    image: 'i',
    resources: { requests: { cpu } },
    ...(restartPolicy ? { restartPolicy } : {}),
  })
  const cpu = (podSpec: object) => podRequests(made(pod, { spec: podSpec })).get('cpu') ?? 0
  equal(cpu({ containers: [of('1'), of('2')] }), 3000)
  equal(cpu({ containers: [of('1')], initContainers: [of('5')] }), 5000)
  equal(cpu({ containers: [of('1')], initContainers: [of('1', 'Always'), of('2')] }), 3000)
  equal(cpu({ containers: [of('1')], overhead: { cpu: '250m' } }), 1250)
})

test('pods: an update may change images and few other fields', () => {
  const old = running(true)
  const changed = {
    ...old,
    spec: { ...old.spec, containers: old.spec.containers.map((container) => ({ ...container, image: 'other' })) },
  }
  deepEqual(pod.validateUpdate(changed, old), [])
  match(
    pod
      .validateUpdate({ ...old, spec: { ...old.spec, nodeName: 'other' } }, old)
      .map(fieldErrorText)
      .join(),
    /^spec: Forbidden: pod updates may not change fields other than/,
  )
})

test('tolerations', () => {
  const taint = { key: 'k', value: 'v', effect: 'NoSchedule' } as const
  const table: [object[], boolean][] = [
    [[], false],
    [[{ operator: 'Exists' }], true],
    [[{ key: 'k', operator: 'Exists' }], true],
    [[{ key: 'k', value: 'v' }], true],
    [[{ key: 'k', value: 'w' }], false],
    [[{ key: 'k', value: 'v', effect: 'NoExecute' }], false],
    [[{ key: 'other', operator: 'Exists' }], false],
  ]
  for (const [tolerations, result] of table)
    equal(tolerates(tolerations as never, taint), result, JSON.stringify(tolerations))
  equal(untoleratedTaint([taint], [], ['NoExecute']), undefined)
  equal(untoleratedTaint([taint], [], ['NoSchedule']), taint)
})

test('columns: the cells of each kind', () => {
  const readyNode = made(node, {
    metadata: { ...meta, labels: { 'node-role.kubernetes.io/worker': '' } },
    spec: { unschedulable: true },
    status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1' } },
  })
  equal(isNodeReady(readyNode), true)
  deepEqual(cells(node, readyNode), ['x', 'Ready,SchedulingDisabled', 'worker', '60s', 'v1'])
  deepEqual(
    cells(
      deployment,
      made(deployment, {
        spec: { ...spec, replicas: 3 },
        status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 },
      }),
    ),
    ['x', '2/3', 3, 1, '60s'],
  )
  deepEqual(cells(replicaSet, made(replicaSet, { spec, status: { replicas: 1 } })), ['x', 1, 1, 0, '60s'])
  deepEqual(cells(configMap, made(configMap, { data: { a: '1' }, binaryData: { b: 'eA==' } })), ['x', 2, '60s'])
  deepEqual(cells(lease, made(lease, { spec: { holderIdentity: 'me' } })), ['x', 'me', '60s'])
  deepEqual(cells(namespace, made(namespace, {})), ['x', 'Active', '60s'])
  deepEqual(
    cells(
      event,
      made(event, {
        type: 'Normal',
        reason: 'R',
        message: ' m\n',
        involvedObject: { kind: 'Pod', name: 'p' },
        lastTimestamp: '2030-01-01T00:00:50Z',
      }),
    ),
    ['10s', 'Normal', 'R', 'pod/p', 'm'],
  )
})

test('bodies that are not kinds', () => {
  deepEqual(decode(bindingMessage, { target: { kind: 'Node', name: 'n', uid: '' } }).value, {
    target: { kind: 'Node', name: 'n' },
  })
  deepEqual(decode(scale, { spec: { replicas: 0 } }).value, { spec: {} })
  deepEqual(decode(deleteOptions, { gracePeriodSeconds: 0, preconditions: { uid: 'u' }, wat: 1 }), {
    value: { gracePeriodSeconds: 0, preconditions: { uid: 'u' } },
    unknownFields: ['wat'],
  })
})

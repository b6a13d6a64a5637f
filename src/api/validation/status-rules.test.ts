// What an update of the status must not do, by kind.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText } from '../../schema/validation/field-error.ts'
import { daemonSet } from '../apps/v1/daemon-set.ts'
import { deployment } from '../apps/v1/deployment.ts'
import { replicaSet } from '../apps/v1/replica-set.ts'
import { statefulSet } from '../apps/v1/stateful-set.ts'
import { horizontalPodAutoscaler } from '../autoscaling/v2/horizontal-pod-autoscaler.ts'
import { job } from '../batch/v1/job.ts'
import { certificateSigningRequest } from '../certificates/v1/certificate-signing-request.ts'
import { namespace } from '../core/v1/namespace.ts'
import { node } from '../core/v1/node/node.ts'
import { pod } from '../core/v1/pod/pod.ts'
import { replicationController } from '../core/v1/workload/replication-controller.ts'
import { service } from '../core/v1/service/service.ts'
import type { Kind } from '../kind/kind.ts'
import { objectFrom } from '../kind/kind.harness.ts'
import { ingress } from '../networking/v1/ingress.ts'
import { podDisruptionBudget } from '../policy/v1/pod-disruption-budget.ts'

type Case = readonly [why: string, kind: Kind, now: object, errors: readonly string[], before?: object]

const ended = (exitCode: number) => ({
  containerStatuses: [{ name: 'c', state: { terminated: { exitCode } } }],
})
const running = { containerStatuses: [{ name: 'c', state: { running: {} } }] }
const time = '2030-01-01T00:00:00Z'
const is = (...types: string[]) => ({ conditions: types.map((type) => ({ type, status: 'True' })) })
const unset = (name: string) => `status.${name}: Invalid value: -1: must be greater than or equal to 0`

const cases: readonly Case[] = [
  [
    'the counts of a Deployment do not exceed its replicas',
    deployment,
    { status: { replicas: 1, updatedReplicas: 2, readyReplicas: 0, availableReplicas: 1 } },
    [
      'status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas',
    ],
  ],
  [
    'the collision count of a Deployment does not decrease',
    deployment,
    { status: { collisionCount: 1 } },
    ['status.collisionCount: Invalid value: 1: cannot be decremented'],
    { status: { collisionCount: 2 } },
  ],
  ['a ReplicaSet counts from zero', replicaSet, { status: { availableReplicas: -1 } }, [unset('availableReplicas')]],
  [
    'the counts of a ReplicationController do not exceed its replicas',
    replicationController,
    { status: { replicas: 0, fullyLabeledReplicas: 1 } },
    ['status.fullyLabeledReplicas: Invalid value: 1: cannot be greater than status.replicas'],
  ],
  [
    'the counts of a StatefulSet do not exceed its replicas',
    statefulSet,
    { status: { replicas: 1, currentReplicas: 2 } },
    ['status.currentReplicas: Invalid value: 2: cannot be greater than status.replicas'],
  ],
  ['a DaemonSet counts from zero', daemonSet, { status: { numberMisscheduled: -1 } }, [unset('numberMisscheduled')]],
  [
    'an autoscaler counts from zero',
    horizontalPodAutoscaler,
    { status: { desiredReplicas: -1 } },
    [unset('desiredReplicas')],
  ],
  [
    'conditions of a budget are complete',
    podDisruptionBudget,
    { status: { conditions: [{ type: 'A', status: 'x', reason: '1' }], disruptionsAllowed: -1 } },
    [
      'status.conditions[0].status: Unsupported value: "x": supported values: "False", "True", "Unknown"',
      'status.conditions[0].lastTransitionTime: Required value: must be set',
      `status.conditions[0].reason: Invalid value: "1": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')`,
      unset('disruptionsAllowed'),
    ],
  ],
  [
    'a complete Job has its times and its reason',
    job,
    { status: is('Complete') },
    [
      'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      'status.completionTime: Required value: completionTime is required for Complete jobs',
      'status.startTime: Required value: startTime is required for finished job',
    ],
  ],
  [
    'a failed Job stays failed, and its counts do not decrease',
    job,
    { status: { startTime: time, failed: 1, ready: 1 } },
    [
      'status.ready: Invalid value: 1: cannot set more ready pods than active',
      'status.conditions: Invalid value: cannot disable the terminal Failed=True condition',
      'status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition',
      'status.failed: Invalid value: 1: cannot decrease the failed counter',
    ],
    { status: { startTime: time, failed: 2, ...is('FailureTarget', 'Failed') } },
  ],
  [
    'completed indexes need an Indexed Job',
    job,
    { spec: { completions: 3 }, status: { completedIndexes: '1', failedIndexes: '0-2' } },
    [
      'status.completedIndexes: Invalid value: "1": cannot set non-empty completedIndexes when non-indexed completion mode',
      'status.failedIndexes: Invalid value: "0-2": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
      'status.failedIndexes: Invalid value: "0-2": failedIndexes and completedIndexes overlap at index: 1',
    ],
  ],
  [
    'a terminated container does not run again',
    pod,
    { spec: { containers: [{ name: 'c' }], restartPolicy: 'Never' }, status: running },
    ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'],
    { status: ended(1) },
  ],
  [
    'a terminated container may run again after RestartAllContainers',
    pod,
    {
      spec: {
        containers: [{ name: 'c' }],
        initContainers: [{ name: 'i', restartPolicyRules: [{ action: 'RestartAllContainers' }] }],
        restartPolicy: 'Never',
      },
      status: running,
    },
    [],
    { status: ended(0) },
  ],
  [
    'a failed container may run again with restartPolicy OnFailure',
    pod,
    { spec: { containers: [{ name: 'c' }], restartPolicy: 'OnFailure' }, status: running },
    [],
    { status: ended(1) },
  ],
  [
    'a pod has one address of each family',
    pod,
    { spec: { containers: [] }, status: { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] } },
    [
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
    ],
  ],
  [
    'the phase Terminating needs a deletion timestamp',
    namespace,
    { status: { phase: 'Terminating' } },
    ['status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty'],
  ],
  [
    'addresses of a node are unique, and its provider is immutable',
    node,
    {
      spec: { providerID: 'b' },
      status: {
        addresses: [
          { type: 'Hostname', address: 'n' },
          { type: 'Hostname', address: 'n' },
        ],
      },
    },
    [
      'status.addresses[1]: Duplicate value: {"Type":"Hostname","Address":"n"}',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ],
    { spec: { providerID: 'a' } },
  ],
  [
    'only a LoadBalancer Service has a load balancer status',
    service,
    { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } },
    ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"],
  ],
  [
    'the load balancer of an Ingress has addresses and host names',
    ingress,
    { status: { loadBalancer: { ingress: [{ ip: 'x' }, { hostname: '1.2.3.4' }] } } },
    [
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    ],
  ],
  [
    'the status cannot approve or deny a certificate',
    certificateSigningRequest,
    { status: { ...is('Approved'), certificate: 'Yg==' } },
    [
      'status.conditions: Forbidden: updates may not remove a condition of type "Failed"',
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ],
    { status: { ...is('Failed'), certificate: 'YQ==' } },
  ],
]

for (const [why, kind, now, errors, before = {}] of cases)
  test(`status: ${why}`, () => {
    const found = kind.validateStatusUpdate?.(objectFrom(kind, now), objectFrom(kind, before)) ?? []
    deepEqual(found.map(fieldErrorText), errors)
  })

test('a node: its taints, amounts and ranges', () => {
  const taint = { key: 'a', value: 'b', effect: 'NoSchedule' }
  const errors = node.validate(
    objectFrom(node, {
      spec: { taints: [taint, taint, { key: 'a' }, { key: '', effect: 'x' }], podCIDRs: ['x'] },
      status: { capacity: { cpu: '-1' } },
    }),
  )
  deepEqual(
    errors.map(fieldErrorText).map((text) => text.slice(0, 110)),
    [
      'spec.taints[1]: Duplicate value: {"Key":"a","Value":"b","Effect":"NoSchedule","TimeAdded":null}: taints must b',
      'spec.taints[2].effect: Required value',
      'spec.taints[3].key: Invalid value: "": name part must be non-empty',
      "spec.taints[3].key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and",
      'spec.taints[3].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  )
})

test('a node keeps the ranges that it has, and gets no others of these forms', () => {
  const stored = objectFrom(node, { spec: { podCIDR: '10.0.0.0/024', podCIDRs: ['10.0.0.0/024'] } })
  deepEqual(node.validate(stored).map(fieldErrorText), [
    'spec.podCIDRs[0]: Invalid value: "10.0.0.0/024": must not have leading 0s in IP or prefix length',
  ])
  deepEqual(node.validate(stored, stored), [])
})

const oldRanges = { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24', 'fd00::/64'] }
const rangesFixed = 'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'
const rangeUpdates: [why: string, now: object, before: object, errors: string[]][] = [
  ['are set once', oldRanges, {}, []],
  ['remain', oldRanges, oldRanges, []],
  ['a further range', { podCIDRs: [...oldRanges.podCIDRs, '10.1.0.0/24'] }, oldRanges, [rangesFixed]],
  ['without podCIDR', { podCIDRs: ['10.0.0.0/24', '::/0'] }, oldRanges, [rangesFixed]],
  ['another podCIDR', { ...oldRanges, podCIDR: '0.0.0.0/0' }, oldRanges, [rangesFixed]],
  ['are removed', {}, oldRanges, [rangesFixed]],
  ['of podCIDRs only', { podCIDRs: ['10.1.0.0/24'] }, { podCIDRs: ['10.0.0.0/24'] }, [rangesFixed]],
]
for (const [why, now, before, errors] of rangeUpdates)
  test(`the ranges of a node: ${why}`, () => {
    const [changed, old] = [now, before].map((spec) => objectFrom(node, { spec }))
    if (changed === undefined || old === undefined) throw new Error('there are two nodes')
    deepEqual(node.validateUpdate(changed, old).map(fieldErrorText), errors)
  })

test('the range of a node without podCIDRs is checked', () => {
  const errors = node.validate(objectFrom(node, { spec: { podCIDR: 'x' } }))
  deepEqual(
    errors.map(({ field }) => field),
    ['spec.podCIDRs[0]'],
  )
})

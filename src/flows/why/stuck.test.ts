// Every kind × the ways in which an object of it can be stuck: the explanation names the cause, and never states that
// there is no problem where no component is responsible for the kind.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { qualifiedResource, type Kind } from '../../api/kind/kind.ts'
import { kinds } from '../../api/kinds.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { responsibilityFor } from './responsible-component.ts'
import type { ClusterReader } from './explainer.ts'
import { why } from './why.ts'

const since = '2026-01-01T00:00:00Z'

const kindOf = (resource: string): Kind => {
  const found = kinds.find((kind) => qualifiedResource(kind) === resource)
  ok(found, resource)
  return found
}

/** An object with the defaults that explainers read. */
function specimen(kind: Kind, { metadata = {}, spec = {}, ...rest }: Specimen = {}): ApiObject {
  const scaleTargetRef = { kind: 'Deployment', name: 'd' }
  const common = { replicas: 1, type: 'ClusterIP', schedule: '* * * * *', containers: [], maxReplicas: 3 }
  const object = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name: 'x', uid: 'u', ...(kind.namespaced ? { namespace: 'default' } : {}), ...metadata },
    spec: { ...common, scaleTargetRef, ...spec },
    ...rest,
  } as unknown as ApiObject
  return { status: kind.initialStatus?.(object) ?? {}, ...object } as ApiObject
}

interface Specimen {
  readonly metadata?: object
  readonly spec?: object
  readonly status?: object
}

const alone = (isCoxswain = true): ClusterReader => ({
  list: () => Promise.resolve([]),
  find: () => Promise.resolve(undefined),
  nowMs: 0,
  isCoxswain,
})

const explain = async (kind: Kind, object: ApiObject, isCoxswain = true): Promise<string> => {
  const { waits, summary } = await why(kind, object, alone(isCoxswain), [])
  equal(waits.length === 0, summary !== '')
  return [...waits, summary].join(' ').trim()
}

/** Kinds whose objects can be read by name. */
const stored = kinds.filter(
  ({ computed, storedAs, plural }) => !computed && !storedAs && !/reviews?$|^bindings$/.test(plural),
)

for (const kind of stored) {
  const resource = qualifiedResource(kind)
  test(`${resource}: the responsible component is known`, () => {
    ok(responsibilityFor(kind, specimen(kind)) !== undefined, `${resource} is missing in responsible-component.ts`)
  })

  test(`${resource}: a finalizer of another controller`, async () => {
    const metadata = { deletionTimestamp: since, finalizers: ['example.com/hold'] }
    match(
      await explain(kind, specimen(kind, { metadata })),
      /It is being deleted since 2026-01-01T00:00:00Z and waits for its finalizer: no component of Coxswain removes example\.com\/hold: the controller that added it must do so\. If that controller no longer runs, remove/,
    )
  })

  test(`${resource}: foreground deletion`, async () => {
    const metadata = { deletionTimestamp: since, finalizers: ['foregroundDeletion'] }
    match(
      await explain(kind, specimen(kind, { metadata })),
      /the garbage collector removes foregroundDeletion when the objects/,
    )
  })

  test(`${resource}: the explanation claims no more than was checked`, async () => {
    const expected = await explain(kind, specimen(kind))
    const acting = responsibilityFor(kind, specimen(kind))
    if (acting?.kind === 'unserved') {
      ok(expected.includes(acting.sentence), expected)
      ok(!(await explain(kind, specimen(kind), false)).includes('Coxswain'), 'not where another Kubernetes runs')
    }
    if (acting?.kind === 'data') match(expected, /^It is stored\. |^Its condition /)
    equal(/undefined|NaN|: \.|holds it up/.test(expected), false, expected)
    if (expected.startsWith('No problem found'))
      match(expected, /^No problem found\. Checked: .+, warning events, failed requests\.$/)
  })
}

const condition = (type: string, status: string, reason = '', message = '') => ({ type, status, reason, message })
const waiting = { waiting: { reason: 'ErrImagePull', message: 'no such image' } }
const container = (state: object, more: object = {}) => ({
  name: 'c',
  image: 'i',
  ready: false,
  restartCount: 0,
  state,
  ...more,
})
const onNode = { nodeName: 'n' }
const running = { running: { startedAt: since } }

const situations: [resource: string, situation: string, object: Specimen, expected: RegExp][] = [
  [
    'pods',
    'no scheduler has processed it',
    { spec: { schedulerName: 's' } },
    /not scheduled yet: the scheduler s has not processed it/,
  ],
  [
    'pods',
    'no node fits',
    {
      spec: {},
      status: { conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/1 nodes are available.')] },
    },
    /^It cannot be scheduled: Unschedulable: 0\/1 nodes are available\.$/,
  ],
  ['pods', 'a gate', { spec: { schedulingGates: [{ name: 'g' }] } }, /until its scheduling gates are removed .*: g\./],
  ['pods', 'its node does not exist', { spec: onNode }, /Its node n no longer exists/],
  [
    'pods',
    'a missing image',
    { spec: onNode, status: { containerStatuses: [container(waiting)] } },
    /c \(i\) is waiting: ErrImagePull: no such image\./,
  ],
  [
    'pods',
    'a container that is not ready',
    { spec: onNode, status: { containerStatuses: [container(running)] } },
    /its readiness probe has not succeeded/,
  ],
  [
    'pods',
    'a container whose startup probe fails',
    { spec: onNode, status: { containerStatuses: [container(running, { started: false })] } },
    /its startup probe has not succeeded/,
  ],
  [
    'pods',
    'a readiness gate',
    {
      spec: { ...onNode, readinessGates: [{ conditionType: 'g' }] },
      status: { containerStatuses: [container(running, { ready: true })] },
    },
    /Its readiness gate g is not True/,
  ],
  [
    'pods',
    'failed for a reason',
    { spec: onNode, status: { phase: 'Failed', reason: 'Evicted', message: 'low on memory.' } },
    /^It has failed: Evicted: low on memory\.$/,
  ],
  [
    'pods',
    'failed by its container',
    {
      spec: onNode,
      status: { phase: 'Failed', containerStatuses: [container({ terminated: { exitCode: 3, reason: 'Error' } })] },
    },
    /^It has failed: Container c exited with code 3 \(Error\)\.$/,
  ],
  [
    'pods',
    'failed by its init container',
    { spec: onNode, status: { phase: 'Failed', initContainerStatuses: [container({ terminated: { exitCode: 2 } })] } },
    /^It has failed: Container c exited with code 2 \(no reason\)\.$/,
  ],
  [
    'pods',
    'failed without a reason',
    { spec: onNode, status: { phase: 'Failed', containerStatuses: [container({ waiting: {} })] } },
    /^It has failed: its status gives no reason\.$/,
  ],
  [
    'pods',
    'deleted and never scheduled',
    { metadata: { deletionTimestamp: since }, spec: {} },
    /being deleted and was never scheduled/,
  ],
  [
    'pods',
    'deleted, its containers are terminating',
    { metadata: { deletionTimestamp: since }, spec: onNode },
    /the kubelet of n stops its containers by 2026/,
  ],
  [
    'pods',
    'deleted, not counted by its Job',
    { metadata: { deletionTimestamp: since, finalizers: ['batch.kubernetes.io/job-tracking'] }, spec: onNode },
    /the job controller removes batch\.kubernetes\.io\/job-tracking when it has counted the pod/,
  ],
  [
    'deployments.apps',
    'not observed',
    { metadata: { generation: 2 }, status: { observedGeneration: 1 } },
    /has not processed the last change yet \(generation 2, observed 1\)/,
  ],
  [
    'deployments.apps',
    'its deadline passed',
    { status: { conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')] } },
    /rollout is not progressing: ProgressDeadlineExceeded\./,
  ],
  [
    'replicasets.apps',
    'its pods are rejected',
    { status: { replicas: 0, conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 'quota')] } },
    /cannot be created: FailedCreate: quota\./,
  ],
  ['daemonsets.apps', 'no node matches', {}, /No node matches its node selector/],
  [
    'jobs.batch',
    'failed',
    { spec: {}, status: { conditions: [condition('Failed', 'True', 'DeadlineExceeded')] } },
    /It has failed: DeadlineExceeded\./,
  ],
  [
    'jobs.batch',
    'failed without a reason',
    { spec: {}, status: { conditions: [condition('Failed', 'True')] } },
    /It has failed: no reason is given\./,
  ],
  ['jobs.batch', 'suspended', { spec: { suspend: true } }, /It is suspended: no pod is started until/],
  [
    'cronjobs.batch',
    'suspended',
    { spec: { suspend: true, schedule: '* * * * *' } },
    /It is suspended: no Job is started until/,
  ],
  [
    'nodes',
    'not ready',
    { spec: {}, status: { conditions: [condition('Ready', 'False', 'KubeletNotReady', 'no network')] } },
    /It is not ready: KubeletNotReady: no network/,
  ],
  [
    'nodes',
    'under pressure',
    {
      spec: {},
      status: { conditions: [condition('Ready', 'True'), condition('DiskPressure', 'True', 'KubeletHasDiskPressure')] },
    },
    /DiskPressure: KubeletHasDiskPressure/,
  ],
  [
    'namespaces',
    'its content remains',
    {
      metadata: { deletionTimestamp: since },
      spec: { finalizers: ['kubernetes'] },
      status: {
        conditions: [
          condition('NamespaceContentRemaining', 'True', 'SomeResourcesRemain', 'pods. has 1 resource instances'),
        ],
      },
    },
    /the namespace controller removes kubernetes when .*SomeResourcesRemain: pods\. has 1/,
  ],
  [
    'persistentvolumeclaims',
    'in use',
    { metadata: { deletionTimestamp: since, finalizers: ['kubernetes.io/pvc-protection'] } },
    /the claim protection controller removes kubernetes\.io\/pvc-protection when no pod uses it/,
  ],
  [
    'persistentvolumeclaims',
    'no class',
    { spec: {}, status: { phase: 'Pending' } },
    /not bound to a volume: it has no storage class.*Coxswain does not bind claims/,
  ],
  [
    'persistentvolumeclaims',
    'its volume is lost',
    { spec: { volumeName: 'v' }, status: { phase: 'Lost' } },
    /Its volume v no longer exists/,
  ],
  [
    'persistentvolumes',
    'released',
    {
      spec: { claimRef: { namespace: 'a', name: 'b' }, persistentVolumeReclaimPolicy: 'Delete' },
      status: { phase: 'Released' },
    },
    /Its claim a\/b is deleted\. Nothing reclaims it/,
  ],
  [
    'persistentvolumes',
    'in use',
    { metadata: { deletionTimestamp: since, finalizers: ['kubernetes.io/pv-protection'] }, spec: {} },
    /the volume protection controller removes kubernetes\.io\/pv-protection/,
  ],
  [
    'services',
    'a load balancer',
    { spec: { type: 'LoadBalancer', selector: { a: 'b' } } },
    /no cloud controller has assigned an address/,
  ],
  [
    'services',
    'a load balancer that is not removed',
    { metadata: { deletionTimestamp: since, finalizers: ['service.kubernetes.io/load-balancer-cleanup'] } },
    /the cloud controller \(not part of Coxswain\) removes service/,
  ],
  [
    'customresourcedefinitions.apiextensions.k8s.io',
    'its names are in use',
    { status: { conditions: [condition('NamesAccepted', 'False', 'PluralConflict', 'in use')] } },
    /Its names are not accepted: PluralConflict: in use\. It is not established: nothing has processed it/,
  ],
  [
    'customresourcedefinitions.apiextensions.k8s.io',
    'its objects remain',
    { metadata: { deletionTimestamp: since, finalizers: ['customresourcecleanup.apiextensions.k8s.io'] } },
    /the API server removes customresourcecleanup\.apiextensions\.k8s\.io when all objects of the kind are deleted/,
  ],
  [
    'apiservices.apiregistration.k8s.io',
    'its Service',
    { spec: { service: { name: 's' } } },
    /Nothing has checked its Service.*does not forward requests to aggregated/,
  ],
  [
    'certificatesigningrequests.certificates.k8s.io',
    'not approved',
    {},
    /not approved yet: kubectl certificate approve x/,
  ],
  [
    'certificatesigningrequests.certificates.k8s.io',
    'denied',
    { status: { conditions: [condition('Denied', 'True', 'No')] } },
    /It is denied: No\./,
  ],
  [
    'certificatesigningrequests.certificates.k8s.io',
    'a signer of another controller',
    { spec: { signerName: 'example.com/s' }, status: { conditions: [condition('Approved', 'True')] } },
    /no component of Coxswain signs for example\.com\/s/,
  ],
  ['resourceclaims.resource.k8s.io', 'no device', {}, /It is not allocated/],
  [
    'resourceclaims.resource.k8s.io',
    'in use',
    { metadata: { deletionTimestamp: since, finalizers: ['resource.kubernetes.io/delete-protection'] } },
    /the resource claim controller removes/,
  ],
  [
    'servicecidrs.networking.k8s.io',
    'in use',
    { metadata: { deletionTimestamp: since, finalizers: ['networking.k8s.io/service-cidr-finalizer'] } },
    /the service CIDR controller removes/,
  ],
  [
    'servicecidrs.networking.k8s.io',
    'not ready',
    { status: { conditions: [condition('Ready', 'False', 'Terminating')] } },
    /Its condition Ready is False: Terminating/,
  ],
  [
    'flowschemas.flowcontrol.apiserver.k8s.io',
    'its level is missing',
    { status: { conditions: [condition('Dangling', 'True', 'NotFound')] } },
    /Its condition Dangling is True: NotFound/,
  ],
  [
    'flowschemas.flowcontrol.apiserver.k8s.io',
    'its level is there',
    { status: { conditions: [condition('Dangling', 'False', 'Found')] } },
    /^It is stored\./,
  ],
  [
    'poddisruptionbudgets.policy',
    'no pod matches',
    { status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 0 } },
    /It allows no disruption: no pod matches its selector/,
  ],
  [
    'horizontalpodautoscalers.autoscaling',
    'nothing scales',
    {},
    /No autoscaler has processed it.*Coxswain has no autoscaler yet/,
  ],
  [
    'ingresses.networking.k8s.io',
    'no controller',
    { spec: { defaultBackend: { service: { name: 's' } } } },
    /No ingress controller has assigned an address\. Its backend Service s does not exist\. Coxswain has no ingress controller/,
  ],
  ['networkpolicies.networking.k8s.io', 'nothing enforces it', {}, /^Coxswain does not enforce NetworkPolicies yet/],
]
for (const [resource, situation, object, expected] of situations)
  test(`${resource}: ${situation}`, async () => {
    const kind = kindOf(resource)
    match(await explain(kind, specimen(kind, object)), expected)
  })

test('the same sentence is printed once with a count', async () => {
  const taint = { key: 'k', effect: 'NoSchedule' }
  const node = specimen(kindOf('nodes'), {
    spec: { taints: [taint, taint] },
    status: { conditions: [condition('Ready', 'True')] },
  })
  const { waits } = await why(kindOf('nodes'), node, alone(), [])
  deepEqual(waits, ['Its taint k:NoSchedule excludes pods that do not tolerate it. (2 times)'])
})
